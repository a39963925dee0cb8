import { useQuery } from '@tanstack/react-query';
import type { JSX } from 'react';
import { readAnswer } from '../../api/answer.ts';
import { recordingQuery, textOfAnswer, textOfBody } from '../../api/receipts.ts';
import type { Receipt, RecordingLine } from '../../api/types.ts';
import { whole } from '../../base/format.ts';
import { useUrlState } from '../../base/url-state.ts';
import { Segmented } from '../../components/bits/bits.tsx';
import { SideBySide } from '../../components/side-by-side/side-by-side.tsx';
import type { Pair } from './data.ts';

type Which = 'answer' | 'request' | 'engine';

const WHICH = [
  ['answer', 'Answer'],
  ['request', 'Caller sent'],
  ['engine', 'Engine got'],
] as const;

function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

/** The text of one side; null where nothing was kept. */
function textOf(recording: RecordingLine | undefined, which: Which): string | null {
  if (recording === undefined) return null;
  if (which === 'request') return pretty(textOfBody(recording.request.body));
  if (which === 'engine') return pretty(textOfBody((recording.sent ?? recording.request).body));
  const told = recording.delivered ?? recording.response;
  if (told === null) return null;
  const { text, tools } = readAnswer(textOfAnswer(told));
  const calls = tools.map(({ name, input }) => `calls ${name} with ${input}`);
  return [text, ...calls].filter((line) => line !== '').join('\n') || pretty(textOfAnswer(told));
}

function noteOf({ usage }: Receipt): string {
  if (usage === null) return 'nothing used';
  return usage.thinking_tokens > 0 ? `thinking, ${whole(usage.thinking_tokens)} tokens` : `${whole(usage.output_tokens)} tokens`;
}

/** Bodies or answers side by side, with what differs marked. */
export function Bodies({ pair }: { readonly pair: Pair }): JSX.Element {
  const [state, change] = useUrlState();
  const which = WHICH.find(([name]) => name === state.side)?.[0] ?? 'answer';
  const left = textOf(useQuery(recordingQuery(pair[0])).data, which);
  const right = textOf(useQuery(recordingQuery(pair[1])).data, which);
  return (
    <section className="answers" aria-label="Side by side">
      <div className="which">
        <span className="mute s k">{left === right ? '=' : '≠'} side by side</span>
        <Segmented<Which>
          label="What is compared"
          options={WHICH}
          value={which}
          onChange={(side) => change({ side: side === 'answer' ? undefined : side }, { replace: true })}
        />
        {which === 'answer' ? (
          <span className="mute s">
            {noteOf(pair[0])} beside {noteOf(pair[1])}
          </span>
        ) : null}
      </div>
      {left === null && right === null ? (
        <p className="note pad">Neither was recorded; digests stand above.</p>
      ) : (
        <SideBySide left={left ?? 'not recorded'} right={right ?? 'not recorded'} label="Both texts" />
      )}
    </section>
  );
}

import { useQuery } from '@tanstack/react-query';
import { type JSX, useState } from 'react';
import { readAnswer } from '../../api/answer.ts';
import { recordingQuery, textOfAnswer, textOfBody } from '../../api/receipts.ts';
import type { Receipt, RecordingLine } from '../../api/types.ts';
import { whole } from '../../base/format.ts';
import { Segmented } from '../../components/bits/bits.tsx';
import { type Pair, type Part, partsQuery } from './data.ts';

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
  if (usage === null) return '';
  return usage.thinking_tokens > 0 ? `thinking, ${whole(usage.thinking_tokens)} tokens` : `${whole(usage.output_tokens)} tokens`;
}

/** Bodies or answers side by side, with what differs marked. */
export function Bodies({ pair }: { readonly pair: Pair }): JSX.Element {
  const [which, setWhich] = useState<Which>('answer');
  const left = textOf(useQuery(recordingQuery(pair[0])).data, which);
  const right = textOf(useQuery(recordingQuery(pair[1])).data, which);
  const parts = useQuery(partsQuery(left, right));
  return (
    <div className="answers">
      <div className="k">
        <p className="mute">{left === right ? '=' : '≠'} side by side</p>
        <Segmented<Which> label="What is compared" options={WHICH} value={which} onChange={setWhich} />
      </div>
      <Side text={left} parts={parts.data} side="left" note={which === 'answer' ? noteOf(pair[0]) : ''} />
      <Side text={right} parts={parts.data} side="right" note={which === 'answer' ? noteOf(pair[1]) : ''} />
    </div>
  );
}

function Side(props: {
  readonly text: string | null;
  readonly parts: readonly Part[] | undefined;
  readonly side: 'left' | 'right';
  readonly note: string;
}): JSX.Element {
  const { text, parts, side, note } = props;
  return (
    <div className="side">
      {note === '' ? null : <p className="mute s">{note}</p>}
      {text === null ? (
        <p className="mute">not recorded</p>
      ) : (
        <pre>
          {(parts ?? [{ text, on: 'both' as const }])
            .filter(({ on }) => on === 'both' || on === side)
            .map((part, index) =>
              // biome-ignore lint/suspicious/noArrayIndexKey: a piece is its place
              part.on === 'both' ? part.text : <mark key={index}>{part.text}</mark>,
            )}
        </pre>
      )}
    </div>
  );
}

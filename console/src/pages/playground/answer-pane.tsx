import { Link } from '@tanstack/react-router';
import { type JSX, useMemo } from 'react';
import { readAnswer } from '../../api/answer.ts';
import { Button, ErrorBand } from '../../components/bits/bits.tsx';
import { Icon } from '../../components/icon/icon.tsx';
import { Markdown } from '../../components/markdown/markdown.tsx';
import type { Sent } from './data.ts';

/** What came back, as it comes. Tool calls are shown with their arguments; the run is there from the first byte. */
export function AnswerPane({ sent, stop }: { readonly sent: Sent | null; stop(): void }): JSX.Element {
  const read = useMemo(() => readAnswer(sent?.text ?? ''), [sent?.text]);
  return (
    <section className="pane" aria-label="Answer">
      <div className="ph">
        <h2 className="grow">Answer</h2>
        {sent !== null && !sent.done ? (
          <>
            <span className="live s">
              <i className="dot live" /> streaming
            </span>
            <Button small keys="Esc" onClick={stop}>
              Stop
            </Button>
          </>
        ) : null}
      </div>
      <ErrorBand error={sent?.error} />
      <div className="ans scroll" aria-live="polite">
        {sent === null ? <p className="mute">Nobody is called before you send.</p> : null}
        {read.thinking === '' ? null : (
          <div className="th">
            <span className="mute s">thinking</span>
            <p className="mute">{read.thinking}</p>
          </div>
        )}
        {read.tools.map(({ name, input }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a call is its place
          <div key={index} className="call">
            <div className="h">
              <Icon name="right" /> <b className="m">{name}</b> <span className="grow" /> <span className="mute">tool call</span>
            </div>
            <pre className="code">{input}</pre>
          </div>
        ))}
        <Markdown text={read.text} />
      </div>
      {sent?.runId ? (
        <div className="ran">
          <span className="mute">run</span>{' '}
          <Link className="u m" to="/runs/$run" params={{ run: sent.runId }}>
            {sent.runId}
          </Link>
        </div>
      ) : null}
    </section>
  );
}

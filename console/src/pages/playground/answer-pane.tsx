import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type JSX, useMemo, useState } from 'react';
import { type Read, readAnswer, type ToolCall } from '../../api/answer.ts';
import { receiptQuery } from '../../api/receipts.ts';
import { cost, duration, time, whole } from '../../base/format.ts';
import { Button, CopyId, ErrorBand, Select, useNow } from '../../components/bits/bits.tsx';
import { FateGlyph } from '../../components/fate/fate.tsx';
import { Icon } from '../../components/icon/icon.tsx';
import { Markdown } from '../../components/markdown/markdown.tsx';
import { type Sent, sentBefore } from './data.ts';

interface AnswerProps {
  readonly sent: Sent | null;
  /** Thinking came about by an approximation. */
  readonly emulatesThinking: boolean;
  stop(): void;
  goOn(read: Read, results: ReadonlyMap<string, string>): void;
  show(sent: Sent): void;
}

/** What came back, as it comes. The run is there from the first byte; a tool call waits for a result and goes on. */
export function AnswerPane({ sent, emulatesThinking, stop, goOn, show }: AnswerProps): JSX.Element {
  const read = useMemo(() => readAnswer(sent?.text ?? ''), [sent?.text]);
  const streaming = sent !== null && !sent.done;
  return (
    <section className="pane answer" aria-label="Answer">
      <div className="ph">
        <h2 className="grow">Answer</h2>
        <Earlier sent={sent} show={show} />
        {streaming ? <Streaming since={sent.startedAt} stop={stop} /> : null}
      </div>
      <ErrorBand error={sent?.error} />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolled region can be scrolled by keys */}
      <div className="ans scroll" aria-live="polite" tabIndex={0} role="region" aria-label="What came back">
        {sent === null ? <p className="mute">Nobody is called before you send.</p> : null}
        {read.thinking === '' ? null : (
          <div className="th">
            <span className="mute s">{emulatesThinking ? <FateGlyph fate="emulated" word /> : null} thinking</span>
            <p className="mute">{read.thinking}</p>
          </div>
        )}
        {read.text === '' ? null : <Markdown text={read.text} />}
        {streaming ? <i className="cur" aria-hidden="true" /> : null}
        {read.tools.length === 0 ? null : <Tools key={sent?.id} read={read} done={sent?.done === true} goOn={goOn} />}
      </div>
      {sent?.runId ? <Ran run={sent.runId} done={sent.done} /> : null}
    </section>
  );
}

function Streaming({ since, stop }: { readonly since: number; stop(): void }): JSX.Element {
  const now = useNow(true, 100);
  return (
    <>
      <span className="live s nw">
        <i className="dot live" /> streaming, {duration(Math.max(0, now - since))}
      </span>
      <Button small keys="Esc" onClick={stop}>
        Stop
      </Button>
    </>
  );
}

/** What was sent before in this visit, behind the head of the pane. */
function Earlier({ sent, show }: { readonly sent: Sent | null; show(sent: Sent): void }): JSX.Element | null {
  const before = sentBefore();
  if (before.length < 2) return null;
  return (
    <Select
      label="Sent in this visit"
      value={String(sent?.id ?? '')}
      options={before.map(({ id, title, startedAt }) => [String(id), `${time(startedAt)} ${title}`] as const)}
      onChange={(id) => {
        const chosen = before.find((one) => String(one.id) === id);
        if (chosen !== undefined) show(chosen);
      }}
    />
  );
}

interface ToolsProps {
  readonly read: Read;
  readonly done: boolean;
  goOn(read: Read, results: ReadonlyMap<string, string>): void;
}

const nameOf = ({ id, name }: ToolCall): string => (id === '' ? name : id);

function Tools({ read, done, goOn }: ToolsProps): JSX.Element {
  const [results, setResults] = useState<ReadonlyMap<string, string>>(new Map());
  const missing = read.tools.some((call) => (results.get(nameOf(call)) ?? '') === '');
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (!missing) goOn(read, results);
      }}
    >
      {read.tools.map((call) => (
        <div key={nameOf(call)} className="call">
          <div className="h">
            <Icon name="right" /> <b className="m">{call.name}</b> <span className="grow" /> <span className="mute">tool call</span>
          </div>
          <pre className="scroll">{call.input}</pre>
          {done ? (
            <label className="row">
              <span className="mute s nw">Give it a result</span>
              <input
                className="m grow"
                placeholder={'{"fixes": ["…"]}'}
                value={results.get(nameOf(call)) ?? ''}
                onChange={(event) => setResults(new Map(results).set(nameOf(call), event.target.value))}
              />
            </label>
          ) : null}
        </div>
      ))}
      {done ? (
        <Button type="submit" acts disabled={missing}>
          Go on
        </Button>
      ) : null}
    </form>
  );
}

/** The run and what it came to so far. */
function Ran({ run, done }: { readonly run: string; readonly done: boolean }): JSX.Element {
  const receipt = useQuery({ ...receiptQuery(run), enabled: done });
  const { usage, cost: price } = receipt.data ?? {};
  return (
    <dl className="ran kv">
      <dt>run</dt>
      <dd>
        <Link className="u m" to="/runs/$run" params={{ run }}>
          {run}
        </Link>
        <CopyId text={run} />
      </dd>
      {usage ? (
        <>
          <dt>came to</dt>
          <dd>
            {whole(usage.input_tokens)} in, {whole(usage.output_tokens)} out, {price ? cost(price.nano_usd) : 'no price'}
          </dd>
        </>
      ) : null}
    </dl>
  );
}

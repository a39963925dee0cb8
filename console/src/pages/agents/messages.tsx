import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Fragment, type JSX } from 'react';
import { receiptQuery } from '../../api/receipts.ts';
import { cost, duration, shortId } from '../../base/format.ts';
import { Icon } from '../../components/icon/icon.tsx';
import { Markdown } from '../../components/markdown/markdown.tsx';
import { type Message, previewQuery } from './data.ts';

type Part = Message['content'][number];
type Results = ReadonlyMap<string, { readonly part: Part; readonly at: number }>;

/** Results by the id of the call that they belong to. */
function resultsIn(items: readonly Message[]): Results {
  return new Map(
    items.flatMap(({ content, created_at: at }) =>
      content.flatMap((part) => (part.type === 'tool_result' ? [[String(part.tool_call_id), { part, at: Date.parse(at) }] as const] : [])),
    ),
  );
}

/** Each answer of the agent in a turn is one call of its model. */
function callsIn(items: readonly Message[], turn: string | null): number {
  return items.filter(({ role, turn_id: one }) => role === 'agent' && one === turn).length;
}

interface MessagesProps {
  readonly items: readonly Message[];
  readonly agent: string;
  /** Somebody has to answer before it goes on: what has no result yet is not under way. */
  readonly waits: boolean;
}

/** Everything that was said, calls with their results, and a line where a turn ends. */
export function Messages({ items, agent, waits }: MessagesProps): JSX.Element {
  const results = resultsIn(items);
  const turns = [...new Set(items.flatMap(({ turn_id: turn }) => turn ?? []))];
  return (
    <>
      {items.map((message, index) => {
        const isLast = items[index + 1]?.turn_id !== message.turn_id;
        return (
          <Fragment key={message.id}>
            {message.content.map((part, at) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: a part is its place
              <PartView key={at} part={part} message={message} results={results} agent={agent} waits={waits} />
            ))}
            {isLast && message.role !== 'user' && message.run_id !== null ? (
              <TurnLine
                run={message.run_id}
                number={turns.indexOf(message.turn_id ?? '') + 1}
                calls={callsIn(items, message.turn_id)}
                waits={waits}
              />
            ) : null}
          </Fragment>
        );
      })}
    </>
  );
}

interface PartProps {
  readonly part: Part;
  readonly message: Message;
  readonly results: Results;
  readonly agent: string;
  readonly waits: boolean;
}

function PartView({ part, message, results, agent, waits }: PartProps): JSX.Element | null {
  const text = typeof part.text === 'string' ? part.text : '';
  // A result stands with its call.
  if (part.type === 'tool_result') return null;
  if (part.type === 'tool_call')
    return <Call part={part} at={Date.parse(message.created_at)} result={results.get(String(part.id))} agent={agent} waits={waits} />;
  if (part.type === 'thinking') {
    return (
      <details className="mute s">
        <summary>Thinking</summary>
        {text}
      </details>
    );
  }
  if (part.type === 'image') return <p className="mute s">an image</p>;
  if (text === '') return null;
  return <div className={message.role === 'user' ? 'u' : 'a'}>{message.role === 'user' ? text : <Markdown text={text} />}</div>;
}

const words = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

interface CallProps {
  readonly part: Part;
  /** When it was asked for. */
  readonly at: number;
  readonly result: { readonly part: Part; readonly at: number } | undefined;
  readonly agent: string;
  readonly waits: boolean;
}

const CALL_STATES = {
  waits: ['warn', 'clock', 'waits for an answer'],
  works: ['live', 'clock', 'under way'],
  failed: ['bad', 'refused', 'failed'],
  done: ['ok', 'check', 'done'],
} as const;

/** A call and its result: who brought the tool, how long it took, what came of it. */
function Call({ part, at, result, agent, waits }: CallProps): JSX.Element {
  const preview = useQuery({ ...previewQuery(agent), staleTime: 60_000 });
  const name = String(part.name ?? 'tool');
  const source = preview.data?.tools.find((tool) => tool.name === name)?.source.capability_id;
  const [look, icon, label] =
    CALL_STATES[result === undefined ? (waits ? 'waits' : 'works') : result.part.error === undefined ? 'done' : 'failed'];
  return (
    <div className="call">
      <div className="h">
        <span className={look}>
          <Icon name={icon} label={label} />
        </span>
        <b className="m">{name}</b>
        <code className="mute el grow">{words(part.arguments)}</code>
        {source === undefined ? null : <span className="tag">{source}</span>}
        <span className="mute nw">{result === undefined ? '' : duration(Math.max(0, result.at - at))}</span>
      </div>
      {result === undefined ? null : <pre className="scroll">{words(result.part.error ?? result.part.result ?? null)}</pre>}
    </div>
  );
}

interface TurnLineProps {
  readonly run: string;
  readonly number: number;
  readonly calls: number;
  readonly waits: boolean;
}

/** Where a turn ends: its time, its calls, its cost and its receipt. */
function TurnLine({ run, number, calls, waits }: TurnLineProps): JSX.Element {
  const receipt = useQuery(receiptQuery(run));
  const { timing, cost: price, status } = receipt.data ?? {};
  const took = timing?.last_byte_ms ?? null;
  return (
    <div className="turn">
      <span>
        turn {number}
        {took === null ? '' : ` · ${duration(took)}`}
        {calls === 1 ? ' · 1 call' : ` · ${calls} calls`}
        {status === undefined || status === 'completed' ? '' : ` · ${waits && status === 'running' ? 'waits for you' : status}`}
        {price === undefined || price === null ? '' : ` · ${cost(price.nano_usd)}`} ·{' '}
        <Link className="u" to="/runs/$run" params={{ run }}>
          receipt {shortId(run)}
        </Link>
      </span>
    </div>
  );
}

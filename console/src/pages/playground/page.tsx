import { useQueries, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type JSX, useEffect, useMemo, useRef, useState } from 'react';
import { enginesQuery } from '../../api/queries.ts';
import type { Explained } from '../../api/types.ts';
import { cost, whole } from '../../base/format.ts';
import { useKeys } from '../../base/keys.ts';
import { useUrlState } from '../../base/url-state.ts';
import { Button, ErrorBand, Segmented, Select } from '../../components/bits/bits.tsx';
import { countFates, FateCounts, FateStrip } from '../../components/fate/fate.tsx';
import { Icon } from '../../components/icon/icon.tsx';
import { JsonView } from '../../components/json-view/json-view.tsx';
import { AnswerPane } from './answer-pane.tsx';
import { type Asked, explainQuery, loadQuery, type Sent, sendRequest } from './data.ts';
import { EXAMPLES, pathOf } from './examples.ts';
import { JsonEditor } from './json-editor.tsx';
import { fatesOfLines } from './lines.ts';
import './page.css';
import './playground.css';

/** Nothing is asked before the hand has rested this long. */
const REST_MS = 250;
const DIALECTS = ['claude', 'openai-chat', 'openai-responses', 'gemini', 'kimi', 'copilot'].map((id) => [id, id] as const);

function useRested<T>(value: T): T {
  const [rested, setRested] = useState(value);
  useEffect(() => {
    const timer = window.setTimeout(() => setRested(value), REST_MS);
    return () => window.clearTimeout(timer);
  }, [value]);
  return rested;
}

function parsedRequest(text: string): { readonly request: unknown } | { readonly message: string } {
  try {
    return { request: JSON.parse(text) };
  } catch (error) {
    return { message: error instanceof Error ? error.message : String(error) };
  }
}

/** What would become of this request, what would it cost, and what is the answer? */
export function Page(): JSX.Element {
  const [state, change] = useUrlState();
  const [first] = EXAMPLES;
  const [text, setText] = useState(() => JSON.stringify(first?.request, null, 2));
  const [dialect, setDialect] = useState(state.from ?? 'claude');
  const engine = state.to ?? 'sim:gemini';
  const [strict, setStrict] = useState<'best_effort' | 'strict'>('best_effort');
  const emulate = useMemo(() => (state.emulate ?? '').split(',').filter(Boolean), [state.emulate]);
  const [sent, setSent] = useState<Sent | null>(null);
  const stop = useRef<AbortController | null>(null);
  const loaded = useQuery(loadQuery(state.run));
  useEffect(() => {
    const body = loaded.data?.request.body;
    if (loaded.data === undefined || body === undefined || !('text' in body)) return;
    setText(JSON.stringify(JSON.parse(body.text), null, 2));
    setDialect(loaded.data.request.dialect ?? 'claude');
  }, [loaded.data]);
  const rested = useRested(text);
  const parsed = useMemo(() => parsedRequest(rested), [rested]);
  const asked: Asked | null = useMemo(
    () => ('request' in parsed ? { from: dialect, to: engine, compatibility: strict, emulate, request: parsed.request } : null),
    [parsed, dialect, engine, strict, emulate],
  );
  const explained = useQuery(explainQuery(asked));
  const path = `/e/${engine}${pathOf(dialect, 'request' in parsed ? parsed.request : null)}`;
  const go = (): void => {
    if (asked === null) return;
    stop.current?.abort();
    stop.current = new AbortController();
    setSent({ runId: null, text: '', done: false, error: null });
    void sendRequest({ path, body: text, asked }, setSent, stop.current.signal);
  };
  useKeys({ 'mod+enter': go, escape: () => stop.current?.abort() });
  const lineFates = useMemo(() => fatesOfLines(rested, explained.data?.fidelity ?? []), [rested, explained.data]);
  return (
    <div className="p-playground fill">
      <h1 className="sr">Playground</h1>
      <div className="bar">
        <span className="mute">Speak</span>
        <Select label="Dialect" value={dialect} onChange={setDialect} options={DIALECTS} />
        <span className="mute">to</span>
        <Targets value={engine} onChange={(to) => change({ to }, { replace: true })} />
        <Segmented<'best_effort' | 'strict'>
          label="Compatibility"
          value={strict}
          onChange={setStrict}
          options={[
            ['best_effort', 'Best effort'],
            ['strict', 'Strict'],
          ]}
        />
        {emulate.map((capability) => (
          <button
            key={capability}
            type="button"
            className="chip"
            onClick={() => change({ emulate: emulate.filter((other) => other !== capability).join(',') })}
          >
            <Icon name="emulated" /> {capability} ×
          </button>
        ))}
        <span className="grow" />
        <Select
          label="Example"
          value=""
          options={[['', 'An example'], ...EXAMPLES.map(({ name }) => [name, name] as const)]}
          onChange={(name) => {
            const example = EXAMPLES.find((known) => known.name === name);
            if (example === undefined) return;
            setDialect(example.dialect);
            setText(JSON.stringify(example.request, null, 2));
          }}
        />
      </div>
      <ErrorBand error={loaded.error} />
      <div className="three">
        <section className="pane" aria-label="You send">
          <div className="ph">
            <h2 className="grow">You send</h2>
            <code className="mute el">POST {path}</code>
          </div>
          <JsonEditor value={text} fates={lineFates} onChange={setText} onSend={go} />
        </section>
        <Upstream explained={explained.data} engine={engine} />
        <AnswerPane sent={sent} stop={() => stop.current?.abort()} />
      </div>
      <Verdict
        explained={explained.data}
        parsed={parsed}
        stale={text !== rested || explained.isPlaceholderData}
        go={go}
        emulate={(name) => change({ emulate: [...emulate, name].join(',') })}
      />
      {asked === null ? null : <Elsewhere asked={asked} current={engine} show={(to) => change({ to }, { replace: true })} />}
    </div>
  );
}

function Targets({ value, onChange }: { readonly value: string; onChange(to: string): void }): JSX.Element {
  const engines = useQuery(enginesQuery);
  return <Select label="Engine" value={value} onChange={onChange} options={targetsOf(engines.data).map((to) => [to, to] as const)} />;
}

/** Engines, and for those that speak several dialects each of them. */
function targetsOf(
  engines: { readonly items: readonly { readonly id: string; readonly dialects: readonly string[] }[] } | undefined,
): readonly string[] {
  return (engines?.items ?? []).flatMap(({ id, dialects }) =>
    dialects.length > 1 ? [id, ...dialects.map((dialect) => `${id}:${dialect}`)] : [id],
  );
}

function Upstream({ explained, engine }: { readonly explained: Explained | undefined; readonly engine: string }): JSX.Element {
  const same = explained?.mode === 'passthrough';
  return (
    <section className={same ? 'pane folded' : 'pane'} aria-label="The engine gets">
      <div className="ph">
        <h2 className="grow">{engine} gets</h2>
        <code className="mute el">{explained?.upstream?.path}</code>
      </div>
      {same ? <p className="ok pad">the same bytes</p> : null}
      {!same && explained?.upstream ? <JsonView text={JSON.stringify(explained.upstream.body)} label="What the engine gets" /> : null}
      {!same && explained !== undefined && explained.upstream === null ? (
        <p className="mute pad">nothing: it would be refused before anything is sent</p>
      ) : null}
    </section>
  );
}

interface VerdictProps {
  readonly explained: Explained | undefined;
  readonly parsed: { readonly request: unknown } | { readonly message: string };
  readonly stale: boolean;
  go(): void;
  emulate(capability: string): void;
}

function Verdict({ explained, parsed, stale, go, emulate }: VerdictProps): JSX.Element {
  const error = explained?.error;
  const fates = countFates(explained?.fidelity ?? []);
  const capability =
    error === undefined
      ? undefined
      : String(Reflect.get(Object(error), 'capability') ?? Reflect.get(Object(Reflect.get(Object(error), 'details')), 'capability') ?? '');
  const estimate: unknown = explained === undefined ? undefined : Reflect.get(explained, 'estimate');
  return (
    <output className={stale ? 'verd stale' : 'verd'}>
      {'message' in parsed ? (
        <b className="warn">Not JSON yet: {parsed.message}</b>
      ) : (
        <>
          <b className={error === undefined ? 'ok' : 'bad'}>
            <Icon name={error === undefined ? 'check' : 'refused'} /> {error === undefined ? 'Would be sent' : 'Would be refused'}
          </b>
          {explained?.mode === 'passthrough' ? <span className="ok s">bytes equal</span> : <FateStrip fates={fates} />}
          <span>
            <FateCounts fates={fates} all />
          </span>
          {error === undefined ? (
            <span className="mute s">checked as you type, nobody was called</span>
          ) : (
            <span className="bad s el grow">{`${error.code} ${error.message}`}</span>
          )}
        </>
      )}
      <span className="grow" />
      <Estimate estimate={estimate} />
      {capability !== undefined && capability !== '' ? (
        <Button small onClick={() => emulate(capability)}>
          emulate {capability}
        </Button>
      ) : null}
      <Button look="primary" icon="send" keys="⌘↵" onClick={go} disabled={'message' in parsed}>
        {error === undefined ? 'Send' : 'Send anyway, to see the error'}
      </Button>
    </output>
  );
}

function Estimate({ estimate }: { readonly estimate: unknown }): JSX.Element | null {
  if (typeof estimate !== 'object' || estimate === null) return null;
  const tokens: unknown = Reflect.get(estimate, 'input_tokens');
  const most: unknown = Reflect.get(estimate, 'max_cost_nano_usd');
  return (
    <span className="s">
      {typeof tokens === 'number' ? `about ${whole(tokens)} tokens in` : ''}
      {typeof most === 'number' ? `, at most ${cost(most)}` : ''}
    </span>
  );
}

/** The same request on every engine, one line each. */
function Elsewhere({ asked, current, show }: { readonly asked: Asked; readonly current: string; show(to: string): void }): JSX.Element {
  const engines = useQuery(enginesQuery);
  const targets = (engines.data?.items ?? []).map(({ id }) => id).filter((id) => id !== 'replay');
  const all = useQueries({ queries: targets.map((to) => explainQuery({ ...asked, to })) });
  return (
    <section className="dst scroll" aria-label="The same request elsewhere">
      <table>
        <thead>
          <tr>
            <th>The same request elsewhere</th>
            <th>Fates</th>
            <th>Verdict</th>
            <th>
              <span className="sr">Show</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {targets.map((to, index) => (
            <ElsewhereRow key={to} to={to} on={current === to} explained={all[index]?.data} show={show} />
          ))}
        </tbody>
      </table>
      <Link to="/matrix" className="sr">
        Matrix
      </Link>
    </section>
  );
}

function ElsewhereRow({
  to,
  on,
  explained,
  show,
}: {
  readonly to: string;
  readonly on: boolean;
  readonly explained: Explained | undefined;
  show(to: string): void;
}): JSX.Element {
  const fates = countFates(explained?.fidelity ?? []);
  return (
    <tr className={on ? 'on' : ''}>
      <td className="md">{to}</td>
      <td>
        {explained?.mode === 'passthrough' ? (
          <span className="ok s">bytes equal</span>
        ) : (
          <span className="row">
            <FateStrip fates={fates} /> <FateCounts fates={fates} all />
          </span>
        )}
      </td>
      <td className={explained?.error === undefined ? 'ok' : 'bad'}>
        {explained === undefined
          ? ''
          : explained.error === undefined
            ? 'would be sent'
            : `${explained.error.code} ${explained.error.message}`}
      </td>
      <td className="r">
        <button type="button" className="link" onClick={() => show(to)}>
          {on ? 'shown above' : 'show'}
        </button>
      </td>
    </tr>
  );
}

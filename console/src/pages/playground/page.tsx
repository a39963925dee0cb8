import { useQuery } from '@tanstack/react-query';
import { type JSX, useEffect, useMemo, useRef, useState } from 'react';
import type { Read } from '../../api/answer.ts';
import type { Explained } from '../../api/types.ts';
import { useActions } from '../../base/actions.ts';
import { compactJson } from '../../base/compact-json.ts';
import { shortId } from '../../base/format.ts';
import { without } from '../../base/json-path.ts';
import { useKeys } from '../../base/keys.ts';
import { parsed as readJson } from '../../base/parsed.ts';
import { useUrlChoice, useUrlState } from '../../base/url-state.ts';
import { useRested } from '../../base/use-rested.ts';
import { ErrorBand, Segmented } from '../../components/bits/bits.tsx';
import { JsonEditor } from '../../components/json-editor/json-editor.tsx';
import { fatesOfLines } from '../../components/json-editor/lines.ts';
import { AnswerPane } from './answer-pane.tsx';
import { Bar, type Wish } from './bar.tsx';
import { type Asked, curlOf, explainQuery, loadQuery, type Sent, sendRequest, sentBefore } from './data.ts';
import { Elsewhere, useTargets } from './elsewhere.tsx';
import { EXAMPLES, modelOf, pathOf } from './examples.ts';
import { goOn } from './go-on.ts';
import { LoadRun } from './load-run.tsx';
import { keepModel, named, useOwnModel } from './models.ts';
import { type Parsed, RefusedFields, Verdict } from './verdict.tsx';
import './page.css';

/** Nothing is asked before the hand has rested this long. */
const REST_MS = 250;

function parsedRequest(text: string): Parsed {
  try {
    return { request: JSON.parse(text) };
  } catch (error) {
    return { message: error instanceof Error ? error.message : String(error) };
  }
}

/** What is being written; it is kept while the reader looks at other pages. `fits`: its model is one of the engine, or the reader's own. */
const FIRST = compactJson(EXAMPLES[0]?.request);
const draft = { text: FIRST, loaded: '', model: 'any-name', fits: false };

/** The text of the editor and the run that it was loaded from. */
function useDraft(run: string | undefined, onLoaded: (dialect: string, engine: string | null) => void) {
  const [text, setText] = useState(draft.text);
  const loaded = useQuery(loadQuery(run));
  const line = loaded.data;
  useEffect(() => {
    if (line === undefined || draft.loaded === line.run_id) return;
    draft.loaded = line.run_id;
    draft.model = line.model ?? draft.model;
    const { body, dialect } = line.request;
    if ('text' in body) {
      const value = readJson(body.text);
      setText(typeof value === 'string' ? value : compactJson(value));
    }
    onLoaded(dialect ?? 'claude', line.engine);
  });
  draft.text = text;
  const unreadable = line !== undefined && !('text' in line.request.body);
  return {
    text,
    setText,
    failure: unreadable ? 'The recorded request is compressed and cannot be shown here; replay sends it as it is.' : loaded.error,
  };
}

/** What stands in the address of the page. */
function useWish(): readonly [Omit<Wish, 'model'>, string | undefined, (wish: Partial<Wish>) => void] {
  const [state, change] = useUrlState();
  const emulate = useMemo(() => (state.emulate ?? '').split(',').filter(Boolean), [state.emulate]);
  const wish = {
    dialect: state.from ?? 'claude',
    engine: state.to ?? 'sim:gemini',
    compatibility: state.strict === 'true' ? ('strict' as const) : ('best_effort' as const),
    emulate,
  };
  const set = ({ dialect, engine, compatibility, emulate: allowed }: Partial<Wish>): void =>
    change(
      {
        ...(dialect === undefined ? {} : { from: dialect }),
        ...(engine === undefined ? {} : { to: engine }),
        ...(compatibility === undefined ? {} : { strict: compatibility === 'strict' ? 'true' : undefined }),
        ...(allowed === undefined ? {} : { emulate: allowed.join(',') }),
      },
      { replace: true },
    );
  return [wish, state.run, set];
}

/** What would become of this request, what would it cost, and what is the answer? */
export function Page(): JSX.Element {
  const [wish, run, setWish] = useWish();
  const [, change] = useUrlState();
  const [loading, setLoading] = useState(false);
  const [pane, setPane] = useUrlChoice('pane', PANES);
  const { text, setText, failure } = useDraft(run, (dialect, engine) => setWish({ dialect, ...(engine === null ? {} : { engine }) }));
  const rested = useRested(text, REST_MS);
  const parsed = useMemo(() => parsedRequest(rested), [rested]);
  const [inAddress, setInAddress] = useState(draft.model);
  // What stands there now: a field whose value follows the rested text would lose letters of whoever types fast.
  const written = useMemo(() => parsedRequest(text), [text]);
  const modelIn = (read: Parsed): string => modelOf(wish.dialect, 'request' in read ? read.request : null, inAddress);
  const model = modelIn('request' in written ? written : parsed);
  const asked = useMemo((): Asked | null => {
    if (!('request' in parsed)) return null;
    const { dialect: from, engine: to, compatibility, emulate } = wish;
    return { from, to, compatibility, emulate, request: parsed.request, ...(from === 'gemini' ? { model, stream: true } : {}) };
  }, [parsed, wish, model]);
  const explained = useQuery(explainQuery(asked));
  const engines = useTargets();
  const ownModel = useOwnModel();
  const targets = engines.map((to) => (to === wish.engine ? { to, model: modelIn(parsed), own: true } : ownModel(to, modelIn(parsed))));
  const path = `/e/${wish.engine}${pathOf(wish.dialect, model)}`;
  const [sent, setSent] = useState<Sent | null>(() => sentBefore()[0] ?? null);
  const stop = useRef<AbortController | null>(null);
  const sendBody = (body: string): void => {
    if (asked === null) return;
    stop.current?.abort();
    stop.current = new AbortController();
    setPane('answer');
    void sendRequest({ path, body, asked }, setSent, stop.current.signal);
  };
  const take = (request: unknown): string => {
    const body = compactJson(request);
    setText(body);
    return body;
  };
  const changeWish = ({ model: chosen, ...rest }: Partial<Wish>): void => {
    if (Object.keys(rest).length > 0) setWish(rest);
    if (chosen === undefined) return;
    draft.model = chosen;
    setInAddress(chosen);
    if (wish.dialect !== 'gemini' && 'request' in written) take({ ...Object(written.request), model: chosen });
  };
  const fitting = ownModel(wish.engine, model);
  useEffect(() => {
    if (draft.fits || !fitting.own) return;
    draft.fits = true;
    if (text === FIRST && run === undefined) setText(compactJson(named(EXAMPLES[0]?.request, fitting.model)));
  }, [fitting, text, run, setText]);
  const show = (engine: string): void => {
    keepModel(wish.engine, model);
    const next = ownModel(engine, model).model;
    changeWish({ engine, ...(next === model ? {} : { model: next }) });
  };
  const takeExample = (name: string): void => {
    const example = EXAMPLES.find((known) => known.name === name);
    if (example === undefined) return;
    setWish({ dialect: example.dialect });
    take(named(example.request, ownModel(wish.engine, modelOf(example.dialect, example.request, model)).model));
  };
  const send = (): void => sendBody(text);
  useKeys({
    'mod+enter': send,
    'mod+o': () => setLoading(true),
    escape: () => stop.current?.abort(),
    ...Object.fromEntries(engines.slice(0, 9).map((to, at) => [`alt+${at + 1}`, () => show(to)])),
  });
  useActions([
    { id: 'pg-send', text: 'Send this request', icon: 'send', keys: '⌘ ↵', act: send },
    { id: 'pg-load', text: 'Load a run into the Playground', icon: 'inbox', keys: '⌘ O', act: () => setLoading(true) },
  ]);
  const curl = asked === null ? undefined : curlOf({ path, body: text, asked });
  const emulates = explained.data?.emulations.some(({ capability }) => capability === 'extended_thinking') === true;
  return (
    <div className="p-playground fill">
      <h1 className="sr">Playground</h1>
      <Bar
        wish={{ ...wish, model }}
        change={({ engine, ...rest }) => (engine === undefined ? changeWish(rest) : show(engine))}
        takeExample={takeExample}
        load={() => setLoading(true)}
        curl={curl}
      />
      <ErrorBand error={failure} />
      <PaneTabs pane={pane} choose={setPane} />
      <div className={explained.data?.mode === 'passthrough' ? `three one-${pane} folded` : `three one-${pane}`}>
        <Request text={text} rested={rested} explained={explained.data} path={path} from={run} setText={setText} send={send} />
        <Upstream explained={explained.data} engine={wish.engine} />
        <AnswerPane
          sent={sent}
          emulatesThinking={emulates}
          stop={() => stop.current?.abort()}
          show={setSent}
          goOn={(read: Read, results) => sent !== null && sendBody(take(goOn(sent.dialect, sent.body, read, results)))}
        />
      </div>
      <Verdict
        explained={explained.data}
        failure={explained.error}
        parsed={parsed}
        stale={text !== rested || explained.isPlaceholderData}
        go={send}
      />
      {explained.data?.error === undefined || asked === null ? null : (
        <RefusedFields
          explained={explained.data}
          asked={asked}
          emulate={(name) => setWish({ emulate: [...wish.emulate, name] })}
          remove={(field) => take(without(asked.request, field))}
        />
      )}
      <Elsewhere asked={asked} targets={targets} current={wish.engine} show={show} />
      {loading ? <LoadRun choose={(chosen) => change({ run: chosen })} close={() => setLoading(false)} /> : null}
    </div>
  );
}

const PANES = ['send', 'gets', 'answer'] as const;
type Pane = (typeof PANES)[number];

/** On a phone the panes are tabs. */
function PaneTabs({ pane, choose }: { readonly pane: Pane; choose(pane: Pane): void }): JSX.Element {
  return (
    <div className="only-s tabs-row">
      <Segmented<Pane>
        label="Pane"
        value={pane}
        onChange={choose}
        options={[
          ['send', 'You send'],
          ['gets', 'Engine gets'],
          ['answer', 'Answer'],
        ]}
      />
    </div>
  );
}

interface RequestProps {
  readonly text: string;
  readonly rested: string;
  readonly explained: Explained | undefined;
  readonly path: string;
  /** The run that the request was loaded from. */
  readonly from: string | undefined;
  setText(text: string): void;
  send(): void;
}

function Request({ text, rested, explained, path, from, setText, send }: RequestProps): JSX.Element {
  const fates = useMemo(
    () =>
      fatesOfLines(
        rested,
        explained?.mode === 'passthrough' ? [] : (explained?.fidelity ?? []).map(({ path: place, fate, note }) => ({ place, fate, note })),
      ),
    [rested, explained],
  );
  return (
    <section className="pane send" aria-label="You send">
      <div className="ph">
        <h2>You send</h2>
        {from === undefined ? null : <span className="tag">as in …{shortId(from)}</span>}
        <span className="grow" />
        <code className="mute el">POST {path}</code>
      </div>
      <JsonEditor label="The request you send, as JSON" value={text} fates={fates} onChange={setText} onSend={send} />
    </section>
  );
}

/** What the engine gets, each line with the fate of the field that it was made of. */
function Upstream({ explained, engine }: { readonly explained: Explained | undefined; readonly engine: string }): JSX.Element {
  const body = explained?.upstream?.body;
  const text = useMemo(() => (body === undefined ? '' : compactJson(body)), [body]);
  const fates = useMemo(
    () =>
      fatesOfLines(
        text,
        (explained?.fidelity ?? []).flatMap(({ to = [], fate }) =>
          to.filter((place) => place.startsWith('/')).map((place) => ({ place, fate, note: fate === 'emulated' ? 'emulated' : '' })),
        ),
      ),
    [text, explained],
  );
  const same = explained?.mode === 'passthrough';
  return (
    <section className="pane gets" aria-label="The engine gets">
      <div className="ph">
        <h2>{engine} gets</h2>
        <span className="grow" />
        <code className="mute el">{explained?.upstream?.path}</code>
      </div>
      {same ? <p className="ok pad">the same bytes</p> : null}
      {!same && explained !== undefined && explained.upstream === null ? (
        <p className="mute pad">nothing: it would be refused before anything is sent</p>
      ) : null}
      {same || text === '' ? null : <JsonEditor label="What the engine gets" value={text} fates={fates} />}
    </section>
  );
}

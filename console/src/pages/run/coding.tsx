import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type JSX, useEffect, useMemo, useRef, useState } from 'react';
import { send } from '../../api/client.ts';
import { interactionsQuery } from '../../api/interactions.ts';
import { sessionQuery } from '../../api/queries.ts';
import { useStream } from '../../api/streams.ts';
import type { AgentEvent, Receipt, RunDetail, RunRow } from '../../api/types.ts';
import { cost, count, duration, shortId, whole } from '../../base/format.ts';
import { Approval } from '../../components/approval/approval.tsx';
import { Button, ErrorBand, useNow } from '../../components/bits/bits.tsx';
import { FateStrip } from '../../components/fate/fate.tsx';
import { Icon } from '../../components/icon/icon.tsx';
import { ReceiptSlip } from '../../components/receipt-slip/receipt-slip.tsx';
import { Timeline } from '../../components/timeline/timeline.tsx';
import { childrenQuery, runQuery } from './data.ts';
import { Fact } from './head.tsx';
import { StepView } from './step-view.tsx';
import { runLanes, type Step, StepList } from './steps.ts';

/** Everything a run said, as steps; follows it while it goes on. */
function useSteps(run: string, may: boolean): readonly Step[] {
  const [steps, setSteps] = useState<readonly Step[]>([]);
  const list = useRef(new StepList());
  const timer = useRef<number | undefined>(undefined);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another run begins with an empty list
  useEffect(() => {
    list.current = new StepList();
    setSteps([]);
  }, [run]);
  const hear = (data: string): void => {
    list.current.add(JSON.parse(data) as AgentEvent); // an event of the server's own stream
    timer.current ??= window.setTimeout(() => {
      timer.current = undefined;
      setSteps([...list.current.steps]);
    }, 100);
  };
  useStream(may ? `/v1/runs/${run}/events` : null, Object.fromEntries(EVENTS.map((name) => [name, hear])));
  return steps;
}

const EVENTS = [
  ...['text_delta', 'message_stop', 'thinking_delta', 'thinking_stop', 'tool_call_start', 'tool_call_ready', 'tool_result', 'tool_error'],
  ...['approval_request', 'approval_granted', 'approval_denied', 'rate_limited', 'context_compacted', 'retry', 'error', 'crash'],
  ...['interrupted', 'aborted', 'paused', 'resumed', 'timeout'],
];

/** The run of a coding agent, or a turn of an agent: made of calls, and told in order. */
export function CodingPage({ run, receipt }: { readonly run: string; readonly receipt: Receipt }): JSX.Element {
  const session = useQuery(sessionQuery);
  const mayWatch = session.data?.scopes.includes('answer') === true;
  const isTurn = receipt.plane === 'agent';
  const detail = useQuery({ ...runQuery(run), enabled: mayWatch && !isTurn });
  const live = receipt.seal === null || receipt.seal === undefined;
  const calls = useQuery(childrenQuery(run, live));
  const steps = useSteps(run, mayWatch && !isTurn);
  const open = useQuery(interactionsQuery);
  const asked = (open.data?.items ?? []).filter(({ run_id }) => run_id === run);
  const now = useNow(live);
  const began = Date.parse(receipt.started_at);
  const until = receipt.completed_at === null || receipt.completed_at === undefined ? now : Date.parse(receipt.completed_at);
  const rows = useMemo(() => [...(calls.data?.items ?? [])].reverse(), [calls.data]);
  const title = String(detail.data?.options?.prompt ?? receipt.task ?? 'A run');
  return (
    <div className="p-run-coding fill">
      <div className="hd">
        <div className="row">
          <Link to="/runs" className="mute">
            Runs
          </Link>
          <span className="mute">/</span>
          <h1 className="el">{title}</h1>
          <span className={asked.length > 0 ? 'tag warn' : 'tag'}>{asked.length > 0 ? 'waits for you' : receipt.status}</span>
          <code className="mute">{shortId(run)}</code>
          <span className="grow" />
          {live ? (
            <Controls run={run} locked={session.data?.scopes.includes('run') === true ? undefined : 'this needs a signed-in browser'} />
          ) : null}
        </div>
        <Meta receipt={receipt} detail={detail.data} rows={rows} />
      </div>
      {mayWatch || isTurn ? null : <ErrorBand error="What the agent said is shown to a signed-in browser. `abp console` prints a link." />}
      <div className="lanes">
        <Timeline lanes={runLanes(steps, rows, began, until)} total={until - began} foot={`of ${duration(until - began)}`} />
      </div>
      <div className="wrap">
        <nav className="tree scroll" aria-label="Steps">
          {steps.map((step) => (
            <a key={step.id} href={`#${step.id}`} className="c">
              <Icon name={ICONS[step.kind]} /> <span className="el">{treeTitle(step)}</span>
              <span className="d">{step.end === null ? '' : duration(step.end - step.at)}</span>
            </a>
          ))}
        </nav>
        <Transcript steps={steps} began={began}>
          {asked.map((item) => (
            <Approval key={item.id} item={item} selected />
          ))}
        </Transcript>
        <aside className="side scroll" aria-label="Cost, calls and seal">
          <Calls rows={rows} receipt={receipt} />
          <Changed receipt={receipt} />
          <div className="sec">{live ? <p className="mute">Sealed when the run ends</p> : <ReceiptSlip receipt={receipt} />}</div>
        </aside>
      </div>
      {live && detail.data?.agent !== null ? <Tell run={run} /> : null}
    </div>
  );
}

const ICONS: Readonly<Record<Step['kind'], string>> = { text: 'think', thinking: 'think', tool: 'term', approval: 'clock', note: 'more' };

function treeTitle(step: Step): string {
  if (step.kind === 'text') return step.body.slice(0, 40) || 'Says something';
  return step.title;
}

function Meta({
  receipt,
  detail,
  rows,
}: {
  readonly receipt: Receipt;
  readonly detail: RunDetail | undefined;
  readonly rows: readonly RunRow[];
}): JSX.Element {
  const options = detail?.options ?? {};
  const read = rows.reduce((sum, { tokens }) => sum + (tokens?.in ?? 0), 0);
  const written = rows.reduce((sum, { tokens }) => sum + (tokens?.out ?? 0), 0);
  return (
    <div className="meta">
      <Fact name={receipt.plane === 'agent' ? 'agent' : 'coding agent'}>
        {detail?.agent ?? receipt.backend?.id ?? ''} {receipt.backend?.version ?? ''}
      </Fact>
      <Fact name="on">
        {receipt.engine ?? String(options.engine ?? 'its own engine')} <code>{receipt.model?.upstream ?? String(options.model ?? '')}</code>
      </Fact>
      {options.thinkingEffort === undefined ? null : <Fact name="thinking">{String(options.thinkingEffort)}</Fact>}
      {options.approvalMode === undefined ? null : <Fact name="approval">{String(options.approvalMode)}</Fact>}
      {options.cwd === undefined ? null : (
        <Fact name="folder">
          <code>{String(options.cwd)}</code>
        </Fact>
      )}
      <Fact name="calls">{rows.length}</Fact>
      <Fact name="tokens">
        {count(read)} in, {count(written)} out
      </Fact>
    </div>
  );
}

function Controls({ run, locked }: { readonly run: string; readonly locked: string | undefined }): JSX.Element {
  const [failure, setFailure] = useState<unknown>(null);
  const act = (what: string) => () => {
    send('POST', `/v1/runs/${run}/${what}`, what === 'interrupt' ? {} : undefined).catch(setFailure);
  };
  return (
    <>
      <ErrorBand error={failure} />
      <Button icon="pause" locked={locked} onClick={act('pause')}>
        Pause
      </Button>
      <Button locked={locked} onClick={act('resume')}>
        Go on
      </Button>
      <Button locked={locked} onClick={act('interrupt')}>
        Interrupt
      </Button>
      <Button locked={locked} onClick={act('cancel')}>
        End run
      </Button>
    </>
  );
}

/** Follows the end while the reader is there; else a pill says how much is new. */
function Transcript({
  steps,
  began,
  children,
}: {
  readonly steps: readonly Step[];
  readonly began: number;
  readonly children: JSX.Element[];
}): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const [following, setFollowing] = useState(true);
  // biome-ignore lint/correctness/useExhaustiveDependencies: every change of the steps moves the end
  useEffect(() => {
    if (following) box.current?.scrollTo({ top: box.current.scrollHeight });
  }, [steps, following]);
  const scrolled = (): void => {
    const element = box.current;
    if (element !== null) setFollowing(element.scrollHeight - element.scrollTop - element.clientHeight < 40);
  };
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolled region can be scrolled by keys
    <div className="tx scroll" ref={box} onScroll={scrolled} tabIndex={0} role="log" aria-label="What happened">
      {steps.map((step) => (
        <StepView key={step.id} step={step} began={began} />
      ))}
      {steps.length === 0 ? <p className="mute">What was said is not kept, or nothing was said yet. The calls are on the right.</p> : null}
      {children}
      {following ? null : (
        <button type="button" className="btn live-end" onClick={() => setFollowing(true)}>
          To the end <kbd>.</kbd>
        </button>
      )}
    </div>
  );
}

function Calls({ rows, receipt }: { readonly rows: readonly RunRow[]; readonly receipt: Receipt }): JSX.Element {
  const priced = rows.filter(({ cost_nano_usd }) => cost_nano_usd !== null);
  const sum = receipt.cost?.nano_usd ?? priced.reduce((total, { cost_nano_usd }) => total + (cost_nano_usd ?? 0), 0);
  return (
    <>
      <div className="sec">
        <div className="row">
          <h2 className="grow">Cost</h2>
          <code>{priced.length === 0 && receipt.cost === null ? 'no price' : cost(sum)}</code>
        </div>
        <p className="mute s">a list price, summed from {rows.length} calls</p>
      </div>
      <div className="sec">
        <h2>Model calls</h2>
        <table>
          <tbody>
            {[...rows].reverse().map((row, index) => (
              <tr key={row.run_id} className="m">
                <td className="mute">{rows.length - index}</td>
                <td>
                  <Link className="u" to="/runs/$run" params={{ run: row.run_id }}>
                    {shortId(row.run_id)}
                  </Link>
                </td>
                <td className="r">{row.tokens === null ? '–' : `${count(row.tokens.in)} / ${count(row.tokens.out)}`}</td>
                <td className="r">{row.total_ms === null ? '' : duration(row.total_ms)}</td>
                <td>{row.mode === 'passthrough' ? <Icon name="pass" label="bytes equal" /> : <FateStrip fates={row.fates} />}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

function Changed({ receipt }: { readonly receipt: Receipt }): JSX.Element | null {
  const delta = receipt.workspace_delta;
  if (delta === null || delta === undefined) return null;
  const files = [
    ...delta.added.map((path) => [path, 'new'] as const),
    ...delta.modified.map((path) => [path, ''] as const),
    ...delta.removed.map((path) => [path, 'gone'] as const),
  ];
  return (
    <div className="sec">
      <h2>{whole(files.length)} files changed</h2>
      {files.slice(0, 100).map(([path, what]) => (
        <div key={path} className="row s">
          <Icon name="file" /> <code className="grow el">{path}</code> <span className="mute">{what}</span>
        </div>
      ))}
    </div>
  );
}

function Tell({ run }: { readonly run: string }): JSX.Element {
  const [text, setText] = useState('');
  const [failure, setFailure] = useState<unknown>(null);
  const tell = (): void => {
    send('POST', `/v1/runs/${run}/input`, { text, when: 'next-turn' }).then(() => setText(''), setFailure);
  };
  return (
    <form
      className="say"
      onSubmit={(event) => {
        event.preventDefault();
        if (text !== '') tell();
      }}
    >
      <input
        className="grow"
        aria-label="Tell it something"
        placeholder="Tell it something; it reads it after the answer under way"
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      <Button type="submit">Send</Button>
      <ErrorBand error={failure} />
    </form>
  );
}

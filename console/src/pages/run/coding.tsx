import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type JSX, useEffect, useMemo, useRef, useState } from 'react';
import { answer, interactionsQuery } from '../../api/interactions.ts';
import { sessionQuery } from '../../api/queries.ts';
import { reportQuery } from '../../api/receipts.ts';
import { useStream } from '../../api/streams.ts';
import type { AgentEvent, Receipt, RunDetail, RunRow } from '../../api/types.ts';
import { copyAloud } from '../../base/copy.ts';
import { count, duration } from '../../base/format.ts';
import { useKeys } from '../../base/keys.ts';
import { useUrlChoice } from '../../base/url-state.ts';
import { Approval } from '../../components/approval/approval.tsx';
import { Button, ErrorBand, useNow } from '../../components/bits/bits.tsx';
import { Icon } from '../../components/icon/icon.tsx';
import { Timeline } from '../../components/timeline/timeline.tsx';
import { AfterEnd, Controls, Tell } from './coding-controls.tsx';
import { CodingSide } from './coding-side.tsx';
import { childrenQuery, runQuery } from './data.ts';
import { Fact, HeadRow, StatusTag } from './head.tsx';
import { runLanes, stepOfCall } from './lanes.ts';
import { StepTree } from './step-tree.tsx';
import { type FileChange, filesOf, type Step, StepList } from './steps.ts';
import { Transcript, type TranscriptHandle } from './transcript.tsx';

/** On a phone one of these is shown at a time. */
const SIDES = ['middle', 'tree', 'side'] as const;

/** Events are gathered this long before the page changes. */
const GATHER_MS = 100;

const EVENTS = [
  ...['turn_start', 'text_delta', 'message_stop', 'thinking_delta', 'thinking_stop', 'skill_invoked', 'subagent_spawn', 'subagent_error'],
  ...['tool_call_start', 'tool_call_ready', 'tool_result', 'tool_error', 'file_patch', 'file_create', 'file_write', 'file_delete'],
  ...['shell_exit', 'approval_request', 'approval_granted', 'approval_denied', 'input_required', 'rate_limited', 'rate_limit_error'],
  ...['context_limit_warning', 'context_compacted', 'context_exceeded', 'retry', 'error', 'auth_error', 'crash', 'turn_limit'],
  ...['interrupted', 'aborted', 'paused', 'resumed', 'timeout'],
];

/** Everything a run said, as steps; follows it while it goes on. */
function useSteps(run: string, { may, live }: { readonly may: boolean; readonly live: boolean }): readonly Step[] {
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
      setSteps(list.current.steps.map((step) => ({ ...step })));
    }, GATHER_MS);
  };
  // The server ends the stream of a run that has ended; asking again would tell nothing new.
  const [over, setOver] = useState('');
  const { since } = useStream(
    may && over !== run ? `/v1/runs/${run}/events` : null,
    Object.fromEntries(EVENTS.map((name) => [name, hear])),
    'after',
  );
  useEffect(() => {
    if (!live && since !== null) setOver(run);
  }, [live, since, run]);
  return steps;
}

/** The files of the report count whole runs; while one goes on, those that its steps have told. */
function useFiles(
  run: string,
  live: boolean,
  steps: readonly Step[],
): { readonly files: readonly FileChange[]; readonly session: string | null } {
  const report = useQuery({ ...reportQuery(run), enabled: !live });
  const told = useMemo(() => filesOf(steps), [steps]);
  const kept = (report.data?.files ?? []).map(
    ({ path, change, lines_added, lines_removed }): FileChange => ({
      path,
      what: change === 'added' ? 'new' : change === 'removed' ? 'gone' : 'changed',
      added: lines_added ?? told.find((file) => file.path.endsWith(path))?.added ?? 0,
      removed: lines_removed ?? told.find((file) => file.path.endsWith(path))?.removed ?? 0,
    }),
  );
  return { files: kept.length > 0 ? kept : told, session: report.data?.session_id ?? null };
}

/** The run of a coding agent, or a turn of an agent: made of calls, and told in order. */
export function CodingPage({ run, receipt }: { readonly run: string; readonly receipt: Receipt }): JSX.Element {
  const session = useQuery(sessionQuery);
  const scopes = session.data?.scopes ?? [];
  const mayWatch = scopes.includes('answer');
  const isTurn = receipt.plane === 'agent';
  const detail = useQuery({ ...runQuery(run), enabled: mayWatch && !isTurn });
  const live = receipt.seal === null || receipt.seal === undefined;
  const calls = useQuery(childrenQuery(run, live));
  const steps = useSteps(run, { may: mayWatch && !isTurn, live });
  const open = useQuery(interactionsQuery);
  const asked = (open.data?.items ?? []).filter(({ run_id }) => run_id === run);
  const now = useNow(live);
  const began = Date.parse(receipt.started_at);
  const until = receipt.completed_at === null || receipt.completed_at === undefined ? now : Date.parse(receipt.completed_at);
  const rows = useMemo(() => [...(calls.data?.items ?? [])].reverse(), [calls.data]);
  const { files, session: conversation } = useFiles(run, live, steps);
  const lanes = useMemo(() => runLanes(steps, rows, { began, until }), [steps, rows, began, until]);
  const [hot, setHot] = useState<string | null>(null);
  const [shown, setShown] = useUrlChoice('side', SIDES);
  const transcript = useRef<TranscriptHandle>(null);
  const [failure, setFailure] = useState<unknown>(null);
  useCodingKeys({ run, steps, rows, hot, setHot, transcript, asked, may: mayWatch, onFailure: setFailure });
  const goTo = (id: string): void => {
    setHot(id);
    setShown('middle');
    transcript.current?.open(id);
  };
  const hotCall = rows.findLast((row) => stepOfCall(row, steps)?.id === hot)?.run_id ?? null;
  const budget = detail.data?.options?.maxBudgetUsd;
  const toggle = (name: 'tree' | 'side') => () => setShown(shown === name ? 'middle' : name);
  return (
    <div className={`p-run-coding fill shows-${shown}`}>
      <div className="hd">
        <HeadRow
          short
          title={titleOf(receipt, detail.data)}
          run={run}
          tags={<StatusTag status={receipt.status} waiting={asked.length > 0} />}
        >
          {live ? (
            <Controls run={run} detail={detail.data} may={scopes.includes('run')} />
          ) : (
            <AfterEnd receipt={receipt} detail={detail.data} session={conversation} />
          )}
        </HeadRow>
        <Meta receipt={receipt} detail={detail.data} rows={rows} />
      </div>
      <ErrorBand error={failure ?? calls.error} />
      {mayWatch || isTurn ? null : <ErrorBand error="What the agent said is shown to a signed-in browser. `abp console` prints a link." />}
      {receipt.error === null || receipt.error === undefined ? null : <Failed error={receipt.error} />}
      <div className="lanes">
        <Timeline {...{ lanes, hot, live }} total={until - began} foot={`of ${duration(until - began)}`} onHot={setHot} onOpen={goTo} />
      </div>
      <div className="only-s switches">
        <Button aria-pressed={shown === 'tree'} onClick={toggle('tree')}>
          Steps
        </Button>
        <Button aria-pressed={shown === 'side'} onClick={toggle('side')}>
          Cost, calls, seal
        </Button>
      </div>
      <div className="wrap">
        <StepTree {...{ steps, until, hot }} onHot={setHot} onOpen={goTo} />
        <Transcript
          {...{ steps, began, live, hot }}
          handle={transcript}
          approvals={receipt.approvals ?? []}
          nothing={
            isTurn
              ? 'The words of a turn are in its conversation; the calls are on the right.'
              : 'What was said is not kept, or nothing was said yet. The calls are on the right.'
          }
        >
          {asked.length === 0 ? null : (
            <div className="pinned">
              {asked.map((item) => (
                <Approval
                  key={item.answer.path}
                  item={item}
                  selected
                  pinned
                  locked={mayWatch ? undefined : 'this needs a signed-in browser'}
                />
              ))}
            </div>
          )}
        </Transcript>
        <aside className="side scroll" aria-label="Cost, calls and seal">
          <CodingSide
            {...{ receipt, rows, files, live }}
            budgetUsd={typeof budget === 'number' ? budget : undefined}
            hot={hotCall}
            onHot={(row) => setHot(row === null ? null : (stepOfCall(row, steps)?.id ?? null))}
          />
        </aside>
      </div>
      {live && detail.data?.agent ? <Tell run={run} agent={detail.data.agent} may={scopes.includes('run')} /> : null}
    </div>
  );
}

function titleOf({ task }: Receipt, detail: RunDetail | undefined): string {
  const prompt = detail?.options?.prompt;
  return typeof prompt === 'string' ? (prompt.split('\n')[0] ?? '') : (task ?? 'A run');
}

interface KeyScene {
  readonly run: string;
  readonly steps: readonly Step[];
  readonly rows: readonly RunRow[];
  readonly hot: string | null;
  setHot(id: string | null): void;
  readonly transcript: React.RefObject<TranscriptHandle | null>;
  readonly asked: readonly Parameters<typeof answer>[0][];
  readonly may: boolean;
  onFailure(error: unknown): void;
}

function useCodingKeys({ run, steps, rows, hot, setHot, transcript, asked, may, onFailure }: KeyScene): void {
  const navigate = useNavigate();
  const move = (by: number) => (): void => {
    const at = steps.findIndex(({ id }) => id === hot);
    const next = steps[Math.max(0, Math.min(steps.length - 1, at < 0 ? steps.length - 1 : at + by))];
    if (next === undefined) return;
    setHot(next.id);
    transcript.current?.open(next.id);
  };
  const [question] = asked;
  useKeys({
    j: move(1),
    k: move(-1),
    '.': () => transcript.current?.toEnd(),
    a: () => {
      if (question !== undefined && may) answer(question, true, '').catch(onFailure);
    },
    d: () => document.querySelector<HTMLInputElement>('.pinned input')?.focus(),
    o: () => {
      const call = rows.findLast((row) => stepOfCall(row, steps)?.id === hot) ?? rows.at(-1);
      if (call !== undefined) void navigate({ to: '/runs/$run', params: { run: call.run_id } });
    },
    c: () => void navigate({ to: '/runs', search: { compare: run } }),
    y: () => void copyAloud(run),
    escape: () => void navigate({ to: '/runs', search: { sel: run } }),
  });
}

function Failed({ error }: { readonly error: NonNullable<Receipt['error']> }): JSX.Element {
  return (
    <div className="error-band">
      <Icon name="refused" />
      <a className="b m" href={`/docs/errors/${error.code}`} target="_blank" rel="noreferrer">
        {error.code}
      </a>
      <span className="grow">{error.message}</span>
    </div>
  );
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
        {detail?.agent ?? receipt.backend?.id?.replace(/^\w+:/, '') ?? ''} {receipt.backend?.version ?? ''}
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
      {receipt.tags === undefined || receipt.tags.length === 0 ? null : <Fact name="tags">{receipt.tags.join(', ')}</Fact>}
      <Fact name="run">
        <code>{receipt.run_id}</code>
      </Fact>
    </div>
  );
}

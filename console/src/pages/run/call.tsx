import { type InfiniteData, type QueryClient, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { type JSX, useState } from 'react';
import { recordingQuery, textOfAnswer, textOfBody } from '../../api/receipts.ts';
import { replay } from '../../api/replay.ts';
import type { Receipt, RecordingLine, RunRowList } from '../../api/types.ts';
import { bytes, digest, duration, shortId, whole } from '../../base/format.ts';
import { useKeys } from '../../base/keys.ts';
import { useUrlState } from '../../base/url-state.ts';
import { Empty, ErrorBand } from '../../components/bits/bits.tsx';
import { JsonView } from '../../components/json-view/json-view.tsx';
import { exportLine, ReceiptSlip } from '../../components/receipt-slip/receipt-slip.tsx';
import { Timeline } from '../../components/timeline/timeline.tsx';
import { callLanes, sameContentQuery } from './data.ts';
import { CallHead } from './head.tsx';
import { Late } from './late.tsx';
import { Seam } from './seam.tsx';

const TABS = ['fates', 'request', 'response', 'events', 'tools', 'headers', 'attempts'] as const;
type Tab = (typeof TABS)[number];

function tabsOf(receipt: Receipt): readonly (readonly [Tab, string])[] {
  return [
    ['fates', 'Fate of fields'],
    ['request', 'Request, raw'],
    ['response', 'Response'],
    ['events', `Events ${receipt.event_count}`],
    ['tools', `Tool calls ${receipt.tool_calls.length}`],
    ['headers', 'Headers'],
    ['attempts', `Attempts ${receipt.attempts.length}`],
  ];
}

/** The page of one call. */
export function CallPage({ receipt }: { readonly receipt: Receipt }): JSX.Element {
  const [state, change] = useUrlState();
  const navigate = useNavigate();
  const [failure, setFailure] = useState<unknown>(null);
  const client = useQueryClient();
  const step = (by: number): void => {
    const next = neighbourOf(client, receipt.run_id, by);
    if (next !== undefined) void navigate({ to: '/runs/$run', params: { run: next }, search: { tab: state.tab } });
  };
  const recording = useQuery(recordingQuery(receipt));
  const fallback: Tab = receipt.mode === 'passthrough' ? 'response' : 'fates';
  const tab = TABS.find((known) => known === state.tab) ?? fallback;
  const actions = {
    playground: () => void navigate({ to: '/playground', search: { run: receipt.run_id } }),
    replay: () => {
      replay(receipt.run_id).then((run) => navigate({ to: '/runs/$a/vs/$b', params: { a: receipt.run_id, b: run } }), setFailure);
    },
    compare: () => void navigate({ to: '/runs', search: { compare: receipt.run_id } }),
  };
  useKeys({
    p: actions.playground,
    r: actions.replay,
    c: actions.compare,
    y: () => void navigator.clipboard.writeText(receipt.run_id),
    v: () => void client.refetchQueries({ queryKey: ['seal', receipt.run_id] }),
    e: () => void exportLine(receipt.run_id),
    j: () => step(1),
    k: () => step(-1),
    escape: () => void navigate({ to: '/runs', search: { sel: receipt.run_id } }),
    ...Object.fromEntries(TABS.map((name, index) => [String(index + 1), () => change({ tab: name }, { replace: true })])),
  });
  return (
    <div className="p-run fill">
      <CallHead receipt={receipt} actions={actions} />
      <ErrorBand error={failure} />
      {receipt.error === null ? null : <Refusal receipt={receipt} />}
      {receipt.reason === 'interrupted' ? <Late run={receipt.run_id} /> : null}
      <div className="wrap">
        <div className="left">
          <section className="panel tlp" aria-label="Timeline">
            {receipt.timing.last_byte_ms === null ? (
              <p className="note pad">Nobody was called: the request was refused before anything was spent.</p>
            ) : (
              <Timeline
                lanes={callLanes(receipt, recording.data)}
                total={receipt.timing.last_byte_ms}
                foot={receipt.event_count === 1 ? '1 piece' : `${whole(receipt.event_count)} pieces`}
              />
            )}
          </section>
          <section className="panel body">
            <div className="ph">
              <div className="tb" role="tablist" aria-label="Parts of the run">
                {tabsOf(receipt).map(([name, text]) => (
                  <button
                    key={name}
                    type="button"
                    role="tab"
                    aria-selected={tab === name}
                    className={tab === name ? 'on' : ''}
                    onClick={() => change({ tab: name }, { replace: true })}
                  >
                    {text}
                  </button>
                ))}
              </div>
            </div>
            <TabBody tab={tab} receipt={receipt} recording={recording.data} />
          </section>
        </div>
        <aside className="right scroll" aria-label="Receipt">
          <ReceiptSlip receipt={receipt} />
          <SameContent receipt={receipt} />
        </aside>
      </div>
    </div>
  );
}

function Refusal({ receipt }: { readonly receipt: Receipt }): JSX.Element {
  const { error } = receipt;
  return (
    <div className="error-band">
      <a className="b m" href={`/docs/errors/${error?.code}`} target="_blank" rel="noreferrer">
        {error?.code}
      </a>
      <span className="grow">{error?.message}</span>
      <Link className="btn sm" to="/playground" search={{ run: receipt.run_id }}>
        Try it differently
      </Link>
    </div>
  );
}

/** The run before or after this one in the list that the reader came from. */
function neighbourOf(client: QueryClient, run: string, by: number): string | undefined {
  for (const [, data] of client.getQueriesData<InfiniteData<RunRowList>>({ queryKey: ['rows'] })) {
    const rows = data?.pages.flatMap(({ items }) => items) ?? [];
    const at = rows.findIndex(({ run_id }) => run_id === run);
    if (at >= 0) return rows[at + by]?.run_id;
  }
  return undefined;
}

interface BodyProps {
  readonly tab: Tab;
  readonly receipt: Receipt;
  readonly recording: RecordingLine | undefined;
}

function NotKept({ receipt }: { readonly receipt: Receipt }): JSX.Element {
  return (
    <Empty title="Not recorded">
      <p className="note">
        The setting that decided this is recording: {receipt.recording}. Fates and digests stay; bodies were not kept or have expired.
      </p>
    </Empty>
  );
}

function TabBody({ tab, receipt, recording }: BodyProps): JSX.Element {
  if (tab === 'fates') return <Fates receipt={receipt} recording={recording} />;
  if (tab === 'tools') return <Tools receipt={receipt} />;
  if (tab === 'attempts') return <Attempts receipt={receipt} />;
  if (recording === undefined) return <NotKept receipt={receipt} />;
  if (tab === 'request')
    return (
      <Bodies
        left={['Caller sent', textOfBody(recording.request.body)]}
        right={recording.sent === null ? null : ['Engine got', textOfBody(recording.sent.body)]}
        receipt={receipt}
      />
    );
  if (tab === 'headers') return <Headers recording={recording} />;
  const answered = textOfAnswer(recording.response);
  if (tab === 'events') return <JsonView text={answered} label="Events as they came" />;
  const delivered = recording.delivered === null ? null : textOfAnswer(recording.delivered);
  return <Bodies left={['Engine said', answered]} right={delivered === null ? null : ['Caller got', delivered]} receipt={receipt} />;
}

function Fates({ receipt, recording }: Omit<BodyProps, 'tab'>): JSX.Element {
  if (receipt.mode !== 'passthrough') return <Seam receipt={receipt} recording={recording} />;
  const { request } = receipt;
  return (
    <Empty title="Bytes equal">
      {request === null ? null : (
        <p className="note m">
          {bytes(request.bytes)} from the caller, the same {bytes(request.bytes)} to the engine, SHA-256 {digest(request.sha256)}
        </p>
      )}
    </Empty>
  );
}

type Side = readonly [string, string];

function Bodies({ left, right, receipt }: { readonly left: Side; readonly right: Side | null; readonly receipt: Receipt }): JSX.Element {
  return (
    <div className="bodies">
      <div>
        <h2>{left[0]}</h2>
        <JsonView text={left[1]} label={left[0]} />
      </div>
      {right === null ? null : (
        <div>
          <h2>{right[0]}</h2>
          <JsonView text={right[1]} label={right[0]} />
        </div>
      )}
      {right === null && receipt.mode === 'passthrough' ? <p className="note same ok">the same bytes on both sides</p> : null}
    </div>
  );
}

function Tools({ receipt }: { readonly receipt: Receipt }): JSX.Element {
  if (receipt.tool_calls.length === 0) return <Empty title="No tool was called" />;
  return (
    <table>
      <thead>
        <tr>
          <th>Tool</th>
          <th>Call</th>
          <th>Arguments</th>
          <th>Result</th>
        </tr>
      </thead>
      <tbody>
        {receipt.tool_calls.map((call, index) => (
          <tr key={call.id ?? index} className="m">
            <td className="md">{call.name}</td>
            <td className="mute">{call.id}</td>
            <td>{digest(call.arguments_sha256)}</td>
            <td>{call.result_sha256 === null ? 'not seen' : digest(call.result_sha256)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Attempts({ receipt }: { readonly receipt: Receipt }): JSX.Element {
  return (
    <table>
      <thead>
        <tr>
          <th>#</th>
          <th>Engine</th>
          <th>Status</th>
          <th>Took</th>
          <th>Why it did not count</th>
        </tr>
      </thead>
      <tbody>
        {receipt.attempts.map((attempt, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: an attempt is its place
          <tr key={index}>
            <td>{index + 1}</td>
            <td>{attempt.engine}</td>
            <td className="m">{attempt.status ?? 'none'}</td>
            <td className="m">{duration(attempt.ms)}</td>
            <td>{attempt.error}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Headers({ recording }: { readonly recording: RecordingLine }): JSX.Element {
  const parts: readonly (readonly [string, readonly (readonly [string, string])[]])[] = [
    ['Caller sent', recording.request.headers],
    ['Engine got', recording.sent?.headers ?? []],
    ['Engine said', recording.response?.headers ?? []],
  ];
  return (
    <div className="scroll headers">
      {parts.map(([title, headers]) => (
        <section key={title}>
          <h2>{title}</h2>
          <dl className="kv m">
            {headers.map(([name, value], index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: a header may stand twice
              <div key={index}>
                <dt>{name}</dt>
                <dd>{value}</dd>
              </div>
            ))}
          </dl>
        </section>
      ))}
    </div>
  );
}

/** Runs that did the same: their content hash is this one's. */
function SameContent({ receipt }: { readonly receipt: Receipt }): JSX.Element | null {
  const same = useQuery(sameContentQuery(receipt));
  const others = same.data?.items.filter(({ run_id }) => run_id !== receipt.run_id) ?? [];
  if (others.length === 0) return null;
  return (
    <p className="note below">
      {others.length === 1 ? 'One other has' : `${others.length} others have`} the same content hash:{' '}
      {others.map(({ run_id }) => (
        <Link key={run_id} className="m u" to="/runs/$run" params={{ run: run_id }}>
          {shortId(run_id)}{' '}
        </Link>
      ))}
    </p>
  );
}

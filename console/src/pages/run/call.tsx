import { type InfiniteData, type QueryClient, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import type { JSX } from 'react';
import { fieldsQuery } from '../../api/queries.ts';
import { isUnderWay, recordingQuery, textOfAnswer, textOfBody, ticksOf } from '../../api/receipts.ts';
import { replay } from '../../api/replay.ts';
import type { Receipt, RecordingLine, RunRowList } from '../../api/types.ts';
import { copyAloud } from '../../base/copy.ts';
import { capabilityOf } from '../../base/fates.ts';
import { bytes, digest, duration, many, shortId } from '../../base/format.ts';
import { useKeys } from '../../base/keys.ts';
import { tellFailure } from '../../base/told.ts';
import { useUrlState } from '../../base/url-state.ts';
import { Empty } from '../../components/bits/bits.tsx';
import { JsonView } from '../../components/json-view/json-view.tsx';
import { exportLine, ReceiptSlip } from '../../components/receipt-slip/receipt-slip.tsx';
import { Timeline } from '../../components/timeline/timeline.tsx';
import { callLanes, sameContentQuery } from './data.ts';
import { Events } from './events.tsx';
import { CallHead } from './head.tsx';
import { Late } from './late.tsx';
import { emulatedQuery, placesQuery } from './places.ts';
import { Seam } from './seam.tsx';
import { Later, NoTimes } from './under-way.tsx';

const TABS = ['fates', 'request', 'response', 'events', 'tools', 'headers', 'attempts'] as const;
type Tab = (typeof TABS)[number];

function tabsOf(receipt: Receipt): readonly (readonly [Tab, string])[] {
  const counted = (text: string, many: number): string => (isUnderWay(receipt) ? text : `${text} ${many}`);
  return [
    ['fates', 'Fate of fields'],
    ['request', 'Request, raw'],
    ['response', 'Response'],
    ['events', counted('Events', receipt.event_count)],
    ['tools', counted('Tool calls', receipt.tool_calls.length)],
    ['headers', 'Headers'],
    ['attempts', counted('Attempts', receipt.attempts.length)],
  ];
}

/** The page of one call. */
export function CallPage({ receipt }: { readonly receipt: Receipt }): JSX.Element {
  const [state, change] = useUrlState();
  const navigate = useNavigate();
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
      replay(receipt.run_id).then((run) => navigate({ to: '/runs/$a/vs/$b', params: { a: receipt.run_id, b: run } }), tellFailure);
    },
    compare: () => void navigate({ to: '/runs', search: { compare: receipt.run_id } }),
  };
  useKeys({
    p: actions.playground,
    r: actions.replay,
    c: actions.compare,
    y: () => void copyAloud(receipt.run_id),
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
      {receipt.error === null ? null : <Refusal receipt={receipt} recording={recording.data} />}
      {receipt.reason === 'interrupted' ? <Late run={receipt.run_id} /> : null}
      <div className="wrap">
        <div className="left">
          <section className="panel tlp" aria-label="Timeline">
            {receipt.timing.last_byte_ms === null ? (
              <NoTimes receipt={receipt} />
            ) : (
              <Timeline
                lanes={callLanes(receipt, recording.data)}
                total={receipt.timing.last_byte_ms}
                foot={cameIn(receipt, recording.data)}
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
            <TabBody
              {...{ tab, receipt, recording: recording.data, at: state.at }}
              onField={(path) => change({ tab: 'request', at: path })}
            />
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

function Refusal({ receipt, recording }: { readonly receipt: Receipt; readonly recording: RecordingLine | undefined }): JSX.Element {
  const { error } = receipt;
  const fields = useQuery(fieldsQuery).data?.fields ?? [];
  const refused = (receipt.fidelity ?? []).filter(({ fate }) => fate === 'refused');
  const needed = [...new Set(refused.flatMap(({ path }) => capabilityOf(fields, receipt.dialect ?? '', path) ?? []))];
  const helps = useQuery(emulatedQuery(receipt, recording, needed)).data === true;
  return (
    <div className="error-band">
      <a className="b m" href={`/docs/errors/${error?.code}`} target="_blank" rel="noreferrer">
        {error?.code}
      </a>
      <span className="grow">{error?.message}</span>
      {helps ? (
        <Link className="btn sm" to="/playground" search={{ run: receipt.run_id, emulate: needed.join(',') }}>
          Try with this emulated
        </Link>
      ) : null}
      <Link className="btn sm" to="/playground" search={{ run: receipt.run_id }}>
        Try it differently
      </Link>
    </div>
  );
}

/** In how many pieces the answer came: as many as there are ticks, and where none were kept as many events as the caller got. */
function cameIn({ event_count: events }: Receipt, recording: RecordingLine | undefined): string {
  const pieces = ticksOf(recording).length;
  return pieces === 0 ? many(events, 'event') : many(pieces, 'piece');
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
  /** The field that is looked at in the raw bodies. */
  readonly at?: string | undefined;
  readonly onField?: ((path: string) => void) | undefined;
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

function TabBody({ tab, receipt, recording, at, onField }: BodyProps): JSX.Element {
  if (tab === 'fates') return <Fates {...{ receipt, recording, onField }} />;
  if (isUnderWay(receipt)) return <Later />;
  if (tab === 'tools') return <Tools receipt={receipt} />;
  if (tab === 'attempts') return <Attempts receipt={receipt} />;
  if (recording === undefined) return <NotKept receipt={receipt} />;
  if (tab === 'request') return <Requests receipt={receipt} recording={recording} at={at} />;
  if (tab === 'headers') return <Headers recording={recording} />;
  if (tab === 'events') return <Events answer={recording.delivered ?? recording.response} />;
  const answered = textOfAnswer(recording.response);
  const delivered = recording.delivered === null ? null : textOfAnswer(recording.delivered);
  return (
    <Bodies
      left={{ title: 'Engine said', text: answered }}
      right={delivered === null ? null : { title: 'Caller got', text: delivered }}
      same={receipt.mode === 'passthrough' ? 'the same bytes to the caller' : null}
    />
  );
}

/** Both raw requests, at the place of a field where one was chosen. */
function Requests({ receipt, recording, at }: Omit<BodyProps, 'tab'> & { readonly recording: RecordingLine }): JSX.Element {
  const places = useQuery({ ...placesQuery(receipt, recording), enabled: false }).data;
  const { sent } = recording;
  return (
    <Bodies
      left={{ title: 'Caller sent', text: textOfBody(recording.request.body), at }}
      right={sent === null ? null : { title: 'Engine got', text: textOfBody(sent.body), at: places?.get(at ?? '')?.at }}
      same={sent === null ? sameWords(receipt) : null}
    />
  );
}

function Fates({ receipt, recording, onField }: Omit<BodyProps, 'tab' | 'at'>): JSX.Element {
  if (receipt.mode !== 'passthrough') return <Seam {...{ receipt, recording, onField }} />;
  return (
    <Empty title="Bytes equal">
      <p className="note m">{sameWords(receipt)}</p>
    </Empty>
  );
}

interface Side {
  readonly title: string;
  readonly text: string;
  /** The field that is looked at. */
  readonly at?: string | undefined;
}

/** Both sides; for a call that passed as it is, one with the line that says so. */
function Bodies({ left, right, same }: { readonly left: Side; readonly right: Side | null; readonly same: string | null }): JSX.Element {
  return (
    <div className="bodies">
      {[left, right].map((side) =>
        side === null ? null : (
          <div key={side.title}>
            <h2>
              {side.title} {same === null ? null : <span className="ok same">{same}</span>}
            </h2>
            <JsonView text={side.text} label={side.title} at={side.at} />
          </div>
        ),
      )}
    </div>
  );
}

/** Of a call that passed as it is: what came in went out. */
function sameWords({ mode, request }: Receipt): string | null {
  if (mode !== 'passthrough' || request === null) return null;
  const size = bytes(request.bytes);
  return `${size} from the caller, the same ${size} to the engine, SHA-256 ${digest(request.sha256)}`;
}

function Tools({ receipt }: { readonly receipt: Receipt }): JSX.Element {
  if (receipt.tool_calls.length === 0) return <Empty title="No tool was called" />;
  return (
    <table aria-label="Tool calls">
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
    <table aria-label="Attempts">
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

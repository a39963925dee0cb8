import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { type JSX, type ReactNode, useState } from 'react';
import { get } from '../../api/client.ts';
import { receiptQuery } from '../../api/receipts.ts';
import type { Receipt, RecordingLine } from '../../api/types.ts';
import { bytes, cost, digest, duration, shortId, whole } from '../../base/format.ts';
import { useKeys } from '../../base/keys.ts';
import { Button, Empty, ErrorBand, Segmented, StatusGlyph } from '../../components/bits/bits.tsx';
import { countFates, FateCounts, FateStrip } from '../../components/fate/fate.tsx';
import { Icon } from '../../components/icon/icon.tsx';
import { TimeBar, timesOf } from '../../components/time-bar/time-bar.tsx';
import './page.css';
import './compare.css';

interface Fact {
  readonly name: string;
  /** What decides whether both are equal; ids and times are of the moment. */
  same(receipt: Receipt): unknown;
  show(receipt: Receipt): ReactNode;
}

const FACTS: readonly Fact[] = [
  {
    name: 'Status',
    same: ({ status, reason }) => [status, reason],
    show: ({ status, error }) => (error === null ? status : `${status}: ${error.code}`),
  },
  {
    name: 'Caller sent',
    same: ({ request }) => request?.sha256,
    show: ({ request }) => (request === null ? '–' : `${bytes(request.bytes)} · ${digest(request.sha256)}`),
  },
  { name: 'Engine', same: ({ engine }) => engine, show: ({ engine }) => engine },
  {
    name: 'Engine got',
    same: (receipt) => receipt.upstream_request?.sha256,
    show: ({ upstream_request: got }) => (got === null ? '–' : `${bytes(got.bytes)} · ${digest(got.sha256)}`),
  },
  { name: 'Model', same: ({ model }) => model.upstream, show: ({ model }) => model.upstream },
  { name: 'Mode', same: ({ mode }) => mode, show: ({ mode }) => mode },
  {
    name: 'Fates',
    same: ({ fidelity }) => fidelity,
    show: ({ fidelity }) => (
      <span className="row">
        <FateStrip fates={countFates(fidelity)} /> <FateCounts fates={countFates(fidelity)} all />
      </span>
    ),
  },
  {
    name: 'First byte',
    same: ({ timing }) => timing.first_byte_ms,
    show: ({ timing }) => (timing.first_byte_ms === null ? '–' : duration(timing.first_byte_ms)),
  },
  {
    name: 'Total',
    same: ({ timing }) => timing.last_byte_ms,
    show: ({ timing }) => (timing.last_byte_ms === null ? '–' : duration(timing.last_byte_ms)),
  },
  {
    name: 'Tokens in / out',
    same: ({ usage }) => [usage?.input_tokens, usage?.output_tokens],
    show: ({ usage }) => (usage === null ? '–' : `${whole(usage.input_tokens)} / ${whole(usage.output_tokens)}`),
  },
  {
    name: 'Cost',
    same: (receipt) => receipt.cost?.nano_usd,
    show: (receipt) => (receipt.cost === null ? 'no price' : cost(receipt.cost.nano_usd)),
  },
  {
    name: 'Engine said',
    same: ({ response }) => response?.sha256,
    show: ({ response }) => (response === null ? '–' : `${bytes(response.bytes)} · ${digest(response.sha256)}`),
  },
  {
    name: 'Tool calls',
    same: ({ tool_calls }) => tool_calls.map(({ name, arguments_sha256 }) => [name, arguments_sha256]),
    show: ({ tool_calls }) => tool_calls.map(({ name }) => name).join(', ') || 'none',
  },
  {
    name: 'Content hash',
    same: (receipt) => receipt.receipt_sha256,
    show: (receipt) => (receipt.receipt_sha256 === null ? '–' : digest(receipt.receipt_sha256)),
  },
];

const differs = (fact: Fact, a: Receipt, b: Receipt): boolean => JSON.stringify(fact.same(a)) !== JSON.stringify(fact.same(b));

/** Where do these two differ? */
export function Page(): JSX.Element {
  const { a = '', b = '' } = useParams({ strict: false });
  const navigate = useNavigate();
  const [which, setWhich] = useState<'differences' | 'everything'>('everything');
  const left = useQuery(receiptQuery(a));
  const right = useQuery(receiptQuery(b));
  const swap = (): void => void navigate({ to: '/runs/$a/vs/$b', params: { a: b, b: a } });
  const another = (): void => void navigate({ to: '/runs', search: { compare: a } });
  useKeys({ s: swap, c: another, escape: () => void navigate({ to: '/runs/$run', params: { run: a } }) });
  const error = left.error ?? right.error;
  if (error !== null) return <ErrorBand error={error} />;
  if (!left.data?.timing || !right.data?.timing) return <Empty title="Reading both receipts" />;
  const pair = [left.data, right.data] as const;
  const facts = FACTS.filter((fact) => which === 'everything' || differs(fact, ...pair));
  return (
    <div className="p-compare fill">
      <div className="hd">
        <Link to="/runs" className="mute">
          Runs
        </Link>
        <span className="mute">/</span>
        <h1>Compare</h1>
        <span className="mute s">{left.data.receipt_sha256 === right.data.receipt_sha256 ? 'both did the same' : ''}</span>
        <span className="grow" />
        <Segmented<'differences' | 'everything'>
          label="Which facts"
          value={which}
          onChange={setWhich}
          options={[
            ['differences', 'Differences'],
            ['everything', 'Everything'],
          ]}
        />
        <Button keys="S" onClick={swap}>
          Swap
        </Button>
        <Button keys="C" onClick={another}>
          Choose another
        </Button>
      </div>
      <div className="hdc">
        <div />
        {pair.map((receipt, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: left and right
          <div key={index} className="row">
            <StatusGlyph status={receipt.status} waiting={false} />
            <b>
              {receipt.dialect} → {receipt.engine}
            </b>
            <code className="mute el">{receipt.model.upstream}</code>
            <span className="grow" />
            <Link className="m u" to="/runs/$run" params={{ run: receipt.run_id }}>
              {shortId(receipt.run_id)}
            </Link>
            <span className="ok">
              <Icon name="seal" label={receipt.seal === null ? 'not sealed' : 'sealed'} />
            </span>
          </div>
        ))}
      </div>
      <div className="scroll rest">
        <div className="facts">
          <table>
            <tbody>
              {facts.map((fact) => {
                const changed = differs(fact, ...pair);
                return (
                  <tr key={fact.name} className={changed ? 'ch' : ''}>
                    <th scope="row" className="k">
                      <span className="sr">{changed ? 'differs: ' : 'equal: '}</span>
                      {fact.name}
                    </th>
                    <td className="m">{fact.show(pair[0])}</td>
                    <td className="m">{fact.show(pair[1])}</td>
                  </tr>
                );
              })}
            </tbody>
          </table>
        </div>
        <Times pair={pair} />
        <Answers pair={pair} />
      </div>
    </div>
  );
}

type Pair = readonly [Receipt, Receipt];

/** Both on one scale. */
function Times({ pair }: { readonly pair: Pair }): JSX.Element {
  const all = pair.map(timesOf);
  const most = Math.max(1, ...all.map((times) => times?.total ?? 0));
  return (
    <div className="times">
      {all.map((times, index) =>
        times === undefined ? null : (
          // biome-ignore lint/suspicious/noArrayIndexKey: left and right
          <div key={index} className="row">
            <code className="mute">{shortId(pair[index]?.run_id ?? '')}</code>
            <div className="grow">
              <div style={{ width: `${(times.total / most) * 100}%` }}>
                <TimeBar times={times} />
              </div>
            </div>
            <code>{duration(times.total)}</code>
          </div>
        ),
      )}
    </div>
  );
}

function useAnswer(receipt: Receipt): string | null {
  const recording = useQuery({
    queryKey: ['recording', receipt.run_id],
    queryFn: () => get<RecordingLine>(`/v1/recordings/${receipt.run_id}`),
    enabled: receipt.recording === 'full' && receipt.response !== null,
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });
  const answer = recording.data?.delivered ?? recording.data?.response;
  return answer === null || answer === undefined ? null : answer.chunks.map((chunk) => ('text' in chunk ? chunk.text : '')).join('');
}

function Answers({ pair }: { readonly pair: Pair }): JSX.Element {
  const left = useAnswer(pair[0]);
  const right = useAnswer(pair[1]);
  return (
    <div className="answers">
      <div className="k mute">{left === right ? '=' : '≠'} Answer</div>
      <pre>{left === null ? 'not recorded' : marked(left, right ?? '')}</pre>
      <pre>{right === null ? 'not recorded' : marked(right, left ?? '')}</pre>
    </div>
  );
}

/** What stands between the common beginning and the common end is marked. */
function marked(text: string, other: string): ReactNode {
  let from = 0;
  while (from < Math.min(text.length, other.length) && text[from] === other[from]) from += 1;
  let end = 0;
  while (end < Math.min(text.length, other.length) - from && text.at(-1 - end) === other.at(-1 - end)) end += 1;
  return (
    <>
      {text.slice(0, from)}
      <mark>{text.slice(from, text.length - end)}</mark>
      {text.slice(text.length - end)}
    </>
  );
}

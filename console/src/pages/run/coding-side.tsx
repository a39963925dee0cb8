import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { JSX } from 'react';
import { receiptQuery } from '../../api/receipts.ts';
import type { FidelityEntry, Receipt, RunRow } from '../../api/types.ts';
import { cost, count, duration, limit, shortId, whole } from '../../base/format.ts';
import { FateGlyph, FateStrip } from '../../components/fate/fate.tsx';
import { Icon } from '../../components/icon/icon.tsx';
import { ReceiptSlip } from '../../components/receipt-slip/receipt-slip.tsx';
import { Lines } from './step-view.tsx';
import type { FileChange } from './steps.ts';

const NANO = 1_000_000_000;

interface SideProps {
  readonly receipt: Receipt;
  /** The model calls, oldest first. */
  readonly rows: readonly RunRow[];
  readonly files: readonly FileChange[];
  /** Of the options: dollars that the run may cost. */
  readonly budgetUsd: number | undefined;
  readonly live: boolean;
  readonly hot: string | null;
  onHot(row: RunRow | null): void;
}

/** What a run cost, the calls it is made of, what did not arrive as it was, the files it changed, and its seal. */
export function CodingSide(props: SideProps): JSX.Element {
  const { receipt, rows } = props;
  return (
    <>
      <Cost {...props} />
      <Calls {...props} />
      <NotAsItWas receipt={receipt} newest={rows.findLast(({ mode }) => mode === 'mapped')} />
      <Files files={props.files} />
      <Rules receipt={receipt} />
      <div className="sec">
        {props.live ? (
          <p className="mute">
            <Icon name="seal" size={15} /> Sealed when the run ends
          </p>
        ) : (
          <ReceiptSlip receipt={receipt} />
        )}
      </div>
    </>
  );
}

function Cost({ receipt, rows, budgetUsd }: SideProps): JSX.Element {
  const priced = rows.filter(({ cost_nano_usd }) => cost_nano_usd !== null);
  const sum = receipt.cost?.nano_usd ?? priced.reduce((total, { cost_nano_usd }) => total + (cost_nano_usd ?? 0), 0);
  const known = priced.length > 0 || (receipt.cost !== null && receipt.cost !== undefined);
  const holds = receipt.enforcement === 'enforced' ? 'holds as a limit' : 'advisory: callers without a key are let in here';
  return (
    <section className="sec" aria-label="Cost">
      <div className="row">
        <h2 className="grow">Cost</h2>
        <code className="md">
          {known ? cost(sum) : 'no price'}
          {budgetUsd === undefined ? '' : ` of ${limit(budgetUsd * NANO)}`}
        </code>
      </div>
      {budgetUsd === undefined ? null : (
        <div className="bud" role="img" aria-label={`${cost(sum)} of ${limit(budgetUsd * NANO)}`}>
          <i style={{ width: `${Math.min(100, (sum / (budgetUsd * NANO)) * 100)}%` }} />
        </div>
      )}
      <p className="mute s">
        a list price, summed from {rows.length} {rows.length === 1 ? 'call' : 'calls'}
        {priced.length < rows.length ? `, ${rows.length - priced.length} without a price` : ''}
        {budgetUsd === undefined ? '' : `; ${holds}`}
      </p>
    </section>
  );
}

function Calls({ rows, hot, onHot }: SideProps): JSX.Element {
  const mapped = rows.filter(({ mode }) => mode === 'mapped').length;
  const [first] = rows;
  const how = mapped === 0 ? 'bytes equal' : mapped === rows.length ? `all ${rows.length} mapped` : `${mapped} mapped`;
  return (
    <section className="sec" aria-label="Model calls">
      <div className="row">
        <h2 className="grow">Model calls</h2>
        <span className="mute s">{first === undefined ? 'none yet' : `${how}, ${first.dialect} to ${first.engine}`}</span>
      </div>
      {rows.length === 0 ? null : (
        <table>
          <thead>
            <tr>
              <th>#</th>
              <th>Run</th>
              <th className="r">In / out</th>
              <th className="r">Total</th>
              <th className="r">Cost</th>
              <th>
                <span className="sr">Fidelity</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {rows
              .map((row, index) => ({ row, number: index + 1 }))
              .toReversed()
              .slice(0, 200)
              .map(({ row, number }) => (
                <tr
                  key={row.run_id}
                  className={row.run_id === hot ? 'm hot' : 'm'}
                  onMouseEnter={() => onHot(row)}
                  onMouseLeave={() => onHot(null)}
                >
                  <td className="mute">{number}</td>
                  <td>
                    <Link className="u" to="/runs/$run" params={{ run: row.run_id }}>
                      {shortId(row.run_id)}
                    </Link>
                  </td>
                  <td className="r nw">{row.tokens === null ? '–' : `${count(row.tokens.in)} / ${count(row.tokens.out)}`}</td>
                  <td className="r nw">{row.total_ms === null ? '' : duration(row.total_ms)}</td>
                  <td className="r">{row.cost_nano_usd === null ? '–' : cost(row.cost_nano_usd)}</td>
                  <td>{row.mode === 'passthrough' ? <Icon name="pass" label="bytes equal" /> : <FateStrip fates={row.fates} />}</td>
                </tr>
              ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

const isNews = ({ fate }: FidelityEntry): boolean => fate !== 'exact' && fate !== 'renamed';

/** Options of the run and fields of its calls that did not arrive as they were. The calls are alike; the newest one speaks for them. */
function NotAsItWas({ receipt, newest }: { readonly receipt: Receipt; readonly newest: RunRow | undefined }): JSX.Element | null {
  const call = useQuery({ ...receiptQuery(newest?.run_id ?? ''), enabled: newest !== undefined });
  const options = (receipt.fidelity ?? []).filter(isNews);
  // The receipt of a run that has ended sums its calls up itself.
  const summed = options.some(({ path }) => path.startsWith('calls['));
  const fields = summed ? [] : (call.data?.fidelity ?? []).filter(isNews);
  if (options.length + fields.length === 0) return null;
  return (
    <section className="sec" aria-label="What did not arrive as it was">
      <h2>What did not arrive as it was</h2>
      {[...options, ...fields].slice(0, 30).map(({ path, fate, note }) => (
        <div key={`${path}${fate}`} className="lost s">
          <FateGlyph fate={fate} word />
          <span>
            <code>{path}</code> {note === undefined ? '' : <span className="mute">{note}</span>}
          </span>
        </div>
      ))}
    </section>
  );
}

function Files({ files }: { readonly files: readonly FileChange[] }): JSX.Element | null {
  if (files.length === 0) return null;
  return (
    <section className="sec" aria-label="Files changed">
      <h2>{files.length === 1 ? 'One file changed' : `${whole(files.length)} files changed`}</h2>
      {files.slice(0, 200).map((file) => (
        <div key={file.path} className="row s file">
          <Icon name="file" />
          <code className="grow el" title={file.path}>
            {file.path}
          </code>
          <span className="mute">{file.what === 'changed' ? '' : file.what}</span>
          <Lines change={file} />
        </div>
      ))}
    </section>
  );
}

/** Rules that the run was held to, and who holds each. */
function Rules({ receipt }: { readonly receipt: Receipt }): JSX.Element | null {
  const rules = receipt.rules ?? [];
  if (rules.length === 0) return null;
  return (
    <section className="sec" aria-label="Rules">
      <h2>Rules</h2>
      {rules.map(({ rule, by, detail }) => (
        <div key={rule} className="row s">
          <code className="grow el" title={detail}>
            {rule}
          </code>
          <span className={by === 'advisory' ? 'warn' : 'mute'}>{by === 'advisory' ? 'held by nobody' : `held by ${by}`}</span>
        </div>
      ))}
    </section>
  );
}

import { useQueries, useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import type { JSX } from 'react';
import { receiptQuery, recordingQuery, stubOf, ticksOf } from '../../api/receipts.ts';
import type { Receipt } from '../../api/types.ts';
import { day, duration, many, shortId } from '../../base/format.ts';
import { useKeys } from '../../base/keys.ts';
import { useUrlState } from '../../base/url-state.ts';
import { Button, Empty, ErrorBand, Segmented, StatusGlyph } from '../../components/bits/bits.tsx';
import { Icon } from '../../components/icon/icon.tsx';
import { TimeBar, timesOf } from '../../components/time-bar/time-bar.tsx';
import { Bodies } from './bodies.tsx';
import { diffQuery, type Pair } from './data.ts';
import { differs, FACTS, isKnown } from './facts.tsx';
import { Work } from './work.tsx';
import './page.css';
import './compare.css';

function Nothing({ title, error = null }: { readonly title: string; readonly error?: unknown }): JSX.Element {
  return (
    <>
      <h1 className="sr">Compare</h1>
      <ErrorBand error={error} />
      <Empty title={title} />
    </>
  );
}

/** Where do these two differ? */
export function Page(): JSX.Element {
  const { a = '', b = '' } = useParams({ strict: false });
  const navigate = useNavigate();
  const [state, change] = useUrlState();
  const which = state.facts === 'differences' ? 'differences' : 'everything';
  const left = useQuery(receiptQuery(a));
  const right = useQuery(receiptQuery(b));
  const swap = (): void => void navigate({ to: '/runs/$a/vs/$b', params: { a: b, b: a } });
  const another = (): void => void navigate({ to: '/runs', search: { compare: a } });
  useKeys({ s: swap, c: another, escape: () => void navigate({ to: '/runs/$run', params: { run: a } }) });
  const error = left.error ?? right.error;
  const gone = [left.data, right.data].flatMap((one) => (one === undefined ? [] : (stubOf(one) ?? [])))[0];
  if (gone !== undefined)
    return <Nothing title={`${shortId(gone.run_id)} was ${gone.status} on ${day(gone.removed_at)}: there is nothing left to compare`} />;
  if (!left.data?.timing || !right.data?.timing)
    return <Nothing error={error} title={error === null ? 'Reading both receipts' : 'There are no two runs to compare.'} />;
  const pair = [left.data, right.data] as const;
  const facts = FACTS.filter((fact) => isKnown(fact, ...pair) && (which === 'everything' || differs(fact, ...pair)));
  return (
    <div className="p-compare fill">
      <div className="hd">
        <Link to="/runs" className="mute">
          Runs
        </Link>
        <span className="mute">/</span>
        <h1>Compare</h1>
        <span className="mute s hide-s">{summaryOf(left.data, right.data)}</span>
        <span className="grow" />
        <Segmented<'differences' | 'everything'>
          label="Which facts"
          value={which}
          onChange={(facts) => change({ facts: facts === 'everything' ? undefined : facts }, { replace: true })}
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
            <b>{whoOf(receipt)}</b>
            <code className="mute el">{receipt.model.upstream}</code>
            <span className="grow" />
            <Link className="m u" to="/runs/$run" params={{ run: receipt.run_id }}>
              {shortId(receipt.run_id)}
            </Link>
            <span className={receipt.seal ? 'ok' : 'mute'}>
              <Icon name="seal" label={receipt.seal ? 'sealed' : 'not sealed yet'} />
            </span>
          </div>
        ))}
      </div>
      <div className="scroll rest">
        <div className="facts">
          <table aria-label="Facts of both">
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
                    <td className="m">
                      <span className="val">
                        {fact.show(pair[1])} <small className={changed ? 'mute' : 'ok'}>{fact.beside?.(...pair)}</small>
                      </span>
                    </td>
                  </tr>
                );
              })}
            </tbody>
          </table>
        </div>
        <Times pair={pair} />
        {pair.some(({ plane }) => plane !== 'gateway') ? <Work pair={pair} /> : <Bodies pair={pair} />}
        {which === 'everything' ? <Members pair={pair} /> : null}
      </div>
    </div>
  );
}

/** Both on one scale. */
function Times({ pair }: { readonly pair: Pair }): JSX.Element {
  const all = pair.map(timesOf);
  const recordings = useQueries({ queries: pair.map((receipt) => recordingQuery(receipt)) });
  const most = Math.max(1, ...all.map((times) => times?.total ?? 0));
  return (
    <div className="times">
      {all.map((times, index) =>
        times === undefined ? null : (
          // biome-ignore lint/suspicious/noArrayIndexKey: left and right
          <div key={index} className="row">
            <code className="mute el name">{pair[index]?.model.upstream ?? shortId(pair[index]?.run_id ?? '')}</code>
            <div className="grow">
              <div style={{ width: `${(times.total / most) * 100}%` }}>
                <TimeBar times={times} ticks={ticksOf(recordings[index]?.data)} />
              </div>
            </div>
            <code>{duration(times.total)}</code>
          </div>
        ),
      )}
    </div>
  );
}

/** Who called whom, or which coding agent ran on what. */
function whoOf({ plane, backend, dialect, engine }: Receipt): string {
  if (plane !== 'run') return `${dialect} → ${engine}`;
  return `${backend.id.replace(/^adapter:/, '')} on ${engine ?? 'its own engine'}`;
}

/** What the two have in common, in a few words. */
function summaryOf(a: Receipt, b: Receipt): string {
  if (a.receipt_sha256 !== null && a.receipt_sha256 === b.receipt_sha256) return 'both did the same';
  const request = a.request?.sha256 === b.request?.sha256 && a.request !== null ? 'same request' : 'two requests';
  const model = a.model.upstream === b.model.upstream ? 'one model' : 'two models';
  return a.engine === b.engine ? `${request}, ${model}` : `${request}, two engines`;
}

const text = (value: unknown): string => (value === null ? 'none' : typeof value === 'string' ? value : JSON.stringify(value));

/** Every value in which the receipts differ, in the words of `abp receipts diff`: what the runs did, then what is of the moment. */
function Members({ pair }: { readonly pair: Pair }): JSX.Element {
  const diff = useQuery(diffQuery(pair));
  const of = (moment: boolean) => (diff.data?.members ?? []).filter((member) => member.of_the_moment === moment);
  return (
    <div className="facts members">
      <ErrorBand error={diff.error} />
      {[false, true].map((moment) => (
        <details key={String(moment)} open={!moment}>
          <summary>
            {moment ? 'Of the moment: ids, times, cost' : 'What the runs did'}, {many(of(moment).length, 'value')}{' '}
            {of(moment).length === 1 ? 'differs' : 'differ'}
          </summary>
          <table aria-label={moment ? 'Values of the moment' : 'What the runs did'}>
            <tbody>
              {of(moment).map(({ path, a, b }) => (
                <tr key={path} className="ch">
                  <th scope="row" className="k" title={path}>
                    {path}
                  </th>
                  <td className="m">{text(a)}</td>
                  <td className="m">{text(b)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </details>
      ))}
    </div>
  );
}

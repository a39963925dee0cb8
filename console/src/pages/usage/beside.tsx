import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { JSX } from 'react';
import { useBudgets } from '../../api/budgets.ts';
import type { RunRow } from '../../api/types.ts';
import { FATES } from '../../base/fates.ts';
import { whole } from '../../base/format.ts';
import { Locked } from '../../components/bits/bits.tsx';
import { BudgetBar } from '../../components/budget-bar/budget-bar.tsx';
import { FateGlyph } from '../../components/fate/fate.tsx';
import { Icon } from '../../components/icon/icon.tsx';
import { fatesQuery, ofKey, REFUSED, refusalsQuery, sinceOf, sum } from './data.ts';

/** Budgets with today’s mark and where they end at this pace. */
export function Budgets(): JSX.Element {
  const { budgets, may } = useBudgets();
  return (
    <section className="sec" aria-label="Budgets">
      <div className="row">
        <h2 className="grow">Budgets</h2>
        <Link className="btn sm" to="/settings/$section" params={{ section: 'budgets' }}>
          <Icon name="plus" size={12} /> Budget
        </Link>
      </div>
      {may ? null : <Locked what="Reading budgets" />}
      {budgets?.length === 0 ? (
        <p className="note">None is set. A budget holds a key, a team, a tag, an agent or an engine to a limit.</p>
      ) : null}
      {budgets?.map(({ budget, name }) => (
        <BudgetBar key={budget.id} budget={budget} name={name} />
      ))}
    </section>
  );
}

const calls = (many: number): string => `${whole(many)} ${many === 1 ? 'call' : 'calls'}`;

/** What mapping left out of calls that went through. */
export function LeftOut({ span }: { readonly span: number }): JSX.Element {
  const fates = useQuery(fatesQuery(span));
  const rows = (fates.data?.groups ?? []).filter(({ key }) => key.fate === 'emulated' || key.fate === 'dropped');
  return (
    <section className="sec">
      <h2>What mapping left out</h2>
      {rows.map(({ key, runs }) => (
        <Link
          key={JSON.stringify(key)}
          className="row s lost"
          to="/runs"
          search={{ fate: key.fate ?? undefined, engine: key.engine ?? undefined, since: sinceOf(span) }}
        >
          <FateGlyph fate={FATES.find((fate) => fate === key.fate) ?? 'dropped'} word />
          <span>
            {calls(sum(runs))} to {key.engine} <span className="u">See them</span>
          </span>
        </Link>
      ))}
      {rows.length === 0 ? <p className="note">Nothing in this time.</p> : null}
    </section>
  );
}

/** Calls that were refused before anything was spent: how many, and of the newest the reason, the key and the engine. */
export function Refused({ span }: { readonly span: number }): JSX.Element {
  const refusals = useQuery(refusalsQuery(span));
  const total = sum((refusals.data?.total.groups ?? []).map(({ runs }) => sum(runs)));
  const newest = refusals.data?.newest.items ?? [];
  const reasons = reasonsOf(newest);
  return (
    <section className="sec" aria-label="Refused before spending">
      <h2>Refused before spending</h2>
      <p>
        <b className="large">{whole(total)}</b>{' '}
        <span className="note">{total === 1 ? 'call' : 'calls'} would have lost a field that matters</span>
      </p>
      {reasons.slice(0, MOST_REASONS).map(({ row, many }) => (
        <Link key={row.run_id} className="row s lost" to="/runs" search={{ ...searchOf(row), since: sinceOf(span) }}>
          <code className="mute">{row.error?.code ?? 'removed'}</code>
          <span>
            {row.error?.message ?? 'The content of the receipt was removed'}
            <span className="by mute">
              {whole(many)}, {keyOf(row)} to {row.engine}
            </span>
          </span>
        </Link>
      ))}
      {reasons.length > MOST_REASONS ? <p className="note">And {whole(reasons.length - MOST_REASONS)} more, of fewer calls.</p> : null}
      {newest.length < total ? <p className="note">Reasons are those of the newest {whole(newest.length)}.</p> : null}
    </section>
  );
}

const MOST_REASONS = 6;
/** The most that a list of runs takes as a text to look for. */
const MOST_TEXT = 200;

/** Refusals that say the same of the same key and engine, those of most calls first. */
function reasonsOf(rows: readonly RunRow[]): readonly { readonly row: RunRow; readonly many: number }[] {
  const found = Map.groupBy(rows, ({ error, key_id: key, engine }) => JSON.stringify([error, key, engine]));
  return [...found.values()]
    .flatMap(([row, ...others]) => (row === undefined ? [] : [{ row, many: others.length + 1 }]))
    .toSorted((one, other) => other.many - one.many);
}

function searchOf({ engine, error, key_id: key }: RunRow): Readonly<Record<string, string | undefined>> {
  return { ...REFUSED, engine: engine ?? undefined, ...ofKey(key), q: error?.message.slice(0, MOST_TEXT) };
}

/** Calls of a run carry a key that lives as long as the run and has no name. */
function keyOf({ key_id: id, key_name: name, parent_run_id: parent }: RunRow): string {
  return name ?? (id === null ? 'without a key' : parent === null ? id : 'a run');
}

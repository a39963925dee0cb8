import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { JSX } from 'react';
import { useBudgets } from '../../api/budgets.ts';
import { FATES } from '../../base/fates.ts';
import { whole } from '../../base/format.ts';
import { Locked } from '../../components/bits/bits.tsx';
import { BudgetBar } from '../../components/budget-bar/budget-bar.tsx';
import { FateGlyph } from '../../components/fate/fate.tsx';
import { Icon } from '../../components/icon/icon.tsx';
import { fatesQuery, ofKey, refusalsQuery, sinceOf, sum } from './data.ts';

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

/** Calls that were refused before anything was spent, by error, key and engine. */
export function Refused({ span }: { readonly span: number }): JSX.Element {
  const refusals = useQuery(refusalsQuery(span));
  const groups = refusals.data?.groups ?? [];
  const total = sum(groups.map(({ runs }) => sum(runs)));
  return (
    <section className="sec">
      <h2>Refused before spending</h2>
      <p>
        <b className="large">{whole(total)}</b>{' '}
        <span className="note">{total === 1 ? 'call' : 'calls'} would have lost a field that matters</span>
      </p>
      {groups.slice(0, 6).map(({ key, runs }) => (
        <Link
          key={JSON.stringify(key)}
          className="row s lost"
          to="/runs"
          search={{ fate: 'refused', engine: key.engine ?? undefined, ...ofKey(key.key), since: sinceOf(span) }}
        >
          <code className="mute">{key.error}</code>
          <span>
            {whole(sum(runs))}, {key.key === null || key.key === undefined ? 'without a key' : (refusals.data?.names?.[key.key] ?? key.key)}{' '}
            to {key.engine}
          </span>
        </Link>
      ))}
    </section>
  );
}

import type { Budgets } from '../../api/types.ts';
import type { Specimen } from '../../base/specimen.ts';
import { BudgetBar, SpentBar } from './budget-bar.tsx';

type Budget = Budgets['items'][number];

const DAY_MS = 86_400_000;
const from = (days: number): string => new Date(Date.now() + days * DAY_MS).toISOString();
const NONE = { nano_usd: 0, tokens: 0, requests: 0 };

/** A month of which two thirds are over. */
const budget = (spent: number, more: Partial<Budget> = {}): Budget => ({
  id: 'budget_1',
  on: { key: 'key_1' },
  period: 'month',
  limit_nano_usd: 60_000_000_000,
  action: 'refuse',
  source: 'api',
  spent: { ...NONE, nano_usd: spent * 1e9 },
  reserved: NONE,
  unpriced_requests: 0,
  period_start: from(-20),
  resets_at: from(10),
  created_at: from(-20),
  ...more,
});

export const states: readonly Specimen[] = [
  { name: 'ends below its limit', shows: <BudgetBar name="docs-team" budget={budget(20)} /> },
  { name: 'reached at this pace', shows: <BudgetBar name="ci-nightly" budget={budget(48.2)} /> },
  { name: 'used up', shows: <BudgetBar name="search-svc" budget={budget(61)} /> },
  { name: 'used up, only told', shows: <BudgetBar name="search-svc" budget={budget(61, { action: 'warn' })} /> },
  { name: 'without an end', shows: <BudgetBar name="project:clerk" budget={budget(8, { period_start: null, resets_at: null })} /> },
  {
    name: 'short, with a long name',
    shows: (
      <div className="column">
        <BudgetBar short name={'a-team-with-a-very-long-name-'.repeat(4)} budget={budget(48)} />
      </div>
    ),
  },
  {
    name: 'of one run: without a limit, with one, nearly spent',
    shows: (
      <p className="row">
        <SpentBar spent={190_000_000} limit={null} /> <SpentBar spent={190_000_000} limit={500_000_000} />{' '}
        <SpentBar spent={1_900_000_000} limit={2_000_000_000} />
      </p>
    ),
  },
];

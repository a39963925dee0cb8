import type { JSX } from 'react';
import type { Budgets } from '../../api/types.ts';
import { cost, count, day, limit as limitWords, whole } from '../../base/format.ts';
import './budget-bar.css';

type Budget = Budgets['items'][number];

interface Amount {
  readonly spent: number;
  readonly limit: number;
  format(value: number): string;
  /** A limit is what somebody set, to the cent. */
  formatLimit(value: number): string;
}

/** The limit that is nearest to its end: of dollars, tokens or requests. */
function amountOf({ spent, limit_nano_usd, limit_tokens, limit_requests }: Budget): Amount {
  const tokens = (value: number): string => `${count(Math.round(value))} tokens`;
  const calls = (value: number): string => `${whole(Math.round(value))} calls`;
  const all: Amount[] = [
    { spent: spent.nano_usd, limit: limit_nano_usd ?? 0, format: cost, formatLimit: limitWords },
    { spent: spent.tokens, limit: limit_tokens ?? 0, format: tokens, formatLimit: tokens },
    { spent: spent.requests, limit: limit_requests ?? 0, format: calls, formatLimit: calls },
  ].filter(({ limit }) => limit > 0);
  return all.toSorted((a, b) => b.spent / b.limit - a.spent / a.limit)[0] ?? { spent: 0, limit: 1, format: whole, formatLimit: whole };
}

interface Pace {
  /** How much of the period is over, from 0 to 1; null for a budget without an end. */
  readonly elapsed: number | null;
  readonly words: string;
  readonly tone: 'mute' | 'warn' | 'bad';
}

/** Too little of a period says nothing about its end. */
const LEAST_ELAPSED = 0.02;

function paceOf({ period_start: start, resets_at: end, action }: Budget, { spent, limit, format }: Amount, now: number): Pace {
  if (spent >= limit)
    return {
      elapsed: elapsedOf(start, end, now),
      words: action === 'refuse' ? 'used up; calls are refused' : 'used up; only told',
      tone: 'bad',
    };
  const elapsed = elapsedOf(start, end, now);
  if (elapsed === null || start === null || end === null) return { elapsed, words: 'has no end', tone: 'mute' };
  if (elapsed < LEAST_ELAPSED || spent === 0) return { elapsed, words: `until ${day(end)}`, tone: 'mute' };
  const atEnd = spent / elapsed;
  if (atEnd <= limit) return { elapsed, words: `ends at about ${format(atEnd)}`, tone: 'mute' };
  const reached = Date.parse(start) + (now - Date.parse(start)) * (limit / spent);
  return { elapsed, words: `reached on ${day(reached)} at this pace, ends at about ${format(atEnd)}`, tone: 'warn' };
}

function elapsedOf(start: string | null, end: string | null, now: number): number | null {
  if (start === null || end === null) return null;
  return Math.min(1, Math.max(0, (now - Date.parse(start)) / (Date.parse(end) - Date.parse(start))));
}

/** What is spent of a budget, where the period stands today, and where it ends at this pace. */
export function BudgetBar({
  budget,
  name,
  short = false,
}: {
  readonly budget: Budget;
  readonly name: string;
  readonly short?: boolean;
}): JSX.Element {
  const amount = amountOf(budget);
  const pace = paceOf(budget, amount, Date.now());
  const share = Math.min(1, amount.spent / amount.limit);
  const [kind = ''] = Object.keys(budget.on);
  const words = `${amount.format(amount.spent)} of ${amount.formatLimit(amount.limit)}`;
  return (
    <div className={short ? 'budget-bar short' : 'budget-bar'}>
      <span className="el">
        {name} {short ? null : <span className="mute s">{kind}</span>}
      </span>
      <div className={`track ${pace.tone}`} role="img" aria-label={`${name}: ${words}, ${pace.words}`}>
        <i style={{ width: `${share * 100}%` }} />
        {pace.elapsed === null ? null : <b style={{ left: `${pace.elapsed * 100}%` }} title="today" />}
      </div>
      <code className="nw">{words}</code>
      {short ? null : <span className={`xs ${pace.tone}`}>{pace.words}</span>}
    </div>
  );
}

/** What is spent of the limit of one run: a short bar with its words. */
export function SpentBar({ spent, limit }: { readonly spent: number | null; readonly limit: number | null }): JSX.Element {
  if (limit === null) return <code className="nw">{spent === null ? '–' : cost(spent)}</code>;
  const share = Math.min(1, (spent ?? 0) / limit);
  return (
    <span className="spent-bar">
      <span className={share >= 0.8 ? 'track warn' : 'track'} aria-hidden="true">
        <i style={{ width: `${share * 100}%` }} />
      </span>
      <code className="nw">
        {spent === null ? '$0' : cost(spent)} of {limitWords(limit)}
      </code>
    </span>
  );
}

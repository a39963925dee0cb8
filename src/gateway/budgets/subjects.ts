import { hash } from 'node:crypto';
import { type Budget, type BudgetTerms, budgetOf, PERIODS, SUBJECTS } from '../../calls/budgets/budget.ts';
import { UNKEYED } from '../../calls/call.ts';
import { findEngine } from '../../engines/index.ts';
import type { BudgetsTable } from '../../store/budgets/budget-schema.ts';
import { damaged } from '../../store/text.ts';
import type { SpentOn } from '../../store/usage/spent.ts';

const ADAPTER = 'adapter:';

/** The budget of these terms, for its subject as calls name it: an engine by its id, a coding agent without the kind of backend that it is. */
function budgetFor(id: string, terms: BudgetTerms): Budget {
  const budget = budgetOf(id, terms);
  const { kind, id: name } = budget.on;
  if (kind === 'engine') return { ...budget, on: { kind, id: findEngine(name)?.id ?? name } };
  if (kind === 'agent' && name.startsWith(ADAPTER)) return { ...budget, on: { kind, id: name.slice(ADAPTER.length) } };
  return budget;
}

/** A budget as it is stored. */
export function rowOf({ on, period, action, ...limits }: BudgetTerms, createdAt: number): Omit<BudgetsTable, 'id'> {
  const { on: subject } = budgetFor('', { on, period, action });
  return {
    on_kind: subject.kind,
    on_id: subject.id,
    period,
    limit_nano_usd: limits.limit_nano_usd ?? null,
    limit_tokens: limits.limit_tokens ?? null,
    limit_requests: limits.limit_requests ?? null,
    action,
    created_at: createdAt,
  };
}

/** The budget of a row. */
export function storedBudget(row: BudgetsTable): Budget {
  const kind = SUBJECTS.find((one) => one === row.on_kind);
  const period = PERIODS.find((one) => one === row.period);
  if (kind === undefined || period === undefined) throw damaged('budget', `${row.on_kind} ${row.period}`);
  return budgetFor(row.id, {
    on: { [kind]: row.on_id },
    period,
    action: row.action === 'warn' ? 'warn' : 'refuse',
    limit_nano_usd: row.limit_nano_usd ?? undefined,
    limit_tokens: row.limit_tokens ?? undefined,
    limit_requests: row.limit_requests ?? undefined,
  });
}

/** The budgets of the configuration. Each keeps its id while it is for the same, has the same period, and is the same one of several such. */
export function configuredBudgets(all: readonly BudgetTerms[]): Budget[] {
  const count = new Map<string, number>();
  return all.map((terms) => {
    const { on, period } = budgetFor('', terms);
    const name = `${on.kind} ${on.id} ${period}`;
    const before = count.get(name) ?? 0;
    count.set(name, before + 1);
    return budgetFor(`budget_${hash('sha256', before === 0 ? name : `${name} ${before}`, 'hex').slice(0, 32)}`, terms);
  });
}

/** Whose calls count for a budget. `keysOf`: the keys of a user or a team. */
export function spentOn({ kind, id }: Budget['on'], keysOf: (kind: 'user' | 'team', id: string) => readonly string[]): SpentOn {
  switch (kind) {
    case 'key':
      return { keys: [id === UNKEYED ? '' : id] };
    case 'engine':
      return { engine: id };
    case 'tag':
      return { tag: id };
    case 'agent':
      return { agent: { id, tag: `agent:${id}` } };
    case 'user':
    case 'team':
      return { keys: keysOf(kind, id) };
  }
}

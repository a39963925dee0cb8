import { useQuery } from '@tanstack/react-query';
import { budgetsQuery, keysQuery, sessionQuery } from './queries.ts';
import type { Budgets } from './types.ts';

export interface NamedBudget {
  readonly budget: Budgets['items'][number];
  /** The name of the key, else what the budget is on. */
  readonly name: string;
}

/** All budgets with the names of their keys; undefined while they are read, or where the caller may not read them. */
export function useBudgets(): { readonly budgets: readonly NamedBudget[] | undefined; readonly may: boolean } {
  const session = useQuery(sessionQuery);
  const may = session.data?.scopes.includes('settings') === true;
  const budgets = useQuery({ ...budgetsQuery, enabled: may });
  const keys = useQuery({ ...keysQuery, enabled: may });
  const names = new Map(keys.data?.items.map(({ id, name }) => [id, name]));
  const named = budgets.data?.items.map((budget) => {
    const [subject = ''] = Object.values(budget.on);
    return { budget, name: names.get(subject) ?? subject };
  });
  return { budgets: named, may };
}

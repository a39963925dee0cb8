import { uuidv7Hex } from '../../base/ids.ts';
import type { Store } from '../store.ts';
import { storableText } from '../text.ts';
import type { BudgetsTable } from './budget-schema.ts';

/** All budgets, the oldest first. There are as many as people have made by hand. */
export async function listBudgets(store: Store): Promise<BudgetsTable[]> {
  return await store.db.selectFrom('budgets').selectAll().orderBy('created_at').orderBy('id').execute();
}

export async function createBudget(store: Store, budget: Omit<BudgetsTable, 'id'>): Promise<BudgetsTable> {
  const row = { ...budget, id: `budget_${uuidv7Hex()}`, on_id: storableText(budget.on_id) };
  await store.db.insertInto('budgets').values(row).execute();
  return row;
}

/** The columns that may change; for whom it is and its period make another budget. */
export type BudgetChange = {
  readonly [K in 'limit_nano_usd' | 'limit_tokens' | 'limit_requests' | 'action']?: BudgetsTable[K] | undefined;
};

export async function changeBudget(store: Store, id: string, change: BudgetChange): Promise<void> {
  if (Object.values(change).every((value) => value === undefined)) return;
  await store.db.updateTable('budgets').set(change).where('id', '=', storableText(id)).execute();
}

/** False when there is no such budget. */
export async function deleteBudget(store: Store, id: string): Promise<boolean> {
  const { numDeletedRows } = await store.db.deleteFrom('budgets').where('id', '=', storableText(id)).executeTakeFirst();
  await store.db.deleteFrom('budget_grants').where('budget', '=', storableText(id)).execute();
  return numDeletedRows === 1n;
}

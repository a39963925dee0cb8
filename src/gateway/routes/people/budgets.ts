import { isoTime } from '../../../base/clock.ts';
import type { Amounts } from '../../../calls/budgets/budget.ts';
import { AbpError } from '../../../contract/errors.ts';
import { BudgetChange, BudgetList, BudgetParams, BudgetView, NewBudget } from '../../api/budgets.ts';
import type { KeptBudget } from '../../budgets/budget-book.ts';
import { Reply } from '../../reply.ts';
import { defineRoute } from '../../route.ts';

function view({ budget: { id, on, period, limits, action }, page, createdAt }: KeptBudget): BudgetView {
  const { start, end } = page.window;
  return {
    id,
    on: { [on.kind]: on.id },
    period,
    ...(limits.nanoUsd === undefined ? {} : { limit_nano_usd: limits.nanoUsd }),
    ...(limits.tokens === undefined ? {} : { limit_tokens: limits.tokens }),
    ...(limits.requests === undefined ? {} : { limit_requests: limits.requests }),
    action,
    source: createdAt === null ? 'configuration' : 'api',
    spent: amountsView(page.spent),
    reserved: amountsView(page.reserved),
    unpriced_requests: page.unpriced,
    period_start: start === 0 ? null : isoTime(start),
    resets_at: Number.isFinite(end) ? isoTime(end) : null,
    created_at: createdAt === null ? null : isoTime(createdAt),
  };
}

function amountsView({ nanoUsd, tokens, requests }: Readonly<Amounts>): BudgetView['spent'] {
  return { nano_usd: nanoUsd, tokens, requests };
}

/** A budget that would hold nothing any more is a mistake. */
function assertHolds({ budget: { id, limits } }: KeptBudget, change: BudgetChange): void {
  const after = { limit_nano_usd: limits.nanoUsd, limit_tokens: limits.tokens, limit_requests: limits.requests, ...change };
  const left = [after.limit_nano_usd, after.limit_tokens, after.limit_requests].some((limit) => limit !== undefined && limit !== null);
  if (!left) throw new AbpError('unprocessable', `The budget ${id} would have no limit left; delete it instead.`, { budget: id });
}

export const budgetRoutes = [
  defineRoute({
    method: 'POST',
    path: '/v1/budgets',
    summary: 'A new budget. It counts what was spent in its period before, and holds from the next call on.',
    audit: { action: 'budget.create', body: true },
    body: NewBudget,
    response: BudgetView,
    handle: async ({ gateway, body }) => new Reply(201, view(await gateway.budgets.create(body))),
  }),
  defineRoute({
    method: 'GET',
    path: '/v1/budgets',
    summary: 'All budgets, with what is spent and reserved of them.',
    response: BudgetList,
    handle: async ({ gateway }) => ({ items: (await gateway.budgets.list()).map(view) }),
  }),
  defineRoute({
    method: 'GET',
    path: '/v1/budgets/{id}',
    summary: 'One budget.',
    params: BudgetParams,
    response: BudgetView,
    handle: async ({ gateway, params }) => view(await gateway.budgets.get(params.id)),
  }),
  defineRoute({
    method: 'PATCH',
    path: '/v1/budgets/{id}',
    summary: 'Changes the limits or the action of a budget. What is spent stays spent.',
    audit: { action: 'budget.change', body: true },
    params: BudgetParams,
    body: BudgetChange,
    response: BudgetView,
    handle: async ({ gateway, params, body }) => {
      assertHolds(await gateway.budgets.get(params.id), body);
      return view(await gateway.budgets.change(params.id, body));
    },
  }),
  defineRoute({
    method: 'DELETE',
    path: '/v1/budgets/{id}',
    summary: 'Deletes a budget.',
    audit: { action: 'budget.delete' },
    params: BudgetParams,
    handle: async ({ gateway, params }) => {
      await gateway.budgets.remove(params.id);
      return new Reply(204, undefined);
    },
  }),
];

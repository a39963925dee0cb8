import { Readable } from 'node:stream';
import {
  Forecast,
  ForecastQuery,
  RowStreamQuery,
  type RunListOrRowsQuery,
  type RunRowList,
  Usage,
  UsageQuery,
} from '../../api/run-rows.ts';
import { may, seenOnly } from '../../auth/access.ts';
import type { Principal } from '../../auth/principal.ts';
import type { Gateway } from '../../gateway.ts';
import { Reply } from '../../reply.ts';
import { defineRoute } from '../../route.ts';
import { isPlace } from '../../rows/chain-places.ts';
import { withKeyId } from '../../rows/find-rows.ts';
import { forecast } from '../../rows/forecast.ts';
import { withLiveFacts } from '../../rows/live-rows.ts';
import { pageOfRows } from '../../rows/row-page.ts';
import { rowEvents } from '../../rows/row-stream.ts';
import { usageOf } from '../../rows/usage.ts';

const PAGE = 60;

/** A page of runs with what a list shows of each. */
export async function runRows(gateway: Gateway, principal: Principal, query: RunListOrRowsQuery): Promise<RunRowList> {
  const { view: _view, before, limit = PAGE, ...rest } = query;
  const until = before === undefined ? rest.until : Math.min(before, rest.until ?? before);
  const { items, ...page } = await pageOfRows(gateway.store, { ...seenOnly(principal, rest), until, limit });
  return { ...page, items: await withLiveFacts(gateway, items) };
}

export const runRowRoutes = [
  defineRoute({
    method: 'GET',
    path: '/v1/runs/stream',
    summary: 'Server-sent events: lines of the caller’s runs as they begin, go on and end. Last-Event-ID goes on after that one.',
    query: RowStreamQuery,
    handle: async ({ gateway, principal, query: { after: asked, ...query }, headers }) => {
      const filter = await withKeyId(gateway.store, seenOnly(principal, query));
      const last = asked ?? String(headers['last-event-id'] ?? '');
      const after = isPlace(last) ? last : undefined;
      return new Reply(200, Readable.from(rowEvents(gateway, principal, filter, after)), {
        'content-type': 'text/event-stream; charset=utf-8',
        'cache-control': 'no-store',
      });
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/v1/usage',
    summary: 'What calls came to: how many, tokens, cost and durations, by group and by time. Runs made of calls are not counted twice.',
    query: UsageQuery,
    response: Usage,
    handle: async ({ gateway, principal, query }) => {
      const { key, keys, unkeyed } = await withKeyId(gateway.store, seenOnly(principal, { key: query.key, unkeyed: query.unkeyed }));
      return await usageOf(gateway.store, query, { key, keys, unkeyed });
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/v1/usage/forecast',
    summary:
      'If calls of the past had gone elsewhere: what their tokens would have cost, and what of the newest recorded requests would have been refused or lost. Nobody is called.',
    query: ForecastQuery,
    response: Forecast,
    handle: async ({ gateway, principal, query }) => {
      const { key, keys, unkeyed } = await withKeyId(gateway.store, seenOnly(principal, { key: query.key, unkeyed: query.unkeyed }));
      const { engine, tag } = query;
      const recordings = may(principal, 'bodies') ? { engine, tag, key, keys, unkeyed } : undefined;
      return await forecast(gateway, { query, own: { key, keys, unkeyed }, recordings });
    },
  }),
];

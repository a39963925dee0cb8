import { Readable } from 'node:stream';
import { encodeSse } from '../../base/sse.ts';
import type { RunId } from '../../contract/run-id.ts';
import { RunEventsQuery, RunParams } from '../api/runs.ts';
import type { Gateway } from '../gateway.ts';
import { Reply } from '../reply.ts';
import { defineRoute } from '../route.ts';
import { runServiceOf } from '../run-plane/runs.ts';
import { readableRun } from './runs.ts';

/** Proxies close connections that are silent for half a minute. */
const KEEP_ALIVE_MS = 15_000;
/** A reader is given so many characters at a time, and more when it has taken them. */
const PIECE = 64 * 1024;

/** The events of a run, each under its number, and last its result. */
async function* eventText(gateway: Gateway, run: RunId, after: number): AsyncGenerator<string> {
  const service = await runServiceOf(gateway);
  const left = new AbortController();
  const signal = AbortSignal.any([gateway.closing, left.signal]);
  const pages = service.events(run, after, signal)[Symbol.asyncIterator]();
  try {
    for (let next = pages.next(); ; ) {
      const page = await within(KEEP_ALIVE_MS, next);
      if (page === undefined) {
        yield ': waiting\n\n';
        continue;
      }
      if (page.done === true) break;
      next = pages.next();
      // A page may hold long texts; the reader gets it in pieces that it can take.
      let text = '';
      for (const { sequence, event } of page.value) {
        text += encodeSse({ id: String(sequence), event: event.type, data: JSON.stringify(event) });
        if (text.length < PIECE) continue;
        yield text;
        text = '';
      }
      if (text !== '') yield text;
    }
    const result = signal.aborted ? null : await service.result(run);
    if (result !== null) yield encodeSse({ event: 'run_result', data: JSON.stringify({ type: 'run_result', ...result }) });
  } finally {
    left.abort();
  }
}

/** Waits for a promise; undefined when it takes longer. */
async function within<T>(ms: number, promised: Promise<T>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), ms);
  });
  try {
    return await Promise.race([promised, late]);
  } finally {
    clearTimeout(timer);
  }
}

export const runEventRoutes = [
  defineRoute({
    method: 'GET',
    path: '/v1/runs/{run_id}/events',
    summary:
      'Server-sent events: what a run said from its beginning, then what it says, and last its result. Last-Event-ID goes on after that one.',
    params: RunParams,
    query: RunEventsQuery,
    handle: async ({ gateway, principal, params, query, headers }) => {
      const run = await readableRun(gateway, principal, params.run_id);
      const last = Number(headers['last-event-id']);
      const after = query.after ?? (Number.isSafeInteger(last) ? last : 0);
      return new Reply(200, Readable.from(eventText(gateway, run, after)), {
        'content-type': 'text/event-stream; charset=utf-8',
        'cache-control': 'no-store',
      });
    },
  }),
];

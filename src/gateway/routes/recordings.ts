import { Readable } from 'node:stream';
import { isoTime } from '../../base/clock.ts';
import type { JsonObject } from '../../base/json.ts';
import { AbpError } from '../../contract/errors.ts';
import { askErasures, erasuresLeft } from '../../store/recordings/erasures.ts';
import type { RecordedAnswer, RecordedRequest, Recording } from '../../store/recordings/recording.ts';
import { lineText } from '../../store/recordings/recording-line.ts';
import { getRecording, listRecordings, type RecordingFilter } from '../../store/recordings/recordings.ts';
import {
  BodyParams,
  Erased,
  EraseQuery,
  RecordingLine,
  RecordingList,
  RecordingListQuery,
  type RecordingView,
  RequestQuery,
  ResponseQuery,
} from '../api/recordings.ts';
import { maySee, maySteer, ownOnly, seenOnly } from '../auth/access.ts';
import type { Principal } from '../auth/principal.ts';
import type { Gateway } from '../gateway.ts';
import { Reply } from '../reply.ts';
import { defineRoute } from '../route.ts';
import { runIdOf } from '../run-plane/unknown-run.ts';

function view(recording: Recording): RecordingView {
  const { runId, startedAt, engine, model, request, response, replayable, redacted, keyId, tags, node } = recording;
  return {
    run_id: runId,
    started_at: isoTime(startedAt),
    engine,
    model,
    dialect: request.dialect,
    path: request.path,
    status: response?.status ?? null,
    request: request.body,
    response: response?.body ?? null,
    replayable,
    redacted,
    key_id: keyId,
    tags: [...tags],
    node,
  };
}

/** The recording of a run, as if there were none where the caller may not see it. */
async function visibleRecording(
  gateway: Gateway,
  principal: Principal,
  text: string,
  allowed: typeof maySee | typeof maySteer = maySee,
): Promise<Recording> {
  const run = runIdOf(text);
  const known = await getRecording(gateway.store, run);
  // A run that ended a moment ago is on its way to the store.
  if (known === undefined && gateway.calls.live.keyOf(run) !== undefined) await gateway.keeper.settled();
  const recording = known ?? (await getRecording(gateway.store, run));
  if (recording === undefined || !allowed(principal, recording.keyId) || (await erasuresLeft(gateway.store, [run])).size > 0) {
    throw new AbpError('not_found', `There are no recorded bodies of ${run}.`, { run_id: run, recording: 'none' });
  }
  return recording;
}

/** The recording of a run whose bodies are about to be read. A reader of somebody else's leaves a record. */
export async function readRecording(gateway: Gateway, principal: Principal, text: string, details: JsonObject): Promise<Recording> {
  const recording = await visibleRecording(gateway, principal, text);
  await gateway.audit.reads(principal, recording.keyId, { action: 'body.read', target: recording.runId, details });
  return recording;
}

/** The recorded bytes exactly, under the content type and encoding they had. */
async function bodyReply(gateway: Gateway, recording: Recording, part: RecordedRequest | RecordedAnswer | null): Promise<Reply> {
  const { runId, node } = recording;
  if (part === null) throw new AbpError('not_found', `${runId} has no such body.`, { run_id: runId });
  const bytes = await gateway.shelf.read(part.body);
  if (bytes === undefined) {
    const where = node === gateway.home.nodeId ? 'has expired' : `is on the node ${node}`;
    throw new AbpError('not_found', `The recorded body of ${runId} ${where}.`, { run_id: runId, node });
  }
  const encoding = recording.redacted ? undefined : headerOf(part.headers, 'content-encoding');
  return new Reply(200, bytes, {
    'content-type': headerOf(part.headers, 'content-type') ?? 'application/octet-stream',
    ...(encoding === undefined ? {} : { 'content-encoding': encoding }),
    // A model's words must not run as a page of this server.
    'x-content-type-options': 'nosniff',
    'content-security-policy': "default-src 'none'; sandbox",
  });
}

function headerOf(headers: readonly string[], name: string): string | undefined {
  const at = headers.findIndex((header, index) => index % 2 === 0 && header.toLowerCase() === name);
  return at === -1 ? undefined : headers[at + 1];
}

/** The key of a run is in the hands of its agent, which must not take away what was recorded of it. */
function assertMayErase(principal: Principal): void {
  if (principal.kind === 'key' && principal.key.kind === 'run')
    throw new AbpError('forbidden', 'The key of a run may not erase what was recorded.', { scope: 'erase' });
}

/** A run and the node that has its bodies. */
type Held = Pick<Recording, 'runId' | 'node'>;

async function heldRuns(gateway: Gateway, filter: RecordingFilter): Promise<readonly Held[]> {
  const runs: Held[] = [];
  for (let cursor: string | undefined, first = true; first || cursor !== undefined; first = false) {
    const page = await listRecordings(gateway.store, { ...filter, limit: 1000, cursor });
    runs.push(...page.items.map(({ runId, node }) => ({ runId, node })));
    cursor = page.next_cursor;
  }
  return runs;
}

/** Other nodes look once a second for what they are to erase. */
const ELSEWHERE_MS = 5000;
const LOOK_MS = 100;

/**
 * Erases bodies, wherever they are: those of other nodes by an order that waits for them in the database. From then on nobody reads them;
 * what they have not erased after a few seconds is `elsewhere`, and goes when they are back.
 */
async function erase(gateway: Gateway, held: readonly Held[]): Promise<{ readonly erased: number; readonly elsewhere: number }> {
  const others = held.filter(({ node }) => node !== gateway.home.nodeId);
  await askErasures(gateway.store, others);
  const own = await gateway.keeper.eraseBodies(held.filter(({ node }) => node === gateway.home.nodeId).map(({ runId }) => runId));
  const left = async (): Promise<number> =>
    (
      await erasuresLeft(
        gateway.store,
        others.map(({ runId }) => runId),
      )
    ).size;
  const until = performance.now() + ELSEWHERE_MS;
  let elsewhere = others.length === 0 ? 0 : await left();
  while (elsewhere > 0 && performance.now() < until) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    elsewhere = await left();
  }
  return { erased: own + others.length - elsewhere, elsewhere };
}

const bodyRoutes = [
  defineRoute({
    method: 'GET',
    path: '/v1/receipts/{run_id}/request',
    summary: 'The recorded request body of a run, byte for byte.',
    params: BodyParams,
    query: RequestQuery,
    handle: async ({ gateway, principal, params, query }) => {
      const recording = await readRecording(gateway, principal, params.run_id, { part: 'request', side: query.side });
      return await bodyReply(gateway, recording, query.side === 'caller' ? recording.request : (recording.sent ?? recording.request));
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/v1/receipts/{run_id}/response',
    summary: 'The recorded response body of a run, byte for byte.',
    params: BodyParams,
    query: ResponseQuery,
    handle: async ({ gateway, principal, params, query }) => {
      const recording = await readRecording(gateway, principal, params.run_id, { part: 'response', side: query.side });
      const delivered = recording.delivered ?? recording.response;
      return await bodyReply(gateway, recording, query.side === 'engine' ? recording.response : delivered);
    },
  }),
  defineRoute({
    method: 'DELETE',
    path: '/v1/receipts/{run_id}/bodies',
    summary:
      'Erases the recorded bodies of a run; its receipt stays. 204 when they are gone; 202 where another node has them and is away: nobody reads them any more, and that node erases them when it is back.',
    audit: { action: 'body.erase' },
    params: BodyParams,
    response: Erased,
    handle: async ({ gateway, principal, params }) => {
      assertMayErase(principal);
      const { runId, node } = await visibleRecording(gateway, principal, params.run_id, maySteer);
      const told = await erase(gateway, [{ runId, node }]);
      return told.elsewhere === 0 ? new Reply(204, undefined) : new Reply(202, told);
    },
  }),
];

export const recordingRoutes = [
  ...bodyRoutes,
  defineRoute({
    method: 'GET',
    path: '/v1/recordings',
    summary: 'Recorded runs, newest first; a caller sees its own.',
    query: RecordingListQuery,
    response: RecordingList,
    handle: async ({ gateway, principal, query }) => {
      const page = await listRecordings(gateway.store, seenOnly(principal, query));
      return { items: page.items.map(view), ...(page.next_cursor === undefined ? {} : { next_cursor: page.next_cursor }) };
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/v1/recordings/{run_id}',
    summary: 'A recorded run with its bodies: a line of the file that the engine replay serves from.',
    params: BodyParams,
    response: RecordingLine,
    handle: async ({ gateway, principal, params }) => {
      const recording = await readRecording(gateway, principal, params.run_id, { part: 'all' });
      const line = await lineText(gateway.shelf, recording);
      if (line === undefined) throw new AbpError('not_found', `The recorded bodies of ${recording.runId} are gone.`);
      return new Reply(200, Readable.from(line), { 'content-type': 'application/json; charset=utf-8' });
    },
  }),
  defineRoute({
    method: 'DELETE',
    path: '/v1/recordings',
    summary: 'Erases recorded bodies by key, tag or engine; the receipts stay.',
    audit: { action: 'body.erase' },
    query: EraseQuery,
    response: Erased,
    handle: async ({ gateway, principal, query: { all: _all, ...filter } }) => {
      assertMayErase(principal);
      return await erase(gateway, await heldRuns(gateway, ownOnly(principal, filter)));
    },
  }),
];

import type { Answer } from '../../../calls/answers/answer.ts';
import { callVendor } from '../../../calls/vendor/call-vendor.ts';
import type { VendorCall } from '../../../calls/vendor/vendor-call.ts';
import { AbpError } from '../../../contract/errors.ts';
import type { RunId } from '../../../contract/run-id.ts';
import { findDialect } from '../../../dialects/index.ts';
import { matchPath } from '../../../dialects/paths.ts';
import { chooseEngine, unknownEngine } from '../../../engines/index.ts';
import { getReceipt } from '../../../store/receipts/receipts.ts';
import type { Recording } from '../../../store/recordings/recording.ts';
import { BodyParams, Replayed, ReplayRequest } from '../../api/recordings.ts';
import { assertMayCall } from '../../auth/access.ts';
import { type Principal, shareOf } from '../../auth/principal.ts';
import { textOf } from '../../door/request-body.ts';
import { parseTarget } from '../../door/target.ts';
import type { Gateway } from '../../gateway.ts';
import { recordingWish } from '../../recording.ts';
import { defineRoute } from '../../route.ts';
import { callOptions } from '../../vendor/options.ts';
import { taggedOwner } from '../../vendor/tags.ts';
import { readRecording } from '../recordings.ts';

const MIB = 1024 * 1024;

/** A recorded request on its way to an engine again. */
interface Again {
  readonly gateway: Gateway;
  readonly principal: Principal;
  /** The run that the replay makes. */
  readonly runId: RunId;
  readonly recording: Recording;
  readonly wanted: ReplayRequest;
}

/** Nobody reads the answer of a replay: its receipt and its recording keep it. */
class UnreadAnswer implements Answer {
  readonly #begun: () => void;
  readonly #ended: () => void;

  constructor(on: { begun(): void; ended(): void }) {
    this.#begun = on.begun;
    this.#ended = on.ended;
  }

  from(): void {
    // The receipt names the engine.
  }

  head(): void {
    this.#begun();
  }

  write(): boolean {
    return true;
  }

  end(): void {
    this.#ended();
  }

  refuse(): void {
    this.#ended();
  }

  abandon(): void {
    this.#ended();
  }
}

/** The engine that is asked: the one that the caller names, `replay` for what was recorded, else the engine of the run. */
function engineFor({ recording, wanted }: Again): string {
  if (wanted.serve === 'recorded') return 'replay';
  const name = wanted.engine ?? recording.engine;
  if (name === null) {
    throw new AbpError('unprocessable', `${recording.runId} reached no engine; name one with engine.`, { run_id: recording.runId });
  }
  if (chooseEngine(name) === undefined) throw unknownEngine(name);
  return name;
}

function namedHeaders(flat: readonly string[]): Record<string, string> {
  const named: Record<string, string> = {};
  for (let at = 0; at < flat.length; at += 2) named[(flat[at] ?? '').toLowerCase()] = flat[at + 1] ?? '';
  return named;
}

/** The call as its first caller made it, on behalf of the one who wants it again. */
function callOf(again: Again): VendorCall {
  const { gateway, principal, runId, recording, wanted } = again;
  const { dialect, method, path, headers } = recording.request;
  const engine = engineFor(again);
  const target = parseTarget(`/e/${encodeURIComponent(engine)}${findDialect(dialect ?? '')?.prefix ?? ''}${path}`);
  const match = matchPath(method, target.path, chooseEngine(engine)?.engine.dialects);
  if (match === undefined) {
    throw new AbpError('unprocessable', `${method} ${path} is no path of a dialect; only calls of a dialect can be sent again.`);
  }
  const named = namedHeaders(headers);
  const options = callOptions(named, principal, gateway.calls.toolRules);
  return {
    runId,
    match,
    target,
    headers,
    options: { ...options, model: wanted.model ?? options.model },
    owner: taggedOwner(named, principal),
    share: shareOf(principal),
    recording: recordingWish(gateway.config, principal),
  };
}

/** The recorded bytes. A body from which a secret was taken is not what was sent, so it is not sent again. */
async function bodyOf({ gateway, recording }: Again): Promise<Buffer> {
  const { runId, redacted, node } = recording;
  if (redacted) {
    throw new AbpError(
      'unprocessable',
      `A secret was removed from what is recorded of ${runId}, so it cannot be sent again.`,
      { run_id: runId },
      'Send the request yourself, without the secret in its body.',
    );
  }
  const body = await gateway.shelf.read(recording.request.body);
  if (body !== undefined) return body;
  const where = node === gateway.home.nodeId ? 'has expired' : `is on the node ${node}`;
  throw new AbpError('not_found', `The recorded body of ${runId} ${where}.`, { run_id: runId, node });
}

/** Sends it; resolves once the engine answers or the call has ended. It then goes on by itself until the server closes. */
async function send({ gateway, principal }: Again, call: VendorCall, bytes: Buffer): Promise<void> {
  const holding = gateway.calls.budget.holding(shareOf(principal));
  holding.take(bytes.length);
  const most = gateway.config.limits.vendor_body_mb * MIB;
  const text = await Promise.resolve(textOf({ headers: namedHeaders(call.headers) }, bytes, { most, holding })).catch((error: unknown) => {
    holding.release();
    throw error;
  });
  const begun = Promise.withResolvers<void>();
  const over = new AbortController();
  const answer = new UnreadAnswer({
    begun: begun.resolve,
    ended: () => {
      over.abort();
      begun.resolve();
    },
  });
  const fail = (error: unknown): void => {
    over.abort();
    begun.reject(error);
  };
  const exchange = callVendor(gateway.calls, call, { body: bytes, text }, { answer, holding, fail });
  gateway.closing.addEventListener('abort', () => exchange.abort(), { signal: over.signal });
  await begun.promise;
}

export const replayRoutes = [
  defineRoute({
    method: 'POST',
    path: '/v1/receipts/{run_id}/replay',
    summary:
      'Sends the recorded request of a run again, to its engine or another, or has the engine replay serve it. Answers once the new run has begun to answer; a request that is refused makes a run too.',
    params: BodyParams,
    body: ReplayRequest,
    response: Replayed,
    handle: async ({ gateway, principal, runId, params, body: wanted }) => {
      assertMayCall(principal);
      const recording = await readRecording(gateway, principal, params.run_id, { part: 'request', replayed_as: runId });
      const again = { gateway, principal, runId, recording, wanted };
      const bytes = await bodyOf(again);
      try {
        await send(again, callOf(again), bytes);
      } catch (error) {
        if (!AbpError.is(error)) throw error;
        // A refusal has a receipt, which is what somebody compares; what never became a run is an error of this request.
        await gateway.keeper.settled();
        if ((await getReceipt(gateway.store, runId)) === undefined) throw error;
      }
      return { run_id: runId, of: recording.runId };
    },
  }),
];

import { AbpError } from '../../contract/errors.ts';
import type { Recording } from '../../contract/receipts/parts.ts';
import type { RunId } from '../../contract/run-id.ts';
import { foreignOwner } from '../../dialects/paths.ts';
import type { Engine } from '../../engines/engine.ts';
import { chooseEngine, ownEngine, unknownEngine } from '../../engines/index.ts';
import { upstreamAddress } from '../address.ts';
import type { Admitted } from '../admission.ts';
import type { Call, CallOwner } from '../call.ts';
import type { CallContext } from '../context.ts';
import type { Deployment } from '../deployment.ts';
import { upstreamHeaders, upstreamQuery } from '../headers.ts';
import { openingOf } from '../opening.ts';
import { Recorder } from '../recorder.ts';

/** A call to a path of an engine that no dialect describes: files, batches, whatever the vendor adds tomorrow. */
export interface UnreadCall {
  readonly runId: RunId;
  readonly method: string;
  /** The request line, without our prefixes, and the engine that a prefix names. */
  readonly target: { readonly path: string; readonly query: string; readonly engine?: string | undefined };
  /** Names and values in turn, as they came. */
  readonly headers: readonly string[];
  readonly owner: CallOwner;
  /** Whose share of the memory for bodies the call takes. */
  readonly share: string;
  /** The bytes pass unread, so digests are the most there is of them. */
  readonly recording: Exclude<Recording, 'full'>;
}

/** An unread call that may be sent and whose beginning is in the journal. */
export interface OpenedCall {
  readonly admitted: Admitted;
  readonly recorder: Recorder;
  readonly deployment: Deployment;
  /** Where it goes and with which headers. */
  readonly request: { readonly origin: string; readonly path: string; readonly headers: readonly string[]; readonly silenceMs: number };
}

/** Asks for admission of a call whose bytes nobody here reads, and journals its beginning; a refusal is a run too. */
export function openUnread(context: CallContext, call: UnreadCall, way: 'raw' | 'splice'): OpenedCall {
  const deployment = deploymentOf(context, call);
  const { engine, door, silenceMs } = deployment;
  const { headers, target } = call;
  const path = `${target.path}${upstreamQuery(target.query, deployment, context.isOurs)}`;
  const request = {
    ...upstreamAddress(deployment, headers, path),
    headers: upstreamHeaders(headers, deployment, context.isOurs),
    silenceMs,
  };
  const recorder = new Recorder(context, call.runId);
  const { runId, owner, method, recording } = call;
  const wanted: Call = {
    runId,
    way,
    owner,
    engine: engine.id,
    model: null,
    moreModels: reached(call, way),
    dialect: null,
    mode: 'passthrough',
  };
  const opening = openingOf(wanted, {
    task: `${method} ${target.path} → ${engine.id}`,
    requestedModel: null,
    compatibility: 'best_effort',
    request: null,
    recording,
  });
  let admitted: Admitted;
  try {
    admitted = recorder.admit(context.admission, wanted, door);
  } catch (error) {
    if (AbpError.is(error)) {
      recorder.open(opening);
      recorder.refused(error);
    }
    throw error;
  }
  recorder.open(opening);
  return { admitted, recorder, deployment, request };
}

/** Reading a list or a file calls no model. What else is done on these paths, batches above all, may name any. */
function reached({ method }: UnreadCall, way: 'raw' | 'splice'): readonly string[] | 'unknown' {
  return way === 'raw' && (method === 'GET' || method === 'HEAD') ? [] : 'unknown';
}

/** The engine that the path names. */
function deploymentOf({ deployments }: CallContext, { target }: UnreadCall): Deployment {
  const engine = chooseEngine(target.engine ?? '')?.engine;
  if (engine === undefined) throw unknownEngine(target.engine ?? '');
  const deployment = deployments.get(engine.id);
  if (deployment === undefined || deployment.origin === '') {
    throw new AbpError('not_found', `${engine.name} has no path ${target.path}.`, { engine: engine.id });
  }
  assertOwnPath(engine, target.path);
  return deployment;
}

/** Refuses paths of another vendor: the engine cannot know them, and its own error would not tell the caller which path to use. */
function assertOwnPath(engine: Engine, path: string): void {
  const owner = foreignOwner(path, engine.dialects);
  const home = owner === undefined ? undefined : ownEngine(owner.id);
  if (home === undefined) return;
  throw new AbpError(
    'not_found',
    `${path} is a path of ${home.name}, and ${engine.name} has no such path; it passes unread only on its own engine: /e/${home.id}${path}.`,
    { engine: engine.id, path, use: `/e/${home.id}${path}` },
  );
}

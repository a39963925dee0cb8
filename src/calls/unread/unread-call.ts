import { AbpError } from '../../contract/errors.ts';
import type { Recording } from '../../contract/receipts/parts.ts';
import type { RunId } from '../../contract/run-id.ts';
import { foreignOwner } from '../../dialects/paths.ts';
import type { Engine } from '../../engines/engine.ts';
import { chooseEngine, ownEngine, unknownEngine } from '../../engines/index.ts';
import type { TurnedDown } from '../../upstream/gate.ts';
import { upstreamAddress } from '../address.ts';
import type { Admitted } from '../admission.ts';
import { type Affinity, unreadAffinity } from '../balancing/affinity.ts';
import { Placement } from '../balancing/placement.ts';
import type { Call, CallOwner } from '../call.ts';
import type { CallContext } from '../context.ts';
import type { Deployment } from '../deployment.ts';
import { upstreamHeaders, upstreamQuery } from '../headers.ts';
import { MustWait, type WaitingPlace } from '../limits/fair-queue.ts';
import { type Opening, openingOf } from '../opening.ts';
import { Recorder } from '../recorder.ts';

/** A call to a path of an engine that no dialect describes: files, batches, whatever the vendor adds tomorrow. */
export interface UnreadCall {
  readonly runId: RunId;
  readonly method: string;
  /** The request line, without our prefixes, and the engine that a prefix names. */
  readonly target: { readonly path: string; readonly query: string; readonly engine?: string | undefined };
  /** Names and values in turn, as they came. */
  readonly headers: readonly string[];
  /** The caller's name for the session that it belongs to. */
  readonly session: string | undefined;
  /** The deployment of the engine that it must be. */
  readonly deployment: string | undefined;
  readonly owner: CallOwner;
  /** Whose share of the memory for bodies the call takes. */
  readonly share: string;
  /** The bytes pass unread, so digests are the most there is of them. */
  readonly recording: Exclude<Recording, 'full'>;
}

/** The way's own part of a call. */
interface Steps {
  /** Sends a try that was admitted. */
  readonly send: (one: UnreadTry) => void;
  /** Tells the caller of what is thrown after the call has begun: nobody is there to catch it. */
  readonly fail: (error: unknown) => void;
}

/** A call whose bytes nobody here reads, from its admission on; each of its tries goes to another deployment of the engine. */
export class OpenedCall {
  readonly recorder: Recorder;
  readonly #context: CallContext;
  readonly #call: UnreadCall;
  readonly #way: 'raw' | 'splice';
  readonly #steps: Steps;
  readonly #placement: Placement;
  readonly #target: { readonly engine: Engine; readonly model: '' };
  /** Where it waits for room under a limit. */
  #place: WaitingPlace | undefined;
  #waited = false;
  /** The caller has left. */
  #left = false;

  constructor(context: CallContext, call: UnreadCall, way: 'raw' | 'splice', steps: Steps) {
    this.#context = context;
    this.#call = call;
    this.#way = way;
    this.#steps = steps;
    this.#target = { engine: engineOf(context, call), model: '' };
    this.recorder = new Recorder(context, call.runId);
    const affinity = (): Affinity => unreadAffinity(call.owner, call.session);
    this.#placement = new Placement(context.deployments, { named: call.deployment, affinity });
  }

  /**
   * Asks for admission of the first try, journals the beginning of the run and sends it; a refusal is a run too, and thrown. A call that has to
   * wait for room under a limit does all that when there is some.
   */
  begin(): void {
    const first = this.#first();
    if (first !== undefined) this.#send(first);
  }

  /** Sends a try in place of another one, once that is given up. */
  sendAfter(one: UnreadTry): void {
    setImmediate(() => this.#later(() => this.#send(one)));
  }

  #send(one: UnreadTry): void {
    if (this.#left) this.cancelled();
    else this.#steps.send(one);
  }

  #later(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#steps.fail(error);
    }
  }

  #first(): UnreadTry | undefined {
    let one: UnreadTry;
    try {
      one = this.#try(!this.#waited);
    } catch (error) {
      if (error instanceof MustWait) return this.#wait(error.place);
      if (AbpError.is(error)) {
        this.recorder.open(this.#opening());
        this.recorder.refused(error);
      }
      throw error;
    }
    this.recorder.open(this.#opening());
    return one;
  }

  #wait(place: WaitingPlace): undefined {
    this.#waited = true;
    this.#place = place;
    this.#placement.restart();
    void place.turn.then(() => this.#later(() => this.begin()));
  }

  /** The caller has left; where it waited, it is refused. */
  leave(): void {
    this.#left = true;
    this.#place?.leave();
  }

  /** The try that takes the place of one that was turned down; undefined where no deployment is left for it, or nobody to answer. */
  next(reason: TurnedDown): UnreadTry | undefined {
    if (this.#left || !this.#placement.hasOther(this.#target, reason.keyRefused === true)) return undefined;
    this.recorder.attempted(reason.status, reason.message);
    try {
      return this.#try(false);
    } catch (error) {
      if (!AbpError.is(error)) throw error;
      this.recorder.declined(this.#target.engine.id, error);
      return undefined;
    }
  }

  get hasLeft(): boolean {
    return this.#left;
  }

  /** Nobody was called, because the caller has left. */
  cancelled(): void {
    this.recorder.close({ status: 'cancelled', reason: 'client_closed', error: null, response: null, eventCount: 0 });
  }

  /** Whether another deployment may take the call. */
  get hasNext(): boolean {
    return this.#placement.hasOther(this.#target, false);
  }

  #try(mayWait: boolean): UnreadTry {
    const deployment = this.#placement.choose(this.#target);
    const { isOurs } = this.#context;
    const { headers, target } = this.#call;
    const path = `${target.path}${upstreamQuery(target.query, deployment, isOurs)}`;
    const request = {
      ...upstreamAddress(deployment, headers, path),
      headers: upstreamHeaders(headers, deployment, isOurs),
      silenceMs: deployment.silenceMs,
    };
    const wanted = { ...this.#wanted(), mayWait };
    return { admitted: this.recorder.admit(this.#context.admission, wanted, deployment.door), deployment, request };
  }

  #wanted(): Call {
    const { runId, owner } = this.#call;
    const [way, engine] = [this.#way, this.#target.engine.id];
    return { runId, way, owner, engine, model: null, moreModels: reached(this.#call, way), dialect: null, mode: 'passthrough' };
  }

  #opening(): Opening {
    const { method, target, recording } = this.#call;
    return openingOf(this.#wanted(), {
      task: `${method} ${target.path} → ${this.#target.engine.id}`,
      requestedModel: null,
      compatibility: 'best_effort',
      request: null,
      recording,
    });
  }
}

/** A try of an unread call that may be sent. */
export interface UnreadTry {
  readonly admitted: Admitted;
  readonly deployment: Deployment;
  /** Where it goes and with which headers. */
  readonly request: { readonly origin: string; readonly path: string; readonly headers: readonly string[]; readonly silenceMs: number };
}

/** Reading a list or a file calls no model. What else is done on these paths, batches above all, may name any. */
function reached({ method }: UnreadCall, way: 'raw' | 'splice'): readonly string[] | 'unknown' {
  return way === 'raw' && (method === 'GET' || method === 'HEAD') ? [] : 'unknown';
}

/** The engine that the path names. */
function engineOf({ deployments }: CallContext, { target }: UnreadCall): Engine {
  const engine = chooseEngine(target.engine ?? '')?.engine;
  if (engine === undefined) throw unknownEngine(target.engine ?? '');
  const deployment = deployments.get(engine.id)?.first;
  if (deployment === undefined || deployment.origin === '') {
    throw new AbpError('not_found', `${engine.name} has no path ${target.path}.`, { engine: engine.id });
  }
  assertOwnPath(engine, target.path);
  return engine;
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

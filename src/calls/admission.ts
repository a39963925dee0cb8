import { AbpError } from '../contract/errors.ts';
import type { Exchange, ExchangeRequest, ExchangeSink, Splice, Transport } from '../upstream/exchange.ts';
import { gated, type TakeOver } from '../upstream/gate.ts';
import type { Call, CallEnding, Way } from './call.ts';
import { permission } from './permission.ts';

/** Called once, when the call that a check has let pass is over: gives back what the check took for it, or counts what it used. */
export type Settlement = (ending: CallEnding) => void;

/** A check allows a call (undefined), allows it and wants to hear of its end, or refuses it with an error of the table. */
export type Verdict = undefined | Settlement | AbpError;

/** One reason to refuse a call. It is asked on the hot path: it must not wait, and should take a microsecond at most. */
export interface Check {
  /** Named in logs and tests. */
  readonly name: string;
  check(call: Call): Verdict;
}

/** How an engine is reached, and what it takes to be let in. */
export interface Reach {
  readonly transport: Transport;
  /** How a WebSocket to the engine is opened; absent for an engine inside this process. */
  readonly splice?: Splice | undefined;
  /** The error for a call that needs an address or a key which this installation does not have. */
  readonly missing?: ((credential: Credential) => AbpError | undefined) | undefined;
}

/** Whose key goes to the engine: ours, or, where the caller's own bytes pass, possibly the caller's. */
export type Credential = 'ours' | 'either';

const CREDENTIALS: Readonly<Record<Way, Credential>> = {
  relay: 'either',
  raw: 'either',
  splice: 'either',
  mapped: 'ours',
  turn: 'ours',
  run: 'ours',
};

let reachOf: (door: EngineDoor) => Reach;
let makeAdmitted: (call: Call, reach: Reach | undefined, settlements: readonly Settlement[]) => Admitted;

/** The door of one engine. Everybody may hold it; `Admission` alone can open it, so that no code reaches an engine past the checks. */
export class EngineDoor {
  readonly #reach: Reach;

  constructor(reach: Reach) {
    this.#reach = reach;
  }

  static {
    reachOf = (door) => door.#reach;
  }
}

/** A call that every check has let pass. What sends bytes to an engine takes one of these; `Admission` alone makes them. */
export class Admitted {
  readonly call: Call;
  readonly #reach: Reach | undefined;
  readonly #settlements: readonly Settlement[];
  #settled = false;

  private constructor(call: Call, reach: Reach | undefined, settlements: readonly Settlement[]) {
    this.call = call;
    this.#reach = reach;
    this.#settlements = settlements;
  }

  static {
    makeAdmitted = (call, reach, settlements) => new Admitted(call, reach, settlements);
  }

  /** Sends a request to the engine. `takeOver` is asked at a failure before the first byte whether another try takes its place. */
  send(request: ExchangeRequest, sink: ExchangeSink, takeOver?: TakeOver): Exchange {
    if (this.#reach === undefined) throw new AbpError('internal', `a ${this.call.way} has no engine of its own to send to`);
    const { transport } = this.#reach;
    return (takeOver === undefined ? transport : gated(transport, takeOver))(request, sink);
  }

  /** Opens a WebSocket to the engine; undefined for an engine that has none. */
  get splice(): Splice | undefined {
    return this.#reach?.splice;
  }

  /** The call is over. Only the first call of this counts. */
  settle(ending: CallEnding): void {
    if (this.#settled) return;
    this.#settled = true;
    settleAll(this.#settlements, ending);
  }
}

/** A check that breaks must not keep the others from hearing of the end. */
function settleAll(settlements: readonly Settlement[], ending: CallEnding): void {
  const faults: unknown[] = [];
  for (const settlement of settlements) {
    try {
      settlement(ending);
    } catch (error) {
      faults.push(error);
    }
  }
  if (faults.length > 0) throw faults[0];
}

const NOTHING_SETTLED: readonly Settlement[] = [];

/** The one way to an engine: permission, then the given checks in their order (policy, budgets, limits), then the engine's key. */
export class Admission {
  readonly #checks: readonly Check[];

  constructor(checks: readonly Check[] = []) {
    this.#checks = [{ name: 'permission', check: permission }, ...checks];
  }

  /** Throws the error of the first check that refuses, after those before it have taken their part back. `door`: null for a run. */
  admit(call: Call, door: EngineDoor | null): Admitted {
    let settlements: Settlement[] | undefined;
    for (const { check } of this.#checks) {
      const verdict = verdictOf(check, call, settlements);
      if (verdict === undefined) continue;
      if (typeof verdict !== 'function') throw refused(verdict, settlements);
      settlements ??= [];
      settlements.push(verdict);
    }
    const reach = door === null ? undefined : reachOf(door);
    const missing = reach?.missing?.(CREDENTIALS[call.way]);
    if (missing !== undefined) throw refused(missing, settlements);
    return makeAdmitted(call, reach, settlements ?? NOTHING_SETTLED);
  }
}

/** A check that breaks must not keep what others before it took. */
function verdictOf(check: Check['check'], call: Call, settlements: readonly Settlement[] | undefined): Verdict {
  try {
    return check(call);
  } catch (error) {
    refused(error, settlements);
    throw error;
  }
}

const REFUSED: CallEnding = { status: 'refused', usage: null, upstreamModel: null, nanoUsd: null };

function refused<E>(error: E, settlements: readonly Settlement[] | undefined): E {
  settleAll(settlements ?? NOTHING_SETTLED, REFUSED);
  return error;
}

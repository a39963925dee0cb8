import { type Scan, scanBody } from '../../mapping/scan.ts';
import type { Exchange } from '../../upstream/exchange.ts';
import type { TakeOver } from '../../upstream/gate.ts';
import type { Answer } from '../answers/answer.ts';
import type { Attempts } from '../attempts.ts';
import type { Step } from '../batch.ts';
import type { Holding } from '../bounds/body-budget.ts';
import type { CallContext } from '../context.ts';
import { isLarge, LARGE_BYTES, MAY_HOLD_MANY } from '../large-bodies/large-bodies.ts';
import { Recorder } from '../recorder.ts';
import { type Planned, planCall } from './plan.ts';
import { readLarge } from './preparation.ts';
import { sendPlan } from './send.ts';
import type { Body, Plan, Read, VendorCall } from './vendor-call.ts';

/** The caller's side of a call. */
export interface Caller {
  readonly answer: Answer;
  /** The memory of the request's body, which is given back once the engine has it. */
  readonly holding: Holding;
  /** Hears why nothing is sent. */
  fail(error: unknown): void;
}

/**
 * Calls an engine for a vendor's SDK: route, then permission, then the journal, then the engine, so that no engine is called that the
 * journal does not know of. The caller's slowness ends with `resume`, its leaving is `abort`.
 */
export function callVendor(context: CallContext, call: VendorCall, body: Body, caller: Caller): Exchange {
  const one = new CallUnderWay(context, call, caller);
  if (body.text.length < MAY_HOLD_MANY) {
    one.begin(body);
    return one;
  }
  const scan = scanSmall(body.text);
  if (scan !== undefined) one.begin({ ...body, scan });
  // Bodies that are large or hold many values keep no other call waiting.
  else
    readLarge(context, call, body).then(
      (large) => one.begin(large),
      (error: unknown) => one.fail(error),
    );
  return one;
}

/** Scans a body of middling size here; undefined where another thread has to. */
function scanSmall(text: Buffer): Scan | undefined {
  const scan = text.length >= LARGE_BYTES ? undefined : scanBody(text);
  return scan !== undefined && isLarge(text.length, scan.values) ? undefined : scan;
}

/** One call, from its body to its last try. It lives as long as a slow stream, so it must not hold the body. */
class CallUnderWay implements Step, Exchange {
  readonly #context: CallContext;
  readonly #call: VendorCall;
  readonly #caller: Caller;
  readonly #recorder: Recorder;
  #body: (Body & Partial<Read>) | undefined;
  #planned: Planned | undefined;
  /** Thrown while the call was planned, and written down. */
  #refusal: unknown;
  /** The beginning of the run is in the journal. */
  #written = false;
  /** The try under way; it changes when one is given up for the next. */
  #exchange: Exchange | undefined;
  /** Runs between two tries. */
  #pause: NodeJS.Timeout | undefined;
  /** The caller has left. */
  #left = false;

  constructor(context: CallContext, call: VendorCall, caller: Caller) {
    this.#context = context;
    this.#call = call;
    this.#caller = caller;
    this.#recorder = new Recorder(context, call.runId);
  }

  begin(body: Body & Partial<Read>): void {
    this.#body = body;
    this.#context.batch.open(this);
  }

  record(): void {
    const body = this.#body;
    this.#body = undefined;
    if (body === undefined) return;
    try {
      this.#planned = planCall(this.#context, this.#call, { ...body, scan: body.scan ?? scanBody(body.text) }, this.#recorder);
    } catch (error) {
      this.#refusal = error;
      throw error;
    }
  }

  proceed(): void {
    const planned = this.#planned;
    this.#planned = undefined;
    this.#written = true;
    if (planned !== undefined) this.#send(planned.plan, planned.attempts);
  }

  fail(error: unknown): void {
    this.#planned = undefined;
    this.#caller.holding.release();
    if (this.#written) this.#recorder.broke(error);
    else if (error !== this.#refusal) this.#recorder.drop();
    this.#caller.fail(error);
  }

  resume(): void {
    this.#exchange?.resume();
  }

  abort(): void {
    this.#left = true;
    if (this.#pause === undefined) this.#exchange?.abort();
    else this.#leaveBetweenTries();
  }

  #send(plan: Plan, attempts: Attempts<Plan> | undefined): void {
    const takeOver: TakeOver | undefined =
      attempts === undefined || attempts.left === 0
        ? undefined
        : (reason) => {
            attempts.failed(reason);
            return this.#takeOver(attempts);
          };
    const { answer, holding } = this.#caller;
    this.#exchange = sendPlan(this.#context, this.#call, plan, {
      answer,
      recorder: this.#recorder,
      onTaken: () => holding.release(),
      takeOver,
    });
    // The caller may have left while its body was decoded or its call was planned.
    if (this.#left) this.#exchange?.abort();
  }

  /** Finds the next place that may take the call; false where there is none, so that the failure before is the caller's. */
  #takeOver(attempts: Attempts<Plan>): boolean | Promise<boolean> {
    if (attempts.left === 0) return false;
    const ready = attempts.ready();
    if (ready === undefined) return this.#planNext(attempts);
    // A caller who leaves meanwhile has ended the try that failed.
    const go = (): boolean | Promise<boolean> => !this.#left && this.#planNext(attempts);
    return ready.then(go, go);
  }

  #planNext(attempts: Attempts<Plan>): boolean | Promise<boolean> {
    try {
      const next = attempts.next();
      if (next === undefined) return this.#takeOver(attempts);
      this.#pause = setTimeout(() => this.#sendAgain(next.plan, attempts), next.delayMs);
      if (this.#left) this.#leaveBetweenTries();
    } catch (error) {
      this.fail(error);
    }
    return true;
  }

  #sendAgain(plan: Plan, attempts: Attempts<Plan>): void {
    this.#pause = undefined;
    try {
      this.#send(plan, attempts);
    } catch (error) {
      this.fail(error);
    }
  }

  /** The caller left while nobody was being called. */
  #leaveBetweenTries(): void {
    clearTimeout(this.#pause);
    this.#pause = undefined;
    this.#recorder.close({ status: 'cancelled', reason: 'client_closed', error: null, response: null, eventCount: 0 });
    this.#caller.holding.release();
  }
}

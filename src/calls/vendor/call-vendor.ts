import { type Scan, scanBody } from '../../mapping/scan/scan.ts';
import type { Exchange } from '../../upstream/exchange.ts';
import type { TakeOver, TurnedDown } from '../../upstream/gate.ts';
import type { Answer } from '../answers/answer.ts';
import type { Attempts } from '../attempts.ts';
import type { Step } from '../batch.ts';
import type { Holding } from '../bounds/body-budget.ts';
import type { CallContext } from '../context.ts';
import { isLarge, LARGE_BYTES, MAY_HOLD_MANY } from '../large-bodies/large-bodies.ts';
import { MustWait, type WaitingPlace } from '../limits/fair-queue.ts';
import { Recorder } from '../recorder.ts';
import { giveAgain, KeptAnswer } from '../response-cache/kept-answer.ts';
import type { KeptResponse } from '../response-cache/kept-response.ts';
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
  #answer: Answer;
  #body: (Body & Partial<Read>) | undefined;
  #planned: Planned | undefined;
  /** Thrown while the call was planned, and written down. */
  #refusal: unknown;
  /** The beginning of the run is in the journal. */
  #written = false;
  /** The try under way; it changes when one is given up for the next. */
  #exchange: Exchange | undefined;
  /** Where it waits for room under a limit. */
  #place: WaitingPlace | undefined;
  #waited = false;
  /** Runs between two tries. */
  #pause: NodeJS.Timeout | undefined;
  /** The caller has left. */
  #left = false;

  constructor(context: CallContext, call: VendorCall, caller: Caller) {
    this.#context = context;
    this.#call = call;
    this.#caller = caller;
    this.#answer = caller.answer;
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
      const read = { ...body, scan: body.scan ?? scanBody(body.text) };
      this.#planned = planCall(this.#context, this.#call, read, { recorder: this.#recorder, mayWait: !this.#waited });
    } catch (error) {
      if (error instanceof MustWait) this.#body = body;
      this.#refusal = error;
      throw error;
    } finally {
      body.kept?.drop();
    }
  }

  proceed(): void {
    const planned = this.#planned;
    this.#planned = undefined;
    this.#written = true;
    // Nobody waits for the answer any more: no engine needs to be asked.
    if (this.#left) this.#leaveBetweenTries();
    else if (planned !== undefined) this.#begun(planned);
  }

  fail(error: unknown): void {
    if (error instanceof MustWait && this.#body !== undefined) {
      this.#wait(error, this.#body);
      return;
    }
    this.#planned = undefined;
    this.#caller.holding.release();
    if (this.#written) this.#recorder.broke(error);
    else if (error !== this.#refusal) this.#recorder.drop();
    this.#caller.fail(error);
  }

  /** Plans the call again once its turn has come; it is refused then where it still finds no room. */
  #wait({ place }: MustWait, body: Body & Partial<Read>): void {
    this.#waited = true;
    this.#place = place;
    void place.turn.then(() => {
      this.#place = undefined;
      this.begin(body);
    });
    if (this.#left) place.leave();
  }

  resume(): void {
    this.#exchange?.resume();
  }

  abort(): void {
    this.#left = true;
    this.#place?.leave();
    if (this.#pause === undefined) this.#exchange?.abort();
    else this.#leaveBetweenTries();
  }

  /** The answer may be there already. */
  #begun(planned: Planned): void {
    const { kept } = planned;
    const found = kept === undefined || kept === 'never' ? undefined : this.#context.cache.get(kept);
    if (!(found instanceof Promise)) this.#serve(planned, found);
    else
      found
        .then((response) => this.#serve(planned, response))
        .catch((error: unknown) => {
          this.fail(error);
        });
  }

  #serve({ plan, attempts, kept }: Planned, found: KeptResponse | undefined): void {
    if (this.#left) this.#leaveBetweenTries();
    else if (found === undefined) {
      this.#keep(plan, kept);
      this.#send(plan, attempts);
    } else {
      giveAgain(found, this.#answer, this.#recorder);
      this.#caller.holding.release();
    }
  }

  /** Has the answer kept on its way, where the route or the key wants that. */
  #keep({ route: { engine } }: Plan, kept: Planned['kept']): void {
    if (kept === undefined) return;
    const keeping = { cache: this.#context.cache, recorder: this.#recorder, engine: engine.id };
    this.#answer = new KeptAnswer(this.#answer, kept === 'never' ? undefined : { ...keeping, place: kept });
  }

  #send(plan: Plan, attempts: Attempts<Plan> | undefined): void {
    const takeOver: TakeOver | undefined =
      attempts === undefined || !attempts.may()
        ? undefined
        : (reason) => {
            if (!attempts.may(reason)) return false;
            attempts.failed(reason);
            return this.#takeOver(attempts, reason);
          };
    const { holding } = this.#caller;
    this.#exchange = sendPlan(this.#context, this.#call, plan, {
      answer: this.#answer,
      recorder: this.#recorder,
      onTaken: () => {
        attempts?.release();
        holding.release();
      },
      takeOver,
    });
    // The caller may have left while its body was decoded or its call was planned.
    if (this.#left) this.#exchange?.abort();
  }

  /** Finds the next place that may take the call; false where there is none, so that the failure before is the caller's. */
  #takeOver(attempts: Attempts<Plan>, reason: TurnedDown): boolean | Promise<boolean> {
    if (!attempts.may(reason)) return false;
    const ready = attempts.ready();
    if (ready === undefined) return this.#planNext(attempts, reason);
    // A caller who leaves meanwhile has ended the try that failed.
    const go = (): boolean | Promise<boolean> => !this.#left && this.#planNext(attempts, reason);
    return ready.then(go, go);
  }

  #planNext(attempts: Attempts<Plan>, reason: TurnedDown): boolean | Promise<boolean> {
    try {
      const next = attempts.next();
      if (next === undefined) return this.#takeOver(attempts, reason);
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

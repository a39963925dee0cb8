import type { IncomingMessage, ServerResponse } from 'node:http';
import { Recorder } from '../../calls/recorder.ts';
import type { RunId } from '../../contract/run-id.ts';
import type { PathMatch } from '../../dialects/paths.ts';
import { scanBody } from '../../mapping/scan.ts';
import type { Step } from '../../receipts/turn.ts';
import type { Principal } from '../auth/principal.ts';
import type { Gateway } from '../gateway.ts';
import type { Target } from '../target.ts';
import { type BodyBudget, readBody } from './body.ts';
import { dispatch } from './dispatch.ts';
import { type Planned, planCall } from './plan.ts';
import { type Read, textOf } from './read.ts';

const MIB = 1024 * 1024;

/** A vendor call that has been recognised and whose caller is known. */
export interface VendorCall {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly runId: RunId;
  readonly target: Target;
  readonly match: PathMatch;
  readonly principal: Principal;
}

/** Body, then route, then permission, then the journal, then the engine: no engine is called that the journal does not know of. */
export function handleVendor(gateway: Gateway, call: VendorCall, fail: (error: unknown) => void): void {
  readBody(call.request, gateway.config.limits.vendor_body_mb * MIB, gateway.budget, {
    fail,
    done: (body) => {
      const text = textOf(call.request, body);
      if (text instanceof Promise) {
        text.then(
          (decoded) => gateway.keeper.opening(new Opening(gateway, call, { body, text: decoded }, fail)),
          (error: unknown) => {
            gateway.budget.release(body.length);
            fail(error);
          },
        );
      } else gateway.keeper.opening(new Opening(gateway, call, { body, text }, fail));
    },
  });
}

/** A call whose body is here: planned and journaled, then sent. */
class Opening implements Step {
  readonly #gateway: Gateway;
  readonly #call: VendorCall;
  readonly #fail: (error: unknown) => void;
  readonly #recorder: Recorder;
  /** Gives the memory of the body back. It must not hold the body itself: it lives as long as a slow stream. */
  readonly #release: () => void;
  #body: Omit<Read, 'scan'> | undefined;
  #planned: Planned | undefined;

  constructor(gateway: Gateway, call: VendorCall, body: Omit<Read, 'scan'>, fail: (error: unknown) => void) {
    this.#gateway = gateway;
    this.#call = call;
    this.#body = body;
    this.#fail = fail;
    this.#release = releaseOf(gateway.budget, body.body.length);
    this.#recorder = new Recorder(gateway.keeper, gateway.live, call.runId);
  }

  record(): void {
    if (this.#body === undefined) return;
    const { body, text } = this.#body;
    this.#body = undefined;
    this.#planned = planCall(this.#gateway, this.#call, { body, text, scan: scanBody(text) }, this.#recorder);
  }

  proceed(): void {
    if (this.#planned === undefined) return;
    const planned = this.#planned;
    this.#planned = undefined;
    dispatch(this.#gateway, { call: this.#call, ...planned, recorder: this.#recorder, release: this.#release });
  }

  fail(error: unknown): void {
    this.#release();
    this.#fail(error);
  }
}

function releaseOf(budget: BodyBudget, length: number): () => void {
  return () => budget.release(length);
}

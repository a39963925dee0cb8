import type { Holding } from '../../calls/bounds/body-budget.ts';
import { LARGE_BYTES } from '../../calls/large-bodies/large-bodies.ts';
import { Recorder } from '../../calls/recorder.ts';
import { scanBody } from '../../mapping/scan.ts';
import type { Step } from '../../receipts/journal/turn.ts';
import { shareOf } from '../auth/principal.ts';
import type { Gateway } from '../gateway.ts';
import { readBody } from './body.ts';
import type { VendorCall } from './call.ts';
import { dispatch } from './dispatch.ts';
import { type Planned, planCall } from './plan.ts';
import { type Body, readLarge } from './preparation.ts';
import { type Read, textOf } from './read.ts';

const MIB = 1024 * 1024;

/** Body, then route, then permission, then the journal, then the engine: no engine is called that the journal does not know of. */
export function handleVendor(gateway: Gateway, call: VendorCall, fail: (error: unknown) => void): void {
  const most = gateway.config.limits.vendor_body_mb * MIB;
  const holding = gateway.budget.holding(shareOf(call.principal));
  readBody(call.request, most, holding, {
    fail,
    done: (body) => {
      const text = textOf(call.request, body, { most, holding });
      const open = (read: Unplanned): void => gateway.keeper.opening(new Opening({ gateway, call, holding, fail }, read));
      if (!(text instanceof Promise) && text.length < LARGE_BYTES) {
        open({ body, text });
        return;
      }
      readAside(gateway, call, { body, text }).then(open, (error: unknown) => {
        holding.release();
        fail(error);
      });
    },
  });
}

/** A body, and what is known of it before the call is planned. */
type Unplanned = Body & Partial<Read>;

/** Decompression and large bodies keep no other call waiting. */
async function readAside(gateway: Gateway, call: VendorCall, raw: { body: Buffer; text: Buffer | Promise<Buffer> }): Promise<Unplanned> {
  const body = { body: raw.body, text: await raw.text };
  return body.text.length < LARGE_BYTES ? body : await readLarge(gateway, call, body);
}

/** Who waits for what becomes of a body. */
interface Opened {
  readonly gateway: Gateway;
  readonly call: VendorCall;
  readonly holding: Holding;
  readonly fail: (error: unknown) => void;
}

/** A call whose body is here: planned and journaled, then sent. */
class Opening implements Step {
  readonly #gateway: Gateway;
  readonly #call: VendorCall;
  readonly #fail: (error: unknown) => void;
  readonly #recorder: Recorder;
  /** Gives the memory of the body back. It must not hold the body itself: it lives as long as a slow stream. */
  readonly #release: () => void;
  #body: Unplanned | undefined;
  #planned: Planned | undefined;

  constructor({ gateway, call, holding, fail }: Opened, body: Unplanned) {
    this.#gateway = gateway;
    this.#call = call;
    this.#body = body;
    this.#fail = fail;
    this.#release = () => holding.release();
    this.#recorder = new Recorder(gateway.keeper, gateway.live, call.runId);
  }

  record(): void {
    if (this.#body === undefined) return;
    const body = this.#body;
    this.#body = undefined;
    this.#planned = planCall(this.#gateway, this.#call, { ...body, scan: body.scan ?? scanBody(body.text) }, this.#recorder);
  }

  proceed(): void {
    if (this.#planned === undefined) return;
    const planned = this.#planned;
    this.#planned = undefined;
    dispatch(this.#gateway, { ...planned, call: this.#call, recorder: this.#recorder, release: this.#release });
  }

  fail(error: unknown): void {
    this.#release();
    this.#recorder.drop();
    this.#fail(error);
  }
}

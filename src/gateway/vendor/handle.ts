import type { IncomingMessage, ServerResponse } from 'node:http';
import { Recorder } from '../../calls/recorder.ts';
import type { RunId } from '../../contract/run-id.ts';
import type { PathMatch } from '../../dialects/paths.ts';
import type { Principal } from '../auth/principal.ts';
import type { Gateway } from '../gateway.ts';
import type { Target } from '../target.ts';
import { readBody } from './body.ts';
import { dispatch } from './dispatch.ts';
import { planCall } from './plan.ts';
import { readJson } from './read.ts';

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
export async function handleVendor(gateway: Gateway, call: VendorCall): Promise<void> {
  const body = await readBody(call.request, gateway.config.limits.vendor_body_mb * MIB, gateway.budget);
  const release = (): void => gateway.budget.release(body.length);
  try {
    const read = await readJson(call.request, body);
    const recorder = new Recorder(gateway.keeper, gateway.live, call.runId);
    dispatch(gateway, { call, plan: planCall(gateway, call, read, recorder), recorder, release });
  } catch (error) {
    release();
    throw error;
  }
}

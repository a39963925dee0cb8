import type { IncomingMessage, ServerResponse } from 'node:http';
import { callVendor } from '../../calls/vendor/call-vendor.ts';
import type { VendorCall } from '../../calls/vendor/vendor-call.ts';
import type { RunId } from '../../contract/run-id.ts';
import type { PathMatch } from '../../dialects/paths.ts';
import { type Principal, shareOf } from '../auth/principal.ts';
import { readBody, textOf } from '../door/request-body.ts';
import type { Target } from '../door/target.ts';
import type { Gateway } from '../gateway.ts';
import { recordingWish } from '../recording.ts';
import { HttpAnswer } from './answer.ts';
import { callOptions } from './options.ts';
import { taggedOwner } from './tags.ts';

const MIB = 1024 * 1024;

/** A request on a vendor path that has been recognised and whose caller is known. */
export interface VendorRequest {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly runId: RunId;
  readonly target: Target;
  readonly match: PathMatch;
  readonly principal: Principal;
}

/** Reads the body within the limits and makes the call; the caller's leaving cancels it, the caller's slowness pauses it. */
export function handleVendor(gateway: Gateway, one: VendorRequest, fail: (error: unknown) => void): void {
  const { request, response, runId, match, principal } = one;
  const most = gateway.config.limits.vendor_body_mb * MIB;
  const holding = gateway.calls.budget.holding(shareOf(principal));
  const refuse = (error: unknown): void => {
    holding.release();
    fail(error);
  };
  const begin = (body: Buffer, text: Buffer): void => {
    const answer = new HttpAnswer(response, { runId, url: gateway.url, dialect: match.dialect, redact: gateway.store.withoutSecrets });
    const exchange = callVendor(gateway.calls, vendorCall(gateway, one), { body, text }, { answer, holding, fail });
    response.on('drain', () => exchange.resume());
    const onClose = (): void => {
      if (!response.writableFinished) exchange.abort();
    };
    // The caller may have left while its body was being decoded.
    if (response.closed) onClose();
    else response.once('close', onClose);
  };
  readBody(request, most, holding, {
    fail,
    done: (body) => {
      const text = textOf(request, body, { most, holding });
      if (text instanceof Promise) text.then((decoded) => begin(body, decoded)).catch(refuse);
      else attempt(() => begin(body, text), refuse);
    },
  });
}

function attempt(work: () => void, refuse: (error: unknown) => void): void {
  try {
    work();
  } catch (error) {
    refuse(error);
  }
}

/** The request without HTTP. */
function vendorCall({ config, calls, caches }: Gateway, { request, runId, target, match, principal }: VendorRequest): VendorCall {
  const owner = taggedOwner(request.headers, principal);
  return {
    runId,
    match,
    target,
    headers: request.rawHeaders,
    options: { ...callOptions(request.headers, principal, calls.toolRules), cache: caches.of(owner.keyId) },
    owner,
    share: shareOf(principal),
    recording: recordingWish(config, principal),
  };
}

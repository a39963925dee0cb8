import type { FidelityEntry } from '../../contract/negotiation.ts';
import type { Route } from '../../mapping/route.ts';
import { spliceModel } from '../../mapping/scan.ts';
import { patchedFor } from './preparation.ts';
import type { Read, VendorCall } from './vendor-call.ts';

/** The request to an engine that speaks the caller's dialect, and which parts of it we have changed. */
export interface Outgoing {
  readonly body: Buffer;
  /** SHA-256 of the body, where it is known already. */
  readonly sha256?: string;
  readonly fidelity: readonly FidelityEntry[];
}

/** The caller's bytes; or its text with another model name spliced in; or its text with the thinking that a run decided. */
export function outgoing(call: VendorCall, read: Read, chosen: Route): Outgoing {
  if (chosen.mode === 'passthrough') return { body: read.body, fidelity: [] };
  const asked = call.match.model ?? read.scan.model;
  const renamed: FidelityEntry[] =
    asked === chosen.model ? [] : [{ path: 'model', fate: 'renamed', code: 'model_renamed', note: `sent as ${chosen.model}` }];
  const patched = patchedFor(call, read, chosen);
  if (patched !== undefined) return { body: patched.body, fidelity: [...renamed, ...patched.fidelity] };
  const ready = read.aside?.renamed.get(chosen.model);
  if (ready !== undefined) return { ...ready, fidelity: renamed };
  const span = read.scan.modelSpan;
  return { body: span === undefined ? read.body : spliceModel(read.text, span, chosen.model), fidelity: renamed };
}

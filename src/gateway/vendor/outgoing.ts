import { isJsonObject, parseJson } from '../../base/json.ts';
import { AbpError } from '../../contract/errors.ts';
import type { FidelityEntry } from '../../contract/negotiation.ts';
import type { Route } from '../../mapping/route.ts';
import { spliceModel } from '../../mapping/scan.ts';
import { patchThinking, type ThinkingOverride } from '../../mapping/thinking-override.ts';
import type { VendorCall } from './handle.ts';
import type { CallOptions } from './options.ts';
import type { Read } from './read.ts';

/** What is sent to an engine that speaks the caller's dialect, and what is no longer as the caller wrote it. */
export interface Outgoing {
  readonly body: Buffer;
  readonly fidelity: readonly FidelityEntry[];
}

/** The caller's bytes; or its text with another model name spliced in; or its text with the thinking that a run decided. */
export function outgoing(call: VendorCall, read: Read, chosen: Route, { thinking }: CallOptions): Outgoing {
  if (chosen.mode === 'passthrough') return { body: read.body, fidelity: [] };
  const span = read.scan.modelSpan;
  const spliced = span === undefined ? read.body : spliceModel(read.text, span, chosen.model);
  const asked = call.match.model ?? read.scan.model;
  const renamed: FidelityEntry[] = asked === chosen.model ? [] : [{ path: 'model', fate: 'renamed', note: `sent as ${chosen.model}` }];
  if (thinking === undefined || call.match.path.operation !== 'generate') return { body: spliced, fidelity: renamed };
  const patched = withThinking(call, span === undefined ? read.text : spliced, chosen, thinking);
  return { body: patched.body, fidelity: [...renamed, ...patched.fidelity] };
}

function withThinking({ match }: VendorCall, text: Buffer, { engine, model }: Route, override: ThinkingOverride): Outgoing {
  const parsed = parseJson(text.toString('utf8'));
  if (!parsed.ok || !isJsonObject(parsed.value)) throw new AbpError('invalid_request', 'The request body is not a JSON object.');
  const stream = match.path.stream;
  const { body, fidelity } = patchThinking({
    body: parsed.value,
    dialect: match.dialect,
    address: { ...(match.model === undefined ? {} : { model: match.model }), ...(stream === undefined ? {} : { stream }) },
    engine,
    model,
    override,
  });
  return { body: Buffer.from(JSON.stringify(body), 'utf8'), fidelity };
}

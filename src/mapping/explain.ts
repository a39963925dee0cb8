import { isJsonObject, type Json } from '../base/json.ts';
import type { Capability } from '../contract/capability.ts';
import { AbpError } from '../contract/errors.ts';
import type { FidelityEntry } from '../contract/negotiation.ts';
import type { ReceiptNegotiation } from '../contract/receipts/receipt.ts';
import type { Compatibility, Mode } from '../contract/support.ts';
import type { Dialect } from '../dialects/dialect.ts';
import { dialects, findDialect } from '../dialects/index.ts';
import { Ledger } from '../ir/ledger.ts';
import { fidelity } from './fidelity.ts';
import { map } from './mapping.ts';
import { type Route, route } from './route.ts';

export interface ExplainInput {
  readonly from: string;
  readonly to: string;
  readonly model?: string | undefined;
  readonly compatibility?: Compatibility | undefined;
  readonly emulate?: readonly Capability[] | undefined;
  readonly request: Json;
}

/** What would happen to a request, without calling anyone. */
export interface Explanation {
  readonly mode: Mode;
  readonly negotiation: ReceiptNegotiation | null;
  readonly fidelity: readonly FidelityEntry[];
  readonly upstream: { readonly method: string; readonly path: string; readonly body: Json } | null;
  readonly error?: AbpError;
}

export function explain(input: ExplainInput): Explanation {
  const source = findDialect(input.from);
  if (source === undefined) {
    throw new AbpError('not_found', `There is no dialect "${input.from}". Known are ${dialects.map(({ id }) => id).join(', ')}.`, {
      dialect: input.from,
    });
  }
  const asked = isJsonObject(input.request) && typeof input.request.model === 'string' ? input.request.model : (input.model ?? '');
  const chosen = route({ dialect: source, model: asked, headerEngine: input.to, table: [] });
  const model = input.model ?? chosen.model;
  if (model === '')
    throw new AbpError('invalid_request', 'No model is named: a request of this dialect has it in its address, so give it beside.');
  if (chosen.mode === 'passthrough' && model === chosen.model) return passthrough(source, input.request, chosen);
  const {
    upstream,
    error,
    negotiation,
    fidelity: entries,
  } = map({
    body: input.request,
    source,
    address: { model },
    engine: chosen.engine,
    target: chosen.target,
    model,
    compatibility: input.compatibility ?? 'best_effort',
    emulate: new Set(input.emulate),
    requirements: { required: [] },
    unknownLeaves: 'refuse',
  });
  return {
    mode: 'mapped',
    negotiation,
    fidelity: entries,
    upstream: upstream === undefined ? null : { method: 'POST', path: upstream.path, body: upstream.body },
    ...(error === undefined ? {} : { error }),
  };
}

/** Nothing is parsed, nothing changes: every leaf is exact. */
function passthrough(dialect: Dialect, body: Json, { engine, model }: Route): Explanation {
  const account = fidelity({
    ...{ body, source: dialect, target: dialect, engineName: engine.name },
    ...{ ledger: new Ledger(), lacks: new Set(), notes: [] },
  });
  return {
    mode: 'passthrough',
    negotiation: null,
    fidelity: account.entries,
    upstream: { method: 'POST', path: pathOf(dialect, model), body },
  };
}

/** The vendor's own path, without our prefix for the dialect and with the model where the address names it. */
function pathOf({ paths, prefix = '' }: Dialect, model: string): string {
  const path = paths.find(({ operation }) => operation === 'generate')?.path ?? '/';
  return path.slice(prefix.length).replace('{model}', encodeURIComponent(model));
}

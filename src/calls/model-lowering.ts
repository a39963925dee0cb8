import type { Capability } from '../contract/capability.ts';
import { AbpError, type MappingParties } from '../contract/errors.ts';
import type { EmulationEntry, FidelityEntry } from '../contract/negotiation.ts';
import type { ReceiptNegotiation } from '../contract/receipts/receipt.ts';
import type { CapabilityManifest, Compatibility } from '../contract/support.ts';
import type { Dialect, FateNote, LoweredRequest } from '../dialects/dialect.ts';
import type { Engine } from '../engines/engine.ts';
import type { IrRequest } from '../ir/request.ts';
import type { AnswerChange } from '../mapping/answer-filter.ts';
import { modelFacts } from '../mapping/model.ts';
import { preflight } from '../mapping/preflight.ts';
import { repair } from '../mapping/repair.ts';
import { requiredCapabilities } from '../mapping/required.ts';
import { mapIds } from '../mapping/tool-ids.ts';
import { renamesFor, renameTools } from '../mapping/tool-names.ts';
import { mendSchemas } from '../mapping/tool-schemas.ts';
import { negotiate, unmet } from '../negotiation/negotiate.ts';
import { generateReport } from '../negotiation/report.ts';

/** A request of ours, which no vendor's SDK wrote, and the engine it goes to. */
export interface LoweringInput {
  readonly request: IrRequest;
  readonly engine: Engine;
  readonly target: Dialect;
  readonly compatibility: Compatibility;
  readonly emulate: ReadonlySet<Capability>;
}

/** The request in the engine's words, and the account of how it got there. */
export interface Lowering {
  readonly upstream: LoweredRequest;
  readonly changes: readonly AnswerChange[];
  readonly negotiation: ReceiptNegotiation | null;
  readonly emulations: readonly EmulationEntry[];
  readonly fidelity: readonly FidelityEntry[];
}

/** Checks what the request uses against what the model has, then writes it down for the engine. Throws E001 or E006 before anyone is called. */
export function lowerModelRequest(input: LoweringInput): Lowering {
  const { request, engine, target } = input;
  const facts = modelFacts(engine, request.model);
  const { lacks } = facts.lower;
  const cleared = preflight({ ...input, manifest: facts.manifest, lower: facts.lower, parties: partiesOf(input) });
  const repaired = repair(cleared.request.messages, target, lacks);
  const mended = mendSchemas(cleared.request, target);
  const renames = renamesFor(mended.request, target.rules.toolName);
  const ready = renameTools({ ...mended.request, messages: mapIds(repaired.messages, target.rules.toolCallId) }, renames);
  const upstream = target.lowerRequest(ready, facts.lower);
  const notes = [...cleared.notes, ...repaired.notes, ...mended.notes, ...upstream.notes];
  const refused = notes.find(({ fate }) => fate === 'refused');
  if (refused !== undefined) {
    throw new AbpError('E001', `${refused.concept} cannot be sent to ${engine.name}: ${refused.note}`, {
      feature: refused.concept,
      engine: engine.id,
    });
  }
  return {
    upstream,
    changes: [...(renames.size === 0 ? [] : [{ kind: 'tool-names', renames } as const]), ...cleared.changes],
    negotiation: negotiationOf(input, facts.manifest),
    emulations: cleared.emulations,
    fidelity: notes.map(entryOf),
  };
}

function partiesOf({ engine, target }: LoweringInput): MappingParties {
  return { dialectId: target.id, dialectStyle: target.style, engineId: engine.id, engineName: engine.name };
}

function negotiationOf({ request, compatibility }: LoweringInput, manifest: CapabilityManifest): ReceiptNegotiation | null {
  const minSupport = compatibility === 'strict' ? 'native' : 'emulated';
  const required = requiredCapabilities(request).map(({ capability }) => ({ capability, min_support: minSupport }) as const);
  if (required.length === 0) return null;
  const result = negotiate(manifest, { required });
  return { result, report: generateReport(result, manifest), unmet: unmet(manifest, { required }) };
}

/** Our own requests have no paths of a caller's body; the concept says which field it was. */
function entryOf({ concept, fate, note, at }: FateNote): FidelityEntry {
  return { path: at ?? concept, fate, note };
}

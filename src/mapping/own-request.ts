import { AbpError } from '../contract/errors.ts';
import { isHarmless } from '../contract/fate-codes.ts';
import type { FidelityEntry } from '../contract/negotiation.ts';
import type { ReceiptNegotiation } from '../contract/receipts/parts.ts';
import type { FateNote, LoweredRequest } from '../dialects/dialect.ts';
import type { Engine } from '../engines/engine.ts';
import { negotiationAccount } from '../negotiation/report.ts';
import type { AnswerChange } from './answer-filter.ts';
import { emulationsOf } from './labels.ts';
import { modelFacts } from './model.ts';
import { impliedRequirements } from './required.ts';
import { type WritingInput, type Written, write } from './writing.ts';

/** A request of ours, which no vendor's SDK wrote, and the engine it goes to. */
export type OwnRequest = Pick<WritingInput, 'request' | 'target' | 'compatibility' | 'emulate'> & { readonly engine: Engine };

/** The request in the engine's words, and the account of how it got there. */
export interface OwnMapping extends Pick<Written, 'emulations'> {
  readonly upstream: LoweredRequest;
  readonly changes: readonly AnswerChange[];
  readonly negotiation: ReceiptNegotiation | null;
  readonly fidelity: readonly FidelityEntry[];
}

/** Checks what a request of ours uses against what the model has, then writes it for the engine. Throws E001 or E006 before anyone is called. */
export function mapOwn(input: OwnRequest): OwnMapping {
  const { request, engine, target, compatibility } = input;
  const facts = modelFacts(engine, request.model);
  const parties = { dialectId: target.id, dialectStyle: target.style, engineId: engine.id, engineName: engine.name };
  const written = write({ ...input, facts, parties });
  const notes = [...written.notes, ...written.lowered.notes];
  const refused = notes.find(({ fate }) => fate === 'refused');
  if (refused !== undefined) {
    throw new AbpError('E001', `${refused.concept} cannot be sent to ${engine.name}: ${refused.note}`, {
      feature: refused.concept,
      engine: engine.id,
    });
  }
  const required = impliedRequirements(request, compatibility);
  return {
    upstream: written.lowered,
    changes: [...(written.renames.size === 0 ? [] : [{ kind: 'tool-names', renames: written.renames } as const]), ...written.changes],
    negotiation: required.length === 0 ? null : negotiationAccount(facts.manifest, { required }),
    emulations: emulationsOf(written.emulations, notes, request),
    fidelity: notes.filter(({ fate, code }) => fate !== 'dropped' || !isHarmless(code)).map(entryOf),
  };
}

/** Our own requests have no paths of a caller's body; the concept says which field it was. */
function entryOf({ concept, fate, code, note, at }: FateNote): FidelityEntry {
  return { path: at ?? concept, fate, code, note };
}

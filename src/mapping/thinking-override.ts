import { canonicalJson } from '../base/canonical-json.ts';
import { isJsonObject, type Json, type JsonObject, parseJson } from '../base/json.ts';
import { AbpError } from '../contract/errors.ts';
import type { FidelityEntry } from '../contract/negotiation.ts';
import type { Dialect, FateNote, LiftContext } from '../dialects/dialect.ts';
import type { Engine } from '../engines/engine.ts';
import { Ledger } from '../ir/ledger.ts';
import type { IrEffort, IrRequest } from '../ir/request.ts';
import { modelFacts } from './model.ts';

/** Thinking that the run of a coding agent decided; it replaces what the agent writes. A budget beats an effort. */
export interface ThinkingOverride {
  readonly effort?: IrEffort;
  readonly budgetTokens?: number;
}

/** The request with the thinking of the run, and a note that says so. */
export function overrideThinking(request: IrRequest, override: ThinkingOverride): { request: IrRequest; notes: FateNote[] } {
  const { effort, budgetTokens } = override;
  if (budgetTokens !== undefined) {
    const { effort: _gone, ...rest } = request;
    const limit = request.maxTokens;
    // A budget is part of the token limit, which must leave room for an answer.
    const raised = limit !== undefined && limit <= budgetTokens ? { maxTokens: limit + budgetTokens } : {};
    const note = `set to a budget of ${budgetTokens} tokens by the run`;
    return {
      request: { ...rest, ...raised, thinking: { ...request.thinking, mode: 'enabled', budgetTokens } },
      notes: [{ concept: 'thinking', fate: 'emulated', code: 'set_by_run', note }],
    };
  }
  if (effort === undefined) return { request, notes: [] };
  const { budgetTokens: _budget, ...thinking } = request.thinking ?? { mode: 'enabled' as const };
  return {
    request: { ...request, effort, ...(request.thinking === undefined ? {} : { thinking }) },
    notes: [{ concept: 'effort', fate: 'emulated', code: 'set_by_run', note: `set to ${effort} by the run` }],
  };
}

interface PatchInput {
  readonly body: JsonObject;
  readonly dialect: Dialect;
  readonly address: Omit<LiftContext, 'ledger'>;
  readonly engine: Engine;
  readonly model: string;
  readonly override: ThinkingOverride;
}

/**
 * A body of the engine's own dialect with the run's thinking in it and nothing else changed: the request is lowered with and without the
 * override, and only what differs between the two is put into the caller's body.
 */
export function patchThinking(input: PatchInput): { body: JsonObject; fidelity: FidelityEntry[] } {
  const { body, dialect, address, engine, model, override } = input;
  const asked = { ...dialect.liftRequest(body, { ledger: new Ledger(), ...address }), model };
  const { lower } = modelFacts(engine, model);
  const plain = dialect.lowerRequest(asked, lower);
  const { request, notes } = overrideThinking(asked, override);
  const wanted = dialect.lowerRequest(request, lower);
  const fidelity: FidelityEntry[] = [];
  const note = notes.map((one) => one.note).join('; ');
  const patched = patch(body, [plain.body, wanted.body], (path) => fidelity.push({ path, fate: 'emulated', code: 'set_by_run', note }));
  return { body: patched, fidelity };
}

/** A body with the run's thinking in it, and what is no longer as the caller wrote it. */
export interface PatchedText {
  readonly body: Buffer;
  readonly fidelity: readonly FidelityEntry[];
}

export type PatchTextInput = Omit<PatchInput, 'body'>;

/** The same for a body that is still text. */
export function patchText(text: Buffer, input: PatchTextInput): PatchedText {
  const parsed = parseJson(text.toString('utf8'));
  if (!parsed.ok || !isJsonObject(parsed.value)) throw new AbpError('invalid_request', 'The request body is not a JSON object.');
  const { body, fidelity } = patchThinking({ ...input, body: parsed.value });
  return { body: Buffer.from(JSON.stringify(body), 'utf8'), fidelity };
}

/** `target` with every member that differs between the two as it is in the second. */
function patch(
  target: JsonObject,
  [before, after]: readonly [JsonObject, JsonObject],
  changed: (path: string) => void,
  at = '',
): JsonObject {
  const result: Record<string, Json> = { ...target };
  for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const [was, is, own] = [before[key], after[key], target[key]];
    if (same(was, is)) continue;
    const path = `${at}${key}`;
    if (isJsonObject(was) && isJsonObject(is) && isJsonObject(own)) {
      result[key] = patch(own, [was, is], changed, `${path}.`);
      continue;
    }
    changed(path);
    if (is === undefined) delete result[key];
    else result[key] = is;
  }
  return result;
}

function same(a: Json | undefined, b: Json | undefined): boolean {
  return a === undefined || b === undefined ? a === b : canonicalJson(a) === canonicalJson(b);
}

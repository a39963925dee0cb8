import { canonicalJson } from '../base/canonical-json.ts';
import { isJsonObject, type Json, type JsonObject } from '../base/json.ts';
import { AbpError } from '../contract/errors.ts';
import type { FidelityEntry } from '../contract/negotiation.ts';
import type { Dialect, FateNote, LiftContext, LowerContext } from '../dialects/dialect.ts';
import type { Engine } from '../engines/engine.ts';
import { Ledger } from '../ir/ledger.ts';
import type { IrEffort, IrRequest } from '../ir/request.ts';
import { modelFacts } from './model.ts';
import { readRequest } from './request-text.ts';
import { patchOffer, type ToolRules } from './tools/tool-rules.ts';

/**
 * Thinking that the run of a coding agent decided; it replaces what the agent writes. A budget alone was asked for as such; beside an
 * effort it is what that level means to a model that takes a number.
 */
export interface ThinkingOverride {
  readonly effort?: IrEffort;
  readonly budgetTokens?: number;
}

/** Whom the request goes to. */
export interface ThinkingTarget {
  readonly dialect: Pick<Dialect, 'rules'>;
  readonly lower: Pick<LowerContext, 'traits'>;
}

/** The request with the thinking of the run, and a note that says so. */
export function overrideThinking(
  request: IrRequest,
  override: ThinkingOverride,
  target: ThinkingTarget,
): { request: IrRequest; notes: FateNote[] } {
  const { effort, budgetTokens } = override;
  if (budgetTokens === undefined) return effort === undefined ? { request, notes: [] } : withEffort(request, effort, target);
  if (effort !== undefined && target.dialect.rules.thinkingBudgets !== true) return withEffort(request, effort, target);
  const { effort: _gone, ...rest } = request;
  const limit = request.maxTokens;
  const counts = effort === undefined || takesNumber(target);
  // A budget is part of the token limit, which must leave room for an answer.
  const raised = counts && limit !== undefined && limit <= budgetTokens ? { maxTokens: limit + budgetTokens } : {};
  const level = effort === undefined || counts ? {} : { effort };
  const note = `set to ${counts ? `a budget of ${budgetTokens} tokens` : effort} by the run`;
  return {
    request: { ...rest, ...raised, ...level, thinking: { ...request.thinking, mode: 'enabled', budgetTokens } },
    notes: notesOf('thinking', request, note),
  };
}

/** The run's decision replaces thinking and effort, whichever of them the agent has written. */
function notesOf(concept: 'thinking' | 'effort', { thinking, effort }: IrRequest, note: string): FateNote[] {
  const besides =
    concept === 'thinking' ? (effort === undefined ? [] : ['effort' as const]) : thinking === undefined ? [] : ['thinking' as const];
  return [concept, ...besides].map((one) => ({ concept: one, fate: 'emulated', code: 'set_by_run', note }));
}

function withEffort(request: IrRequest, effort: IrEffort, target: ThinkingTarget): { request: IrRequest; notes: FateNote[] } {
  const { thinking: own, ...rest } = request;
  const { budgetTokens: _budget, ...thinking } = own ?? {};
  // Beside thinking without a number, a model that takes one would be given the usual number instead of that of the effort.
  const kept = own === undefined || takesNumber(target) ? {} : { thinking: { mode: own.mode, ...thinking } };
  return { request: { ...rest, ...kept, effort }, notes: notesOf('effort', request, `set to ${effort} by the run`) };
}

/** Generations that are told how hard to think have these traits; the others of a dialect with budgets take a number. */
function takesNumber({ dialect, lower: { traits } }: ThinkingTarget): boolean {
  return dialect.rules.thinkingBudgets === true && !traits.has('adaptive-thinking') && !traits.has('thinking-level');
}

/** The members of a request of this engine that carry the amount of thinking of a run, as they stand on the wire; empty where it changes nothing. */
export function thinkingOnWire(engine: Engine, dialect: Dialect, model: string, override: ThinkingOverride): JsonObject {
  const { lower } = modelFacts(engine, model);
  const plain: IrRequest = { model, messages: [{ role: 'user', parts: [{ kind: 'text', text: '.' }] }], ...EMPTY };
  const { request } = overrideThinking(plain, override, { dialect, lower });
  const [before, after] = [plain, request].map((one) => dialect.lowerRequest(one, lower).body);
  const changed = Object.entries(after ?? {}).filter(([name, value]) => !LIMITS.has(name) && !same(before?.[name], value));
  return amountOf(Object.fromEntries(changed));
}

/** Members that say what is shown of the thinking, not how much there is. */
const SHOWN: ReadonlySet<string> = new Set(['includeThoughts', 'summary', 'display']);

function amountOf(members: JsonObject): JsonObject {
  const kept = Object.entries(members).filter(([name]) => !SHOWN.has(name));
  return Object.fromEntries(kept.map(([name, value]) => [name, isJsonObject(value) ? amountOf(value) : value]));
}

/** The members of a request that asks for nothing. */
const EMPTY = { tools: [], stop: [], sampling: {}, stream: false, vendor: {} } as const;
/** Limits that grow with a budget, and are no thinking themselves. */
const LIMITS: ReadonlySet<string> = new Set(['max_tokens', 'max_output_tokens', 'max_completion_tokens']);

interface PatchInput {
  readonly body: JsonObject;
  readonly dialect: Dialect;
  readonly address: Omit<LiftContext, 'ledger'>;
  readonly engine: Engine;
  readonly model: string;
  readonly override: ThinkingOverride;
  /** Rules about tools: denied ones are taken out of the offer. */
  readonly toolRules?: readonly ToolRules[] | undefined;
}

/**
 * A body of the engine's own dialect with the run's thinking in it and nothing else changed: the request is lowered without any thinking,
 * with the caller's and with the run's, and only members that thinking decides on are put into the caller's body.
 */
export function patchThinking(input: PatchInput): { body: JsonObject; fidelity: FidelityEntry[] } {
  const { body, dialect, address, engine, model, override } = input;
  if (override.effort === undefined && override.budgetTokens === undefined) return { body, fidelity: [] };
  const asked = { ...dialect.liftRequest(body, { ledger: new Ledger(), ...address }), model };
  const { thinking: _thinking, effort: _effort, ...silent } = asked;
  const { lower } = modelFacts(engine, model);
  const { request } = overrideThinking(asked, override, { dialect, lower });
  const [none, own, wanted] = [silent, asked, request].map((one) => dialect.lowerRequest(one, lower).body);
  const fidelity: FidelityEntry[] = [];
  const changed = (path: string, value: Json | undefined): void => {
    const note = value === undefined ? 'left out by the run' : `set to ${JSON.stringify(value)} by the run`;
    fidelity.push({ path, fate: 'emulated', code: 'set_by_run', note });
  };
  const patched = patch(body, { none, own, wanted }, changed);
  const { effort } = dialect.names;
  return { body: effort === undefined ? patched : without(patched, wanted, effort.split('.'), () => changed(effort, undefined)), fidelity };
}

/** `target` without the member at this path where `wanted` has none: of an effort that the model does not take nothing is known above. */
function without(target: JsonObject, wanted: Json | undefined, [name = '', ...rest]: readonly string[], changed: () => void): JsonObject {
  const [mine, theirs] = [target[name], isJsonObject(wanted) ? wanted[name] : undefined];
  if (mine === undefined || (rest.length === 0 && theirs !== undefined)) return target;
  const { [name]: _gone, ...others } = target;
  if (rest.length > 0) {
    if (!isJsonObject(mine)) return target;
    const inner = without(mine, theirs, rest, changed);
    return Object.keys(inner).length === 0 ? others : { ...target, [name]: inner };
  }
  changed();
  return others;
}

/** A body with the run's thinking in it and without denied tools, and what is no longer as the caller wrote it. */
export interface PatchedText {
  readonly body: Buffer;
  readonly fidelity: readonly FidelityEntry[];
}

export interface PatchTextInput extends Omit<PatchInput, 'body'> {
  /** How many values the scan has found in the text. */
  readonly values?: number;
}

/** The same for a body that is still text. */
export function patchText(text: Buffer, input: PatchTextInput): PatchedText {
  const request = readRequest(text, input.values);
  if (!isJsonObject(request)) throw new AbpError('invalid_request', 'The request body is not a JSON object.');
  const offer = patchTools(request, input);
  const thinking = patchThinking({ ...input, body: offer.body });
  const [body, fidelity] = [thinking.body, [...offer.fidelity, ...thinking.fidelity]];
  // An agent that has set the same itself keeps its bytes.
  return { body: fidelity.length === 0 ? text : Buffer.from(JSON.stringify(body), 'utf8'), fidelity };
}

/** The body without the tools that rules deny. */
function patchTools(
  body: JsonObject,
  { dialect, address, toolRules = [] }: PatchTextInput,
): { body: JsonObject; fidelity: FidelityEntry[] } {
  if (toolRules.length === 0) return { body, fidelity: [] };
  return patchOffer(body, dialect.liftRequest(body, { ledger: new Ledger(), ...address }), toolRules);
}

/** One member of a request as it is lowered without thinking, with the caller's, and with the run's. */
interface Lowered {
  readonly none: JsonObject | undefined;
  readonly own: JsonObject | undefined;
  readonly wanted: JsonObject | undefined;
}

/** `target` with every member that thinking decides on as the run wants it. A member that is there for thinking alone is replaced whole. */
function patch(
  target: JsonObject,
  { none = {}, own = {}, wanted = {} }: Lowered,
  changed: (path: string, value: Json | undefined) => void,
  at = '',
): JsonObject {
  const result: Record<string, Json> = { ...target };
  for (const key of new Set([...Object.keys(none), ...Object.keys(own), ...Object.keys(wanted)])) {
    const [bare, is, written] = [none[key], wanted[key], target[key]];
    if ((same(bare, is) && same(bare, own[key])) || same(written, is)) continue;
    const path = `${at}${key}`;
    const inside = isJsonObject(written) ? insideOf({ none: none[key], own: own[key], wanted: is }) : undefined;
    if (inside !== undefined && isJsonObject(written)) {
      result[key] = patch(written, inside, changed, `${path}.`);
      continue;
    }
    changed(path, is);
    if (is === undefined) delete result[key];
    else result[key] = is;
  }
  return result;
}

/** The members of an object that is not there for thinking alone: one that has other members, or none that are values. */
function insideOf({ none, own, wanted }: { [K in keyof Lowered]: Json | undefined }): Lowered | undefined {
  if (!isJsonObject(wanted) || !(isJsonObject(none) || Object.values(wanted).every(isJsonObject))) return undefined;
  return { none: isJsonObject(none) ? none : undefined, own: isJsonObject(own) ? own : undefined, wanted };
}

function same(a: Json | undefined, b: Json | undefined): boolean {
  return a === undefined || b === undefined ? a === b : canonicalJson(a) === canonicalJson(b);
}

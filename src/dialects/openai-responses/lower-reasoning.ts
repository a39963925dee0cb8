import { type JsonObject, objectIn } from '../../base/json.ts';
import type { IrRequest, IrThinking } from '../../ir/request.ts';
import type { FateNote, LowerContext } from '../dialect.ts';
import { compact } from '../members.ts';
import { knownEffort } from '../openai-effort.ts';
import { ID } from './lift-content.ts';

/** Budgets in tokens up to which a level is meant; above the last it is `high`. */
const LEVELS: readonly (readonly [most: number, effort: string])[] = [
  [2048, 'low'],
  [8192, 'medium'],
];

/** `reasoning` of the body: the caller's effort, or the level that comes nearest to its thinking. */
export function lowerReasoning(request: IrRequest, context: LowerContext, notes: FateNote[]): JsonObject | undefined {
  const own = objectIn(request.vendor[ID]?.reasoning);
  const thinking = lowerThinking(request, context, notes);
  const reasoning = compact({ ...thinking, effort: lowerEffort(request, context, notes) ?? thinking.effort, ...own });
  return Object.keys(reasoning).length === 0 ? undefined : reasoning;
}

/** A model that does not reason needs not be told to leave it. */
function lowerEffort(request: IrRequest, context: LowerContext, notes: FateNote[]): string | undefined {
  const { effort } = request;
  if (effort === undefined || request.vendor[ID] !== undefined) return effort;
  if (!context.lacks.has('effort')) return knownEffort(effort, context, notes);
  if (effort === 'none') notes.push({ concept: 'effort', fate: 'renamed', code: 'does_not_reason', note: 'the model does not reason' });
  else notes.push({ concept: 'effort', fate: 'refused', code: 'does_not_reason', note: 'the model does not reason' });
  return undefined;
}

/** Thinking has no budget here, only levels, and shows a summary instead of itself. */
function lowerThinking(request: IrRequest, context: LowerContext, notes: FateNote[]): { effort?: string; summary?: string } {
  const { thinking, effort } = request;
  if (thinking === undefined) return {};
  if (context.lacks.has('effort')) {
    const fate = thinking.mode === 'disabled' ? 'renamed' : 'refused';
    notes.push({ concept: 'thinking', fate, code: 'does_not_reason', note: 'the model does not reason' });
    return {};
  }
  if (thinking.mode === 'disabled') return withoutThinking(context, notes, effort);
  return effort !== undefined && thinking.display === 'omitted' ? lostToEffort(notes) : asReasoning(thinking, effort, notes);
}

function asReasoning(thinking: IrThinking, effort: string | undefined, notes: FateNote[]): { effort?: string; summary?: string } {
  const level = thinking.mode !== 'enabled' || thinking.budgetTokens === undefined ? undefined : levelOf(thinking.budgetTokens);
  const asked = effort ?? level;
  const words = asked === undefined ? 'sent as reasoning with the effort the model chooses' : `sent as reasoning effort ${asked}`;
  const note = `${words}; the answer holds summaries of the reasoning`;
  const counts = effort === undefined && level !== undefined;
  notes.push({ concept: 'thinking', fate: 'emulated', code: 'thinking_as_effort', note });
  for (const concept of ['thinking_display', ...(counts ? (['thinking_budget'] as const) : [])] as const)
    notes.push({ concept, fate: 'emulated', code: 'thinking_as_effort', note, ofLeaf: true });
  return { ...(level === undefined ? {} : { effort: level }), ...(thinking.display === 'omitted' ? {} : { summary: 'auto' }) };
}

function lostToEffort(notes: FateNote[]): Record<string, never> {
  const note = 'the effort beside it decides; the answer holds no summaries';
  notes.push({ concept: 'thinking', fate: 'dropped', code: 'thinking_lost_to_effort', note });
  notes.push({ concept: 'thinking_display', fate: 'renamed', code: 'thinking_as_effort', note, ofLeaf: true });
  return {};
}

function levelOf(budget: number): string {
  return LEVELS.find(([most]) => budget <= most)?.[1] ?? 'high';
}

/** Only some models can be told not to reason; of the others nothing is shown. */
function withoutThinking(context: LowerContext, notes: FateNote[], effort: string | undefined): { effort?: string } {
  // The caller's effort is sent, and decides.
  if (effort === undefined && context.traits.has('effort-none')) {
    notes.push({ concept: 'thinking', fate: 'renamed', code: 'thinking_as_effort', note: 'reasoning.effort none' });
    return { effort: 'none' };
  }
  notes.push({
    concept: 'thinking',
    fate: 'emulated',
    code: 'thinking_hidden',
    note: `the model reasons ${effort === undefined ? 'as it does by default' : `with effort ${effort}`}; none of it is shown`,
  });
  return {};
}

/** Whether the answer will hold reasoning whose state is worth asking for. Models that do not reason reject the question. */
export function wantsReasoning(request: IrRequest, context: LowerContext): boolean {
  if (context.lacks.has('effort')) return false;
  const asked = (request.effort !== undefined && request.effort !== 'none') || (request.thinking?.mode ?? 'disabled') !== 'disabled';
  return asked || context.traits.has('reasoning') || request.messages.some((message) => message.parts.some(isOwnReasoning));
}

function isOwnReasoning(part: { readonly kind: string; readonly meta?: Readonly<Record<string, JsonObject>> }): boolean {
  return part.kind === 'thinking' && part.meta?.[ID] !== undefined;
}

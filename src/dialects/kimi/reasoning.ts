import { type JsonObject, objectIn } from '../../base/json.ts';
import type { IrEffort, IrRequest } from '../../ir/request.ts';
import type { FateNote, LowerContext } from '../dialect.ts';
import { effortOf, LOST_TO_EFFORT, measured } from '../families/chat/reasoning.ts';

/** The levels that k3 knows, and what comes nearest to the others. */
const LEVELS: Readonly<Record<Exclude<IrEffort, 'none'>, string>> = {
  minimal: 'low',
  low: 'low',
  medium: 'high',
  high: 'high',
  xhigh: 'max',
  max: 'max',
};

/**
 * Models up to k2.6 have a switch, k3 has levels, and both in one request is an error. A model without a trait gets the form the
 * caller used.
 */
export function lowerReasoning(request: IrRequest, context: LowerContext, notes: FateNote[]): JsonObject {
  const lowered = lowerForm(request, context, notes);
  if (request.vendor.kimi?.thinking !== undefined && lowered.thinking === undefined)
    notes.push({ concept: 'context_management', fate: 'dropped', code: 'model_lacks', note: 'the model has no such setting of thinking' });
  return lowered;
}

function lowerForm(request: IrRequest, context: LowerContext, notes: FateNote[]): JsonObject {
  const { thinking, effort } = request;
  if (thinking === undefined && effort === undefined) return {};
  const levels = context.traits.has('reasoning-effort') || (thinking === undefined && !context.traits.has('thinking-switch'));
  return levels ? lowerLevel(request, notes) : lowerSwitch(request, notes);
}

function lowerLevel(request: IrRequest, notes: FateNote[]): JsonObject {
  const { thinking, effort } = request;
  if (request.vendor.kimi?.thinking !== undefined)
    notes.push({
      concept: 'context_management',
      fate: 'dropped',
      code: 'model_lacks',
      note: 'the model takes a level and no other setting',
    });
  if (thinking !== undefined && effort !== undefined) notes.push(LOST_TO_EFFORT);
  const said = effort === undefined && thinking !== undefined ? measured(thinking) : ([{ concept: 'effort' }] as const);
  const wanted = effort ?? (thinking === undefined ? undefined : effortOf(thinking));
  if (wanted === undefined) {
    // Thinking without a number is left to the model, which shows it in any case.
    const note = 'left to the model, which reasons and shows it in any case';
    notes.push({ concept: 'thinking', fate: 'emulated', code: 'thinking_as_effort', note });
    return {};
  }
  if (wanted === 'none') {
    for (const one of said)
      notes.push({ ...one, fate: 'emulated', code: 'always_reasons', note: 'the model always reasons; sent as its lowest level' });
    return { reasoning_effort: LEVELS.minimal };
  }
  const level = LEVELS[wanted];
  if (level !== effort)
    for (const one of said) notes.push({ ...one, fate: 'emulated', code: 'thinking_as_effort', note: `sent as reasoning_effort ${level}` });
  return { reasoning_effort: level };
}

function lowerSwitch(request: IrRequest, notes: FateNote[]): JsonObject {
  const { thinking, effort } = request;
  const off = thinking === undefined ? effort === 'none' : thinking.mode === 'disabled';
  const type = off ? 'disabled' : 'enabled';
  if (effort !== undefined)
    notes.push({
      concept: 'effort',
      fate: 'emulated',
      code: 'effort_as_switch',
      note: `sent as thinking ${type}; the model has no levels`,
    });
  if (thinking?.budgetTokens !== undefined || thinking?.mode === 'adaptive') {
    notes.push({
      concept: 'thinking',
      fate: 'emulated',
      code: 'thinking_as_switch',
      note: `sent as thinking ${type}; the model has no budget`,
    });
  }
  const { toolChoice: choice } = request;
  const forced = choice?.kind === 'required' || choice?.kind === 'tool' || (choice?.kind === 'allowed' && choice.mode === 'required');
  if (!off && thinking !== undefined && forced) {
    notes.push({ concept: 'tool_choice', fate: 'refused', code: 'not_while_thinking', note: 'while Kimi thinks, a tool cannot be forced' });
  }
  const own = request.vendor.kimi?.thinking;
  return { thinking: { type, ...objectIn(own) } };
}

/** The models with a trait reason unless told not to, and then refuse calls in the history without their reasoning. */
export function needsReasoning(request: IrRequest, context: LowerContext): boolean {
  const off = request.thinking?.mode === 'disabled' || request.effort === 'none';
  return !off && (context.traits.has('thinking-switch') || context.traits.has('reasoning-effort'));
}

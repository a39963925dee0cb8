import type { JsonObject } from '../../base/json.ts';
import type { IrMessage } from '../../ir/conversation.ts';
import type { IrPart } from '../../ir/part.ts';
import type { IrRequest, IrThinking } from '../../ir/request.ts';
import type { FateNote, LowerContext } from '../dialect.ts';
import { compact } from '../members.ts';

/** The smallest budget that Claude takes. */
const LEAST_BUDGET = 1024;
/** For a caller that wants thinking and names no budget. */
const USUAL_BUDGET = 4096;

/** `max_tokens` and `thinking`, which depend on each other: the budget is part of the limit and stays below it. */
export interface LoweredLimits {
  readonly maxTokens: number;
  readonly thinking: JsonObject | undefined;
}

export function lowerLimits(request: IrRequest, context: LowerContext, notes: FateNote[]): LoweredLimits {
  const budget = wantsBudget(request) ? request.thinking?.budgetTokens : undefined;
  const maxTokens = request.maxTokens ?? context.defaultMaxTokens + (budget ?? 0);
  if (request.maxTokens === undefined)
    notes.push({ concept: 'max_tokens', fate: 'emulated', note: `the caller set no limit; ${maxTokens} was sent` });
  return { maxTokens, thinking: lowerThinking(request, maxTokens, notes) };
}

function wantsBudget({ thinking }: IrRequest): boolean {
  return thinking?.mode === 'enabled';
}

function lowerThinking(request: IrRequest, maxTokens: number, notes: FateNote[]): JsonObject | undefined {
  const { thinking, effort } = request;
  if (thinking === undefined) return effort === 'none' ? { type: 'disabled' } : undefined;
  if (thinking.mode === 'disabled') return { type: 'disabled' };
  if (thinking.mode === 'enabled' && hasUnsignedLoop(request.messages)) {
    notes.push({
      concept: 'thinking',
      fate: 'emulated',
      note: 'off for this turn: the calls came back without the reasoning Claude signed',
    });
    return { type: 'disabled' };
  }
  refuseBesideThinking(request, notes);
  const budget = thinking.mode === 'enabled' ? lowerBudget(thinking, maxTokens, notes) : undefined;
  return compact({ type: thinking.mode, budget_tokens: budget, display: thinking.display });
}

function lowerBudget({ budgetTokens }: IrThinking, maxTokens: number, notes: FateNote[]): number {
  const most = maxTokens - 1;
  const budget = Math.max(LEAST_BUDGET, Math.min(budgetTokens ?? USUAL_BUDGET, most));
  if (budget > most) notes.push({ concept: 'thinking', fate: 'refused', note: `Claude thinks with a token limit above ${LEAST_BUDGET}` });
  else if (budget !== budgetTokens) notes.push({ concept: 'thinking', fate: 'emulated', note: `sent as a budget of ${budget} tokens` });
  return budget;
}

/** Claude answers 400 to a forced call and to sampling of the caller's choice while it thinks. */
function refuseBesideThinking({ toolChoice, sampling }: IrRequest, notes: FateNote[]): void {
  const refuse = (concept: FateNote['concept'], what: string): void => {
    notes.push({ concept, fate: 'refused', note: `Claude takes no ${what} while it thinks` });
  };
  const some = toolChoice?.kind === 'allowed' && toolChoice.mode === 'required';
  if (toolChoice?.kind === 'required' || toolChoice?.kind === 'tool' || some) refuse('tool_choice', 'forced tool call');
  if (sampling.temperature !== undefined && sampling.temperature !== 1) refuse('temperature', 'temperature but 1');
  if (sampling.topK !== undefined) refuse('top_k', 'top_k');
}

/** Whether the turn under way holds calls whose reasoning is not Claude's; it then refuses to go on thinking. */
function hasUnsignedLoop(messages: readonly IrMessage[]): boolean {
  if (!messages.at(-1)?.parts.some(({ kind }) => kind === 'tool-result')) return false;
  const last = messages.findLast(({ role }) => role === 'assistant');
  return last?.parts.some(({ kind }) => kind === 'tool-call') === true && !last.parts.some(isSigned);
}

function isSigned(part: IrPart): boolean {
  return part.kind === 'thinking' && part.meta?.claude !== undefined;
}

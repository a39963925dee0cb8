import type { JsonObject } from '../../base/json.ts';
import type { IrMessage } from '../../ir/conversation.ts';
import type { IrPart } from '../../ir/part.ts';
import type { IrEffort, IrRequest, IrThinking } from '../../ir/request.ts';
import type { FateNote, LowerContext } from '../dialect.ts';
import { compact } from '../members.ts';

/** The smallest budget that Claude takes. */
const LEAST_BUDGET = 1024;
/** For a caller that wants thinking and names no budget. */
const USUAL_BUDGET = 4096;

/** Budgets in tokens by which we replace an effort, for models that know budgets only. */
const EFFORT_BUDGETS: Readonly<Record<string, number>> = {
  minimal: 1024,
  low: 1024,
  medium: 8192,
  high: 16_384,
  xhigh: 24_576,
  max: 32_768,
};

/** The request in the form that the model's generation knows: levels that it has, and a budget or adaptive thinking, whichever it takes. */
export function forGeneration(asked: IrRequest, context: LowerContext, notes: FateNote[]): IrRequest {
  const request = withKnownLevel(asked, context, notes);
  if (context.traits.has('adaptive-thinking')) return withoutBudget(request, notes);
  return context.traits.has('budget-thinking') ? withBudget(request, context, notes) : request;
}

function withKnownLevel(request: IrRequest, { lacks, traits }: LowerContext, notes: FateNote[]): IrRequest {
  const { effort } = request;
  const toHigh = traits.has('effort-to-high');
  const unknown = (effort === 'xhigh' && (toHigh || traits.has('no-xhigh-effort'))) || (effort === 'max' && toHigh);
  if (!unknown || lacks.has('effort')) return request;
  notes.push({
    concept: 'effort',
    fate: 'emulated',
    code: 'nearest_level',
    note: `${effort} was sent as high, the next level that the model has`,
  });
  return { ...request, effort: 'high' };
}

/** A model that adapts is told how hard to think, not how long. Unlike older ones it shows its thinking only when asked to. */
function withoutBudget(request: IrRequest, notes: FateNote[]): IrRequest {
  const { thinking } = request;
  if (thinking?.mode !== 'enabled') return request;
  const { budgetTokens, ...rest } = thinking;
  const effort = request.effort ?? levelOf(budgetTokens);
  const level = effort === undefined ? '' : ` with effort ${effort}`;
  notes.push({
    concept: 'thinking',
    fate: 'emulated',
    code: 'thinking_as_adaptive',
    note: `sent as adaptive thinking${level}; the model takes no budget`,
  });
  return { ...request, ...(effort === undefined ? {} : { effort }), thinking: { display: 'summarized', ...rest, mode: 'adaptive' } };
}

function levelOf(budgetTokens: number | undefined): IrEffort | undefined {
  if (budgetTokens === undefined) return undefined;
  return budgetTokens <= 2048 ? 'low' : budgetTokens <= 8192 ? 'medium' : 'high';
}

function withBudget(request: IrRequest, { lacks }: LowerContext, notes: FateNote[]): IrRequest {
  const { effort, ...rest } = request;
  const { thinking } = rest;
  const budget = effort === undefined || !lacks.has('effort') ? undefined : EFFORT_BUDGETS[effort];
  if (budget !== undefined && thinking === undefined) return effortAsBudget(rest, budget, notes);
  if (budget !== undefined)
    notes.push({
      concept: 'effort',
      fate: 'emulated',
      code: 'effort_lost_to_thinking',
      note: 'the model has no effort levels; its thinking is as the caller set it',
    });
  if (thinking?.mode !== 'adaptive') return budget === undefined ? request : rest;
  notes.push({
    concept: 'thinking',
    fate: 'emulated',
    code: 'thinking_as_budget',
    note: 'adaptive was sent as a budget; the model does not adapt',
  });
  const left = budget === undefined ? request : rest;
  return { ...left, thinking: { ...thinking, mode: 'enabled', budgetTokens: budget ?? USUAL_BUDGET } };
}

/** Most of a token limit that thinking for an effort may take: the rest is for the answer. */
const SHARE = 0.8;

/** Unlike thinking that the caller asked for, an effort gives way to what Claude does not take beside thinking. */
function effortAsBudget(request: IrRequest, wanted: number, notes: FateNote[]): IrRequest {
  const { maxTokens = Number.POSITIVE_INFINITY } = request;
  const [obstacle] = besideThinking(request);
  const without = obstacle?.what ?? (maxTokens > LEAST_BUDGET ? undefined : `token limit up to ${LEAST_BUDGET}`);
  const budgetTokens = Math.min(wanted, Math.max(LEAST_BUDGET, Math.floor(maxTokens * SHARE)));
  const note =
    without === undefined
      ? `sent as a thinking budget of ${budgetTokens} tokens; the model has no effort levels`
      : `the model has no effort levels and does not think: it takes no ${without} while it does`;
  notes.push({ concept: 'effort', fate: 'emulated', code: without === undefined ? 'effort_as_budget' : 'not_while_thinking', note });
  return without === undefined ? { ...request, thinking: { mode: 'enabled', budgetTokens } } : request;
}

/** Room for the answer beside a thinking budget; more could pass what the model writes at most. */
const ANSWER_TOKENS = 8192;

/** `max_tokens` and `thinking`, which depend on each other: the budget is part of the limit and stays below it. */
export interface LoweredLimits {
  readonly maxTokens: number;
  readonly thinking: JsonObject | undefined;
}

export function lowerLimits(request: IrRequest, context: LowerContext, notes: FateNote[]): LoweredLimits {
  const budget = wantsBudget(request) ? request.thinking?.budgetTokens : undefined;
  const maxTokens = request.maxTokens ?? Math.max(context.defaultMaxTokens, budget === undefined ? 0 : budget + ANSWER_TOKENS);
  if (request.maxTokens === undefined)
    notes.push({ concept: 'max_tokens', fate: 'renamed', code: 'limit_added', note: `the caller set no limit; ${maxTokens} was sent` });
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
      code: 'thinking_off_this_turn',
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
  if (budget > most)
    notes.push({
      concept: 'thinking',
      fate: 'refused',
      code: 'limit_too_low_to_think',
      note: `Claude thinks with a token limit above ${LEAST_BUDGET}`,
    });
  else if (budget !== budgetTokens)
    notes.push({ concept: 'thinking', fate: 'emulated', code: 'thinking_as_budget', note: `sent as a budget of ${budget} tokens` });
  return budget;
}

function refuseBesideThinking(request: IrRequest, notes: FateNote[]): void {
  for (const { concept, what } of besideThinking(request))
    notes.push({ concept, fate: 'refused', code: 'not_while_thinking', note: `Claude takes no ${what} while it thinks` });
}

/** Claude answers 400 to a forced call and to sampling of the caller's choice while it thinks. */
function besideThinking({ toolChoice, sampling }: IrRequest): { readonly concept: FateNote['concept']; readonly what: string }[] {
  const some = toolChoice?.kind === 'allowed' && toolChoice.mode === 'required';
  const forced = toolChoice?.kind === 'required' || toolChoice?.kind === 'tool' || some;
  return [
    ...(forced ? [{ concept: 'tool_choice', what: 'forced tool call' } as const] : []),
    ...(sampling.temperature === undefined || sampling.temperature === 1
      ? []
      : [{ concept: 'temperature', what: 'temperature but 1' } as const]),
    ...(sampling.topK === undefined ? [] : [{ concept: 'top_k', what: 'top_k' } as const]),
  ];
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

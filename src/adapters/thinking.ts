import type { Json, JsonObject } from '../base/json.ts';
import type { AgentCapabilities, ModelCapabilities, ThinkingEffortLevel } from '../contract/runs/coding-agent.ts';
import type { RunOptions } from '../contract/runs/run-options.ts';
import type { Adapter, NativeThinking, ThinkingRule } from './adapter.ts';

/** Tokens of each level; `max` depends on the model. */
export const TOKENS = { low: 1024, medium: 8192, high: 32_768 } as const;

/** OpenAI has no tier above high that every model takes, so max is sent as high. */
export const EFFORT_WORDS = { low: 'low', medium: 'medium', high: 'high', max: 'high' } as const;

/** A rule that needs no look at the model's provider any more. */
type SettledRule = Exclude<ThinkingRule, { kind: 'provider' }>;

/** How each provider's models take thinking; we treat models of any other provider as OpenAI's. */
const BY_PROVIDER: Readonly<Record<string, SettledRule>> = {
  anthropic: { kind: 'budget', parameter: 'budget_tokens' },
  google: { kind: 'budget', parameter: 'thinkingBudget' },
};
const EFFORT: SettledRule = { kind: 'level', parameter: 'reasoning_effort', words: EFFORT_WORDS };

/** Native parameters of a run, and what of the wish could not be taken as it was. */
export interface NormalisedThinking {
  readonly native: NativeThinking;
  readonly notes: readonly string[];
}

export type ThinkingWishes = Pick<RunOptions, 'thinkingEffort' | 'thinkingBudgetTokens' | 'thinkingOverride' | 'model'>;

export interface ThinkingSubject {
  readonly adapter: Pick<Adapter, 'thinking' | 'thinkingToday' | 'capabilities'>;
  /** Abilities of the installed version; where we have not asked it, those of the profile. */
  readonly effective?: AgentCapabilities;
  /** The chosen model, or the agent's default one. */
  readonly model?: ModelCapabilities;
}

/** Table and budget rules of an agent, with the override merged on top: the override always wins. */
export function normaliseThinking(subject: ThinkingSubject, wishes: ThinkingWishes): NormalisedThinking {
  const { native, notes } = translate(ruleOf(subject, wishes.model), subject.model, wishes);
  return { native: { ...native, ...overrideOf(wishes) }, notes };
}

function overrideOf({ thinkingOverride }: ThinkingWishes): JsonObject {
  // Parsed from JSON, so no member is undefined.
  return (thinkingOverride ?? {}) as Readonly<Record<string, Json>>;
}

const NONE: SettledRule = { kind: 'none', reason: 'the agent has no thinking mode' };

function ruleOf({ adapter, effective, model }: ThinkingSubject, modelName: string | undefined): SettledRule {
  const { thinking = NONE, thinkingToday, capabilities } = adapter;
  const today = effective?.supportsThinking === true && !capabilities.supportsThinking ? thinkingToday : undefined;
  const rule = today ?? thinking;
  if (rule.kind !== 'provider') return rule;
  const [prefix = ''] = (modelName ?? '').split('/');
  return BY_PROVIDER[model?.provider ?? prefix] ?? EFFORT;
}

function translate(rule: SettledRule, model: ModelCapabilities | undefined, wishes: ThinkingWishes): NormalisedThinking {
  const { thinkingEffort, thinkingBudgetTokens } = wishes;
  if (thinkingEffort === undefined && thinkingBudgetTokens === undefined) return { native: {}, notes: [] };
  switch (rule.kind) {
    case 'budget':
      return budgetOf(rule.parameter, model, wishes);
    case 'level':
      return levelOf(rule, thinkingEffort, thinkingBudgetTokens);
    case 'none':
      return { native: {}, notes: [`thinking is not passed on: ${rule.reason}`] };
  }
}

function levelOf(
  { parameter, words }: Extract<ThinkingRule, { kind: 'level' }>,
  effort: ThinkingEffortLevel | undefined,
  budget: number | undefined,
): NormalisedThinking {
  const notes = budget === undefined ? [] : [`thinkingBudgetTokens ${budget} is not passed on: there are levels only`];
  if (effort === undefined) return { native: {}, notes };
  const word = words[effort];
  return {
    native: { [parameter]: word },
    notes: word === effort ? notes : [...notes, `${effort} is sent as ${word}: there is no separate tier`],
  };
}

/** A budget beats an effort, and is passed on as it is: the gate has held it against the range of the model. */
function budgetOf(parameter: string, model: ModelCapabilities | undefined, wishes: ThinkingWishes): NormalisedThinking {
  const { thinkingEffort, thinkingBudgetTokens } = wishes;
  if (thinkingBudgetTokens !== undefined) return { native: { [parameter]: thinkingBudgetTokens }, notes: [] };
  if (thinkingEffort === undefined) return { native: {}, notes: [] };
  const most = model?.thinkingBudgetRange?.[1] ?? model?.maxThinkingTokens;
  if (thinkingEffort === 'max') {
    if (most !== undefined) return { native: { [parameter]: most }, notes: [] };
    return { native: { [parameter]: TOKENS.high }, notes: [`max is sent as ${TOKENS.high} tokens: no model is known that says more`] };
  }
  const asked = TOKENS[thinkingEffort];
  const tokens = Math.max(model?.thinkingBudgetRange?.[0] ?? asked, Math.min(asked, model?.thinkingBudgetRange?.[1] ?? asked));
  if (tokens === asked) return { native: { [parameter]: tokens }, notes: [] };
  return {
    native: { [parameter]: tokens },
    notes: [`${thinkingEffort} asks for ${asked} tokens; model '${model?.modelId}' takes ${tokens}`],
  };
}

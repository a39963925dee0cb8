import type { SpawnSpec, WireThinking } from '../../adapters/adapter.ts';
import { overrideWord, THINKING_NAMES, thinkingWish, type Unhonoured } from '../../adapters/families/launch/thinking.ts';
import { EFFORT_WORDS, TOKENS } from '../../adapters/thinking.ts';
import { isJsonObject, type JsonObject } from '../../base/json.ts';
import type { ThinkingEffortLevel } from '../../contract/runs/coding-agent.ts';
import type { RunOptions } from '../../contract/runs/run-options.ts';
import { findDialect } from '../../dialects/index.ts';
import { chooseEngine } from '../../engines/index.ts';
import { type ThinkingOverride, thinkingOnWire } from '../../mapping/thinking-override.ts';
import { findFact } from '../../models/find-fact.ts';
import type { Wanted } from './deps.ts';
import type { Traffic } from './traffic.ts';

/** Thinking that the gateway sets on every call of a run, so that a level means the same on a model whichever agent asks for it. */
export interface SetThinking {
  readonly wire: WireThinking;
  /** The members that carry it, as they stand in requests to the engine. */
  readonly form: string;
  /** Remarks about wishes that could not be taken as they were. */
  readonly notes: readonly string[];
}

/** Options that the gateway carries out, whatever the agent itself can be told. */
const CARRIED: ReadonlySet<string> = new Set([
  'thinkingEffort',
  'thinkingBudgetTokens',
  ...THINKING_NAMES.map((name) => `thinkingOverride.${name}`),
]);

/**
 * Undefined where the run asks for nothing, where its calls go past the gateway or on the agent's own login, whose requests stay as they
 * are, and for a word that only the agent knows: the agent decides then.
 */
export function thinkingToSet(options: RunOptions, wanted: Wanted, traffic: Traffic): SetThinking | undefined {
  if (traffic.kind === 'direct' || traffic.credential !== 'ours') return undefined;
  const wish = thinkingWish({ options, thinking: wanted.thinking });
  const word = overrideWord(options);
  const served = servedBy(traffic, wanted);
  if (word === null || served === undefined) return undefined;
  if (wish?.budgetTokens !== undefined) return set(served, { budgetTokens: wish.budgetTokens }, []);
  if (word !== undefined && !isLevel(word)) return set(served, { effort: word }, []);
  const level = word !== undefined && isLevel(word) ? word : options.thinkingEffort;
  return level === undefined ? undefined : ofLevel(served, level);
}

/** How the agent is started where the gateway sets its thinking: what it was told itself no longer decides anything. */
export function withSetThinking(spec: SpawnSpec, { wire, form }: SetThinking): SpawnSpec {
  const own = spec.thinking.by === 'none' ? '' : `; the agent is told ${spec.thinking.detail}`;
  return {
    ...spec,
    thinking: { by: 'wire', detail: `the gateway sets ${form} on every call${own}`, wire },
    unhonoured: spec.unhonoured.filter(({ option }) => !CARRIED.has(option)),
  };
}

/** Parameters of an override that reach neither the agent nor the gateway and of which nobody has said so yet. */
export function lostOverrides({ thinkingOverride = {} }: RunOptions, { args, env, files, thinking, unhonoured }: SpawnSpec): Unhonoured {
  const told = JSON.stringify([args, env, files]);
  const said = new Set(unhonoured.map(({ option }) => option));
  return Object.keys(thinkingOverride)
    .filter((name) => !(thinking.by === 'wire' && CARRIED.has(`thinkingOverride.${name}`)))
    .filter((name) => !said.has(`thinkingOverride.${name}`) && (thinking.by === 'none' || !told.includes(name)))
    .filter((name) => thinking.by === 'none' || !THINKING_NAMES.includes(name))
    .map((name) => ({ option: `thinkingOverride.${name}`, reason: 'neither the agent nor the gateway has such a parameter' }));
}

type Choice = NonNullable<ReturnType<typeof chooseEngine>>;
type KnownDialect = NonNullable<ReturnType<typeof findDialect>>;

/** Who answers the calls of a run. */
interface Served {
  readonly engine: Choice['engine'];
  readonly dialect: KnownDialect;
  /** Absent where only the agent knows which model it takes. */
  readonly model?: string;
}

function servedBy(traffic: Extract<Traffic, { kind: 'gateway' }>, { model, modelId }: Wanted): Served | undefined {
  const choice = chooseEngine(traffic.engine);
  const dialect = findDialect(traffic.dialect ?? choice?.dialect ?? choice?.engine.dialects[0] ?? '');
  if (choice === undefined || dialect === undefined) return undefined;
  const name = traffic.forcedModel ?? model?.providerModelId ?? modelId;
  return { engine: choice.engine, dialect, ...(name !== undefined && { model: name }) };
}

function isLevel(word: string): word is ThinkingEffortLevel {
  return Object.hasOwn(EFFORT_WORDS, word);
}

function ofLevel(served: Served, level: ThinkingEffortLevel): SetThinking {
  if (served.dialect.rules.thinkingBudgets !== true) {
    const effort = EFFORT_WORDS[level];
    return set(served, { effort }, effort === level ? [] : [`${level} is sent as ${effort}: there is no separate tier`]);
  }
  const { tokens, notes } = tokensOf(level, served.model);
  return set(served, { effort: level, budgetTokens: tokens }, notes);
}

/** The tokens of a level on this model: those of the table, within what the model takes. */
function tokensOf(level: ThinkingEffortLevel, model: string | undefined): { tokens: number; notes: readonly string[] } {
  const { budget, most = budget?.[1] } = (model === undefined ? undefined : findFact(model))?.thinking ?? {};
  if (level === 'max') {
    if (most !== undefined) return { tokens: most, notes: [] };
    return { tokens: TOKENS.high, notes: [`max is taken as ${TOKENS.high} tokens: no model is known that says more`] };
  }
  const asked = TOKENS[level];
  const tokens = budget === undefined ? asked : Math.max(budget[0], Math.min(asked, budget[1]));
  return { tokens, notes: tokens === asked ? [] : [`${level} asks for ${asked} tokens; model '${model}' takes ${tokens}`] };
}

function set(served: Served, wire: WireThinking, notes: readonly string[]): SetThinking {
  const { engine, dialect, model } = served;
  if (model === undefined) return { wire, notes, form: wished(wire) };
  // Words of the wire were read above, levels are words of it.
  const members = thinkingOnWire(engine, dialect, model, wire as ThinkingOverride);
  const form = JSON.stringify(members);
  const word = wire.budgetTokens === undefined ? wordIn(members) : undefined;
  if (word !== undefined && word !== wire.effort) {
    return { wire: { effort: word }, form, notes: [...notes, `${wire.effort} is sent as ${word}, the next level that the model has`] };
  }
  const turned = wire.effort === undefined && wire.budgetTokens !== undefined && !form.includes(String(wire.budgetTokens));
  return { wire, form, notes: turned ? [...notes, `a budget of ${wire.budgetTokens} tokens is sent as ${form}`] : notes };
}

/** The word for an effort in members of Chat or Responses. */
function wordIn({ reasoning, reasoning_effort: word }: JsonObject): string | undefined {
  const effort = isJsonObject(reasoning) ? reasoning.effort : word;
  return typeof effort === 'string' ? effort : undefined;
}

/** Where the model is not known before the start, its generation decides on the form. */
function wished({ effort, budgetTokens }: WireThinking): string {
  const parts = [
    ...(effort === undefined ? [] : [`effort ${effort}`]),
    ...(budgetTokens === undefined ? [] : [`a budget of ${budgetTokens} tokens`]),
  ];
  return `${parts.join(' or ')}, whichever the model takes,`;
}

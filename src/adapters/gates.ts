import type { AgentCapabilities, ModelCapabilities } from '../contract/runs/coding-agent.ts';
import { CapabilityError, type GatedCapability, ValidationError } from '../contract/runs/run-error.ts';
import type { Attachment, RunOptions } from '../contract/runs/run-options.ts';
import type { ModelRegistry } from '../models/registry.ts';
import type { Adapter } from './adapter.ts';
import { kindOfType, namedType } from './attachments.ts';

/** The model a run asks for, as far as it is known. */
export interface ChosenModel {
  /** The row, when it is a known model. */
  readonly model?: ModelCapabilities;
  /** The model that the agent is started with: the canonical id of a known one, else the caller's own words. */
  readonly modelId?: string;
}

type Gated = Pick<Adapter, 'agent'>;

/**
 * Every capability that an option needs, checked before anything is spawned: the agent first, then the model.
 * Throws a CapabilityError, or a ValidationError for a model name that means several.
 */
export function checkRunOptions(adapter: Gated, effective: AgentCapabilities, registry: ModelRegistry, options: RunOptions): ChosenModel {
  invocationGate(adapter, options);
  const chosen = chooseModel(adapter, registry, options);
  const gate: Gate = { agent: adapter.agent, caps: effective, model: chosen.model };
  thinkingGate(gate, options);
  budgetGate(gate, options);
  for (const rule of RULES) if (rule.asked(options)) hold(gate, rule);
  return chosen;
}

/** Whether the options ask for anything that depends on the version of the agent. */
export function asksForMore(options: RunOptions): boolean {
  const { thinkingEffort, thinkingBudgetTokens, nonInteractive } = options;
  const thinks = thinkingEffort !== undefined || thinkingBudgetTokens !== undefined;
  return thinks || nonInteractive === false || RULES.some((rule) => rule.asked(options));
}

/** The plugin operations of an agent. */
export function checkPlugins(agent: string, effective: AgentCapabilities): void {
  if (!effective.supportsPlugins) throw new CapabilityError({ agent, capability: 'plugins' });
}

/** A name no list knows is passed on as it is: an engine may serve models that the agent does not list. */
export function chooseModel(adapter: Gated, registry: ModelRegistry, options: RunOptions): ChosenModel {
  if (options.model === undefined) return {};
  const found = registry.validate(adapter.agent, options.model);
  if (found.model !== undefined) return { model: found.model, modelId: found.model.modelId };
  if (found.status === 'ambiguous' && options.engine === undefined) {
    throw new ValidationError([
      { field: 'model', message: found.message, received: options.model, expected: (found.suggestions ?? []).join(' | ') },
    ]);
  }
  return { modelId: options.model };
}

interface Gate {
  readonly agent: string;
  readonly caps: AgentCapabilities;
  readonly model: ModelCapabilities | undefined;
}

function refuse({ agent, model }: Gate, capability: GatedCapability, message?: string): CapabilityError {
  return new CapabilityError({
    agent,
    capability,
    ...(model !== undefined && { model: model.modelId }),
    ...(message !== undefined && { message }),
  });
}

function invocationGate({ agent }: Gated, { invocation }: RunOptions): void {
  if (invocation === undefined || invocation.mode === 'local') return;
  const message = `Agents are started on the machine of the backplane, not by ${invocation.mode}; run a backplane there and use it with --remote URL`;
  throw new CapabilityError({ agent, capability: 'invocation', message });
}

function modelThinks(gate: Gate): void {
  const { agent, model } = gate;
  if (model === undefined || model.supportsThinking) return;
  throw refuse(gate, 'thinking', `Model '${model.modelId}' on agent '${agent}' does not support thinking`);
}

function thinkingGate(gate: Gate, { thinkingEffort: level }: RunOptions): void {
  if (level === undefined) return;
  const { agent, caps, model } = gate;
  if (!caps.supportsThinking) throw refuse(gate, 'thinking', `Agent '${agent}' does not support thinking/reasoning mode`);
  modelThinks(gate);
  if (model?.thinkingEffortLevels === undefined || model.thinkingEffortLevels.includes(level)) return;
  throw refuse(gate, 'thinking', `Model '${model.modelId}' does not support thinking effort level '${level}'`);
}

function budgetGate(gate: Gate, { thinkingBudgetTokens: tokens }: RunOptions): void {
  if (tokens === undefined) return;
  const { agent, caps, model } = gate;
  const range = model?.thinkingBudgetRange;
  if (range === undefined && !caps.supportsThinkingBudgetTokens) {
    throw refuse(gate, 'thinkingBudget', `Agent '${agent}' does not support numeric thinking budget`);
  }
  modelThinks(gate);
  if (model === undefined || range === undefined || (tokens >= range[0] && tokens <= range[1])) return;
  const [min, max] = range;
  throw refuse(gate, 'thinkingBudget', `Thinking budget ${tokens} is outside valid range [${min}, ${max}] for model '${model.modelId}'`);
}

/** An option and what it needs. */
interface Rule {
  readonly capability: GatedCapability;
  asked(options: RunOptions): boolean;
  readonly agent: keyof AgentCapabilities;
  readonly model?: keyof ModelCapabilities;
}

const some = (list: readonly unknown[] | undefined): boolean => list !== undefined && list.length > 0;

const RULES: readonly Rule[] = [
  { capability: 'jsonMode', asked: (it) => it.outputFormat === 'json', agent: 'supportsJsonMode', model: 'supportsJsonMode' },
  { capability: 'sessionResume', asked: (it) => it.sessionId !== undefined, agent: 'canResume' },
  { capability: 'sessionFork', asked: (it) => it.forkSessionId !== undefined, agent: 'canFork' },
  { capability: 'skills', asked: (it) => some(it.skills), agent: 'supportsSkills' },
  { capability: 'mcp', asked: (it) => some(it.mcpServers), agent: 'supportsMCP' },
  { capability: 'textStreaming', asked: (it) => it.stream === true, agent: 'supportsTextStreaming', model: 'supportsTextStreaming' },
  {
    capability: 'imageInput',
    asked: (it) => some(it.attachments?.filter(isImage)),
    agent: 'supportsImageInput',
    model: 'supportsImageInput',
  },
  {
    capability: 'fileAttachments',
    asked: (it) => some(it.attachments?.filter((one) => !isImage(one))),
    agent: 'supportsFileAttachments',
    model: 'supportsFileInput',
  },
];

function hold(gate: Gate, { capability, agent, model }: Rule): void {
  if (gate.caps[agent] !== true) throw refuse(gate, capability);
  if (model === undefined || gate.model === undefined || gate.model[model] === true) return;
  throw refuse(gate, capability, `Model '${gate.model.modelId}' on agent '${gate.agent}' does not support ${capability}`);
}

function isImage(attachment: Attachment): boolean {
  return kindOfType(namedType(attachment) ?? '') === 'image';
}

import {
  type AgentCapabilities,
  type AgentEvent,
  type AgentMuxClient,
  AgentMuxError,
  type AgentName,
  CapabilityError,
  createClient,
  type InstallMethod,
  type ModelCapabilities,
  type ModelValidationResult,
  type PluginFormat,
  type PluginRegistry,
  type RunOptions,
  type RunResult,
  type ThinkingEffortLevel,
} from 'agent-backplane';

/** A program of somebody who has read the reference of coding agents, and writes what it shows. */
export function abilities(mux: AgentMuxClient): readonly ThinkingEffortLevel[] {
  const capabilities: AgentCapabilities = mux.adapters.capabilities('claude');
  const same: AgentCapabilities = mux.adapters.get('claude').capabilities;
  if (capabilities !== same) throw new Error('the registry hands out another profile than the adapter has');
  return capabilities.supportsThinking ? capabilities.thinkingEffortLevels : [];
}

export function plugins({
  pluginFormats,
  pluginRegistries,
}: AgentCapabilities): readonly [readonly PluginFormat[], readonly PluginRegistry[]] {
  return [pluginFormats, pluginRegistries.filter(({ name, url, searchable }) => searchable && name !== '' && url !== '')];
}

export function installation(mux: AgentMuxClient, agent: AgentName): readonly Pick<InstallMethod, 'platform' | 'type' | 'command'>[] {
  return mux.adapters.installInstructions(agent, 'linux').map(({ platform, type, command }) => ({ platform, type, command }));
}

export async function models(mux: AgentMuxClient): Promise<number> {
  const all: readonly ModelCapabilities[] = mux.models.models('claude');
  const marked = mux.models.catalog('claude').filter(({ isDefault }) => isDefault);
  const model: ModelCapabilities | null = mux.models.model('claude', 'sonnet') ?? mux.models.defaultModel('claude');
  const validated: ModelValidationResult = mux.models.validate('claude', 'no-such-model');
  if (validated.valid || validated.status !== 'unknown') throw new Error(validated.message);
  const asOf: Date = mux.models.lastUpdated('claude');
  await mux.models.refresh('cursor').catch((error: unknown) => {
    if (!(error instanceof AgentMuxError)) throw error;
  });
  const price = mux.models.estimateCost('claude', all[0]?.modelId ?? '', 1_000_000, 1_000_000);
  const thinkingPrice = (1000 / 1_000_000) * (model?.thinkingPricePerMillion ?? 0);
  return marked.length + price + thinkingPrice + asOf.getFullYear();
}

export const options: RunOptions = {
  agent: 'claude',
  prompt: 'think about it',
  thinkingEffort: 'high',
  thinkingOverride: { budget_tokens: 50_000, some_future_param: true },
};

/** A run that the agent cannot do is refused before anything starts, by an error that says which ability is missing. */
export function refusal(mux: AgentMuxClient): Pick<CapabilityError, 'code' | 'agent' | 'capability'> {
  try {
    mux.run({ agent: 'copilot', prompt: 'hi', mcpServers: [], forkSessionId: 'x' });
  } catch (error) {
    if (error instanceof CapabilityError && error instanceof AgentMuxError) {
      const { code, agent, capability } = error;
      return { code, agent, capability };
    }
    throw error;
  }
  throw new Error('it was not refused');
}

export async function ended(run: PromiseLike<RunResult> & AsyncIterable<AgentEvent>): Promise<string> {
  let said = '';
  for await (const event of run) if (event.type === 'text_delta') said += event.delta;
  const { text, exitReason } = await run;
  return `${exitReason}: ${text === '' ? said : text}`;
}

/** Without agents on the PATH: everything that needs none must work. */
export function client(homePath: string): AgentMuxClient {
  return createClient({ homePath, env: { PATH: '', HOME: homePath } });
}

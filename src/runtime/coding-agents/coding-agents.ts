import type { Adapter } from '../../adapters/adapter.ts';
import { asksForMore, checkRunOptions, chooseModel } from '../../adapters/gates.ts';
import { adapters as builtIn, type RegisteredAdapter } from '../../adapters/index.ts';
import { normaliseThinking } from '../../adapters/thinking.ts';
import { runCommand } from '../../base/subprocess.ts';
import { nearName } from '../../contract/near-name.ts';
import type { AgentCapabilities, AgentName, Platform } from '../../contract/runs/coding-agent.ts';
import { AgentMuxError } from '../../contract/runs/run-error.ts';
import { createModelRegistry, type ModelRegistry } from '../../models/registry.ts';
import type { AgentKnowledge } from '../runs/deps.ts';
import type { Environment, RunCommand } from './agent-data.ts';
import { type AuthState, authState } from './auth.ts';
import { type Detection, Detector } from './detection.ts';
import { chooseWay, type InstallInstruction, installAgent, installInstructions } from './install.ts';
import { discoverModels, type EngineAccess } from './model-discovery.ts';
import { outsideAdapter } from './outside-adapter.ts';
import { createPlugins, type PluginManager } from './plugins.ts';

/** The coding agents of this program. */
export interface AdapterRegistry {
  list(): readonly RegisteredAdapter[];
  /**
   * Adds the adapter of a coding agent that this program does not know, for as long as the process lives. Its runs pass the same gates,
   * get the same keys and leave the same receipts. Throws VALIDATION_ERROR for one that is not whole, and for a name that is taken.
   */
  register(adapter: Adapter): RegisteredAdapter;
  get(agent: AgentName): RegisteredAdapter;
  /** The frozen profile: the very object that the adapter has. */
  capabilities(agent: AgentName): AgentCapabilities;
  /** Whether it is on this machine, in which version, and what that version can do. */
  detect(agent: AgentName, options?: { readonly fresh?: boolean }): Promise<Detection>;
  /** Its login, as far as it can be told without opening a file. */
  auth(agent: AgentName): AuthState;
  installInstructions(agent: AgentName, platform?: Platform): readonly InstallInstruction[];
  /** The way that `install` would go. */
  installWay(agent: AgentName, options?: { readonly method?: string | undefined }): InstallInstruction;
  install(agent: AgentName, options?: { readonly method?: string | undefined }): Promise<Installed>;
}

/** How an agent was installed, and what is there now. */
export interface Installed {
  readonly way: InstallInstruction;
  readonly detection: Detection;
}

export interface CodingAgentsOptions {
  readonly adapters?: readonly RegisteredAdapter[];
  readonly env?: Environment;
  readonly platform?: NodeJS.Platform;
  readonly run?: RunCommand;
  /** How an engine is reached. Throws where nobody may ask it. */
  readonly engine?: (id: string) => EngineAccess;
}

/** Everything known of coding agents, and the one memory of what was detected. */
export interface CodingAgents {
  readonly adapters: AdapterRegistry;
  readonly models: ModelRegistry;
  readonly plugins: PluginManager;
  /** The answers that runs need. */
  readonly knowledge: AgentKnowledge;
}

export function createCodingAgents(options: CodingAgentsOptions = {}): CodingAgents {
  const { adapters: known = builtIn, env = process.env, platform = process.platform, run = runCommand, engine = () => ({}) } = options;
  const detector = new Detector({ env, platform, run });
  const models: ModelRegistry = createModelRegistry({
    sources: known,
    discover: (agent) => discoverModels(registry.get(agent), { env, run, detect: (data) => detector.detect(data), engine }),
  });
  const registry = adapterRegistry({ known, env, platform, run, detector, onRegistered: (adapter) => models.add(adapter) });
  const plugins = createPlugins({
    get: registry.get,
    detect: registry.detect,
    effective: (agent) => detector.effective(registry.get(agent)),
    env,
    run,
  });
  return { adapters: registry, models, plugins, knowledge: knowledgeOf(detector, models) };
}

interface RegistryParts {
  readonly known: readonly RegisteredAdapter[];
  readonly env: Environment;
  readonly platform: NodeJS.Platform;
  readonly run: RunCommand;
  readonly detector: Detector;
  onRegistered(adapter: RegisteredAdapter): void;
}

function adapterRegistry({ known, env, platform, run, detector, onRegistered }: RegistryParts): AdapterRegistry {
  const byName = new Map<AgentName, RegisteredAdapter>(known.map((adapter) => [adapter.agent, adapter]));
  const get = (agent: AgentName): RegisteredAdapter => {
    const found = byName.get(agent);
    if (found === undefined) throw unknownAgent(agent, [...byName.keys()]);
    return found;
  };
  const detect = (agent: AgentName, wishes: { readonly fresh?: boolean } = {}): Promise<Detection> => detector.detect(get(agent), wishes);
  return {
    list: () => [...byName.values()],
    get,
    register(adapter) {
      const registered = outsideAdapter(adapter, [...byName.keys()]);
      byName.set(registered.agent, registered);
      onRegistered(registered);
      return registered;
    },
    capabilities: (agent) => get(agent).capabilities,
    detect: async (agent, wishes) => await detect(agent, wishes),
    auth: (agent) => authState(get(agent), env),
    installInstructions: (agent, where = platformOf(platform)) => installInstructions(get(agent), where),
    installWay: (agent, { method } = {}) => chooseWay({ agent: get(agent), platform: platformOf(platform), method }),
    async install(agent, { method } = {}) {
      const way = await installAgent({ agent: get(agent), platform: platformOf(platform), env, run, method });
      return { way, detection: await detect(agent, { fresh: true }) };
    },
  };
}

function unknownAgent(agent: AgentName, names: readonly string[]): AgentMuxError {
  const near = nearName(agent, names);
  const hint = near === undefined ? `; known are ${names.join(', ')}` : `; did you mean ${near}?`;
  return new AgentMuxError('AGENT_NOT_FOUND', `There is no agent '${agent}'${hint}`, { agent });
}

/** Other systems that Node runs on are treated as the one nearest to them. */
function platformOf(platform: NodeJS.Platform): Platform {
  return platform === 'darwin' || platform === 'win32' ? platform : 'linux';
}

function knowledgeOf(detector: Detector, models: ModelRegistry): AgentKnowledge {
  return {
    effective: (adapter, options, env) => (asksForMore(options) ? detector.known(adapter, env) : detector.effective(adapter)),
    detect: async (adapter, env) => await detector.detect(adapter, { env }),
    check(adapter, effective, options) {
      checkRunOptions(adapter, effective, models, options);
    },
    wanted(adapter, options) {
      const chosen = chooseModel(adapter, models, options);
      const model = chosen.model ?? (options.model === undefined ? models.defaultModel(adapter.agent) : null);
      const { native, notes } = normaliseThinking(
        { adapter, effective: detector.effective(adapter), ...(model !== null && { model }) },
        options,
      );
      return { ...chosen, thinking: native, notes };
    },
  };
}

import { checkPlugins } from '../../adapters/gates.ts';
import type { AgentCapabilities, AgentName, PluginRegistry } from '../../contract/runs/coding-agent.ts';
import { AgentMuxError, CapabilityError } from '../../contract/runs/run-error.ts';
import { allowedEnvironment } from '../runs/process/environment.ts';
import { type AgentData, type Environment, lastWords, type RunCommand } from './agent-data.ts';
import type { Detection } from './detection.ts';

const PLUGIN_MS = 10 * 60_000;

/** The output of the agent's own plugin command. */
export interface PluginAnswer {
  readonly agent: AgentName;
  readonly command: string;
  readonly output: string;
}

/** Plugins of an agent, through its own command. */
export interface PluginManager {
  list(agent: AgentName): Promise<PluginAnswer>;
  install(agent: AgentName, plugin: string): Promise<PluginAnswer>;
  uninstall(agent: AgentName, plugin: string): Promise<PluginAnswer>;
  search(agent: AgentName, query: string): Promise<PluginAnswer>;
  /** Where plugins of the agent come from. */
  registries(agent: AgentName): readonly PluginRegistry[];
}

export interface PluginDeps {
  get(agent: AgentName): AgentData;
  detect(agent: AgentName): Promise<Detection>;
  effective(agent: AgentName): AgentCapabilities;
  readonly env: Environment;
  readonly run: RunCommand;
}

type Operation = 'pluginListCmd' | 'pluginInstallCmd' | 'pluginUninstallCmd' | 'pluginSearchCmd';
const WORDS: Readonly<Record<Operation, string>> = {
  pluginListCmd: 'lists',
  pluginInstallCmd: 'installs',
  pluginUninstallCmd: 'removes',
  pluginSearchCmd: 'searches',
};

export function createPlugins(deps: PluginDeps): PluginManager {
  async function ask(agent: AgentName, operation: Operation, subject?: string): Promise<PluginAnswer> {
    const data = deps.get(agent);
    const detection = await deps.detect(agent);
    checkPlugins(agent, detection.effective);
    const native = detection.effective[operation];
    if (native === undefined) throw noCommand(detection.effective, operation);
    if (!detection.installed || detection.path === undefined) {
      throw new AgentMuxError('AGENT_NOT_INSTALLED', detection.problem ?? `${data.displayName} is not installed`, {
        agent,
        command: data.cliCommand,
      });
    }
    const [, ...words] = native.split(' ');
    const args = subject === undefined ? words : [...words, plain(subject)];
    const result = await deps.run(detection.path, args, { env: allowedEnvironment(deps.env, data.auth.envVars), timeoutMs: PLUGIN_MS });
    const command = [native, ...(subject === undefined ? [] : [subject])].join(' ');
    if (result.code === 0) return { agent, command, output: result.stdout.trim() || result.stderr.trim() };
    throw new AgentMuxError('PLUGIN_ERROR', `'${command}' failed with ${result.code ?? result.signal}`, {
      agent,
      command,
      output: lastWords(result, 20),
    });
  }

  return {
    list: (agent) => ask(agent, 'pluginListCmd'),
    install: (agent, plugin) => ask(agent, 'pluginInstallCmd', plugin),
    uninstall: (agent, plugin) => ask(agent, 'pluginUninstallCmd', plugin),
    search: (agent, query) => ask(agent, 'pluginSearchCmd', query),
    registries: (agent) => deps.effective(deps.get(agent).agent).pluginRegistries,
  };
}

/** A name that begins with a dash would be an option of the agent's command. */
function plain(subject: string): string {
  if (subject === '' || subject.startsWith('-')) throw new AgentMuxError('PLUGIN_ERROR', `'${subject}' is not the name of a plugin`);
  return subject;
}

function noCommand({ agent, pluginMarketplaceUrl }: AgentCapabilities, operation: Operation): CapabilityError {
  const instead = pluginMarketplaceUrl === undefined ? '' : `; look at ${pluginMarketplaceUrl}`;
  return new CapabilityError({
    agent,
    capability: 'plugins',
    message: `Agent '${agent}' has no command that ${WORDS[operation]} plugins${instead}`,
  });
}

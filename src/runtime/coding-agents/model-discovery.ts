import { endpointModels } from '../../adapters/endpoint-models.ts';
import { type ListedModel, listedModels } from '../../adapters/listing.ts';
import { parseShallow } from '../../base/json-limits.ts';
import type { ModelCapabilities } from '../../contract/runs/coding-agent.ts';
import { AgentMuxError } from '../../contract/runs/run-error.ts';
import { findEngine } from '../../engines/index.ts';
import { allowedEnvironment } from '../runs/process/environment.ts';
import { type AgentData, type Environment, lastWords, type RunCommand } from './agent-data.ts';
import type { Detection } from './detection.ts';

const LISTING_MS = 60_000;
const ANSWER_MS = 30_000;

/** Where an engine is and its key, as the configuration has them. */
export interface EngineAccess {
  readonly url?: string | undefined;
  readonly key?: string | undefined;
}

export interface DiscoveryDeps {
  detect(agent: AgentData): Promise<Detection>;
  /** Throws for an engine that may not be asked. */
  engine(id: string): EngineAccess;
  readonly env: Environment;
  readonly run: RunCommand;
}

/** The models an agent has now: from its own list, else from the engine whose list is its own. */
export async function discoverModels(agent: AgentData, deps: DiscoveryDeps): Promise<readonly ModelCapabilities[]> {
  if (agent.discover !== undefined) return await fromCommand(agent, agent.discover, deps);
  if (agent.listing !== undefined) return await fromEngine(agent, agent.listing, deps);
  throw new AgentMuxError('CONFIG_ERROR', `${agent.displayName} has no list of models to ask for`, { agent: agent.agent });
}

async function fromCommand(
  agent: AgentData,
  discover: NonNullable<AgentData['discover']>,
  deps: DiscoveryDeps,
): Promise<readonly ModelCapabilities[]> {
  const { path, installed, problem } = await deps.detect(agent);
  if (!installed || path === undefined) {
    throw new AgentMuxError('AGENT_NOT_INSTALLED', problem ?? `${agent.displayName} is not installed`, {
      agent: agent.agent,
      command: agent.cliCommand,
    });
  }
  const result = await deps.run(path, discover.args, {
    env: allowedEnvironment(deps.env, agent.auth.envVars),
    timeoutMs: LISTING_MS,
    ...(discover.input !== undefined && { input: discover.input }),
  });
  return read(agent, () => discover.models(result.stdout), lastWords(result));
}

async function fromEngine(
  agent: AgentData,
  listing: NonNullable<AgentData['listing']>,
  deps: DiscoveryDeps,
): Promise<readonly ModelCapabilities[]> {
  const engine = findEngine(listing.engine);
  const { url = engine?.endpoint?.url, key } = deps.engine(listing.engine);
  if (engine?.auth === undefined || url === undefined || key === undefined) {
    const variable = engine?.auth?.env[0] ?? 'its key';
    throw new AgentMuxError(
      'AUTH_ERROR',
      `${agent.displayName} lists no models itself, and the engine ${listing.engine} has no key: set ${variable}`,
      {
        agent: agent.agent,
        engine: listing.engine,
      },
    );
  }
  const { header, prefix } = engine.auth;
  const payload = await get(agent, `${url.replace(/\/$/, '')}${listing.path}`, { [header]: `${prefix}${key}` });
  const [sample] = agent.models;
  const options = { agent: agent.agent, asOf: agent.modelsAsOf, cliArgKey: sample?.cliArgKey ?? '--model' };
  const listed = (): ListedModel[] =>
    endpointModels(payload).map((model) => (listing.thinks === false ? { ...model, thinks: false } : model));
  return read(agent, () => listedModels(options, agent.models, listed()), 'the engine answered something else');
}

async function get(agent: AgentData, url: string, headers: Readonly<Record<string, string>>): Promise<unknown> {
  const { EnvHttpProxyAgent, request } = await import('undici');
  const dispatcher = new EnvHttpProxyAgent();
  try {
    const answer = await request(url, { dispatcher, headers, headersTimeout: ANSWER_MS, bodyTimeout: ANSWER_MS });
    const text = await answer.body.text();
    const parsed = parseShallow(text);
    if (answer.statusCode === 200 && parsed.ok) return parsed.value;
    throw failed(agent, `the engine answered ${answer.statusCode}`);
  } catch (error) {
    throw AgentMuxError.is(error) ? error : failed(agent, error instanceof Error ? error.message : String(error));
  } finally {
    await dispatcher.close();
  }
}

/** A list that is empty or not one is a failure, never an agent without models. */
function read(agent: AgentData, models: () => readonly ModelCapabilities[], words: string): readonly ModelCapabilities[] {
  try {
    const found = models();
    if (found.length > 0) return found;
  } catch (error) {
    throw failed(agent, words, error);
  }
  throw failed(agent, words);
}

function failed({ agent, displayName }: AgentData, words: string, cause?: unknown): AgentMuxError {
  const error = new AgentMuxError('PARSE_ERROR', `${displayName} did not list its models: ${words}`, { agent });
  if (cause !== undefined) error.cause = cause;
  return error;
}

import type { JsonObject } from '../../base/json.ts';
import { openHome } from '../../home/home.ts';
import { clientOf, itemsOf, objectOf, serverOf } from '../client.ts';
import type { Context } from '../command.ts';
import { CliError } from '../failure.ts';
import { type AgentApi, homeApi } from './home-api.ts';

/** Lends the API to `work`: of the server that the commands of this home go to, else on its database. */
export async function withAgentApi<T>(context: Context, work: (api: AgentApi) => Promise<T>): Promise<T> {
  const home = openHome({ path: context.homePath });
  const serving = serverOf(home);
  const api =
    serving === undefined ? await homeApi(context, home) : { ...clientOf(serving.address, serving.secret), close: async () => undefined };
  try {
    return await work(api);
  } finally {
    await api.close();
  }
}

/** The id of an agent that is named by its id, or by a name that one active agent has. */
export async function agentIdOf(api: AgentApi, named: string): Promise<string> {
  if (/^agent_[0-9a-f]{32}$/.test(named)) return named;
  const agents = await everyAgent(api, '&status=active');
  const matches = agents.filter(({ name }) => name === named).map(({ id }) => String(id));
  const [only] = matches;
  if (only === undefined) {
    throw new CliError('not_found', `there is no active agent '${named}'`, { hint: 'abp agents list shows them; an id works as well.' });
  }
  if (matches.length === 1) return only;
  throw new CliError('usage', `${matches.length} agents are named '${named}': ${matches.join(', ')}`, { hint: 'Use the id.' });
}

/** All pages of the list. */
export async function everyAgent(api: AgentApi, filter: string): Promise<JsonObject[]> {
  const agents: JsonObject[] = [];
  let cursor = '';
  do {
    const page = objectOf(await api.call('GET', `/v1/agents?limit=1000${filter}${cursor}`));
    agents.push(...itemsOf(page));
    cursor = typeof page.next_cursor === 'string' ? `&cursor=${encodeURIComponent(page.next_cursor)}` : '';
  } while (cursor !== '');
  return agents;
}

import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { isJsonObject, type Json, type JsonObject } from '../../src/base/json.ts';
import { openApi } from '../../src/gateway/openapi.ts';
import { routes } from '../../src/gateway/routes/index.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';

const ROWS = 5;
const FULL = 1000;

interface ListRoute {
  readonly path: string;
  readonly paged: boolean;
}

/** Every GET whose answer is a list, as the description of the API has it. */
function listRoutes(): readonly ListRoute[] {
  const { paths } = openApi(routes, 'test') as { paths: Record<string, { get?: JsonObject }> }; // what `openApi` makes
  return Object.entries(paths).flatMap(([path, { get }]) => {
    const members = membersOf(get);
    return members.has('items') ? [{ path, paged: members.has('next_cursor') }] : [];
  });
}

/** The members of the answer, of one schema or of several. */
function membersOf(operation: JsonObject | undefined): ReadonlySet<string> {
  const found = ['responses', '200', 'content', 'application/json', 'schema'].reduce<Json | undefined>(
    (at, name) => (isJsonObject(at) ? at[name] : undefined),
    operation,
  );
  const { anyOf, ...one } = isJsonObject(found) ? found : {};
  const schemas = [one, ...(Array.isArray(anyOf) ? anyOf.filter(isJsonObject) : [])];
  return new Set(schemas.flatMap(({ properties }) => (isJsonObject(properties) ? Object.keys(properties) : [])));
}

let server: TestGateway;
/** What stands for each parameter of a path. */
const places = new Map<string, string>();

async function asked(path: string, body?: Json): Promise<{ status: number; body: JsonObject }> {
  const answer = await fetch(`${server.url}${path}`, {
    headers: { 'x-abp-key': server.token, 'content-type': 'application/json', accept: 'application/json' },
    ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
  });
  const value = (await answer.json()) as Json; // what `json` parses is JSON
  return { status: answer.status, body: isJsonObject(value) ? value : {} };
}

const until = (reached: () => Promise<boolean>): Promise<void> =>
  vi.waitFor(async () => expect(await reached()).toBe(true), { timeout: 60_000, interval: 50 });
const itemsOf = ({ items }: JsonObject): readonly JsonObject[] => (Array.isArray(items) ? items.filter(isJsonObject) : []);
const idOf = (item: JsonObject): string => JSON.stringify(item.id ?? item.run_id ?? item);

beforeAll(async () => {
  server = await startGateway();
  const { body: agent } = await asked('/v1/agents', { name: 'pager', model: 'sim/sim-1' });
  const { body: session } = await asked('/v1/sessions', { agent_id: String(agent.id) });
  places.set('id', String(session.id)).set('agent_id', String(agent.id));
  for (let at = 0; at < ROWS; at += 1) {
    await asked('/v1/agents', { name: `agent ${at}`, model: 'sim/sim-1' });
    await asked('/v1/sessions', { agent_id: String(agent.id) });
    await asked('/v1/keys', { name: `key ${at}` });
    await asked('/e/sim/v1/messages', { model: 'sim-1', max_tokens: 20, messages: [{ role: 'user', content: `say "${at}"` }] });
    await asked(`/v1/sessions/${session.id}/messages`, { message: { content: `say "${at}"` } });
    await until(async () => (await asked(`/v1/sessions/${session.id}`)).body.status === 'idle');
  }
  // Receipts and recordings are kept by another thread.
  await until(
    async () => itemsOf((await asked(`/v1/receipts?limit=${FULL}`)).body).filter(({ seal }) => seal !== undefined).length >= 3 * ROWS,
  );
  await until(async () => itemsOf((await asked(`/v1/recordings?limit=${FULL}`)).body).length >= ROWS);
});
afterAll(() => server.close());

function placed(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(places.get(name) ?? `no-${name}`));
}

const paged = listRoutes().filter((route) => route.paged);

it('finds the lists of the API', () => {
  const pages = ['/v1/agents', '/v1/keys', '/v1/receipts', '/v1/recordings', '/v1/runs', '/v1/sessions', '/v1/sessions/{id}/messages'];
  expect(paged.map(({ path }) => path)).toEqual(expect.arrayContaining(pages));
});

/** Lists that are whole, each with the reason: their length is that of a registry, of one object, or of what waits. */
const WHOLE: Readonly<Record<string, string>> = {
  '/v1/budgets': 'as many as administrators have made by hand',
  '/v1/sign-ins': 'sign-ins end within hours',
  '/v1/teams': 'one line per team of this installation',
  '/v1/usage/forecast': 'a line per engine and model that was asked about',
  '/v1/users': 'one line per person of this installation',
  '/v1/adapters': 'a registry',
  '/v1/adapters/{id}/models': 'a registry',
  '/v1/agents/{agent_id}/capabilities': 'of one agent, whose list has a limit',
  '/v1/backends': 'a registry',
  '/v1/capabilities': 'a registry, and definitions of people',
  '/v1/console/browsers': 'browsers that are signed in',
  '/v1/engines': 'a registry',
  '/v1/interactions': 'questions that wait',
  '/v1/matrix/models': 'the models of the price lists',
  '/v1/receipts/keys': 'public keys of nodes',
  '/v1/routes': 'the configuration',
  '/v1/sessions/{id}/approvals': 'questions of one turn',
  '/v1/sessions/{id}/events': 'goes on after `since_id`, which is the id of its last event',
};

it('has no other list without pages than those that stay short', () => {
  const unpaged = listRoutes().filter((route) => !route.paged);
  expect(unpaged.map(({ path }) => path).toSorted()).toEqual(Object.keys(WHOLE).toSorted());
});

describe.each(paged)('$path', ({ path }) => {
  it('gives every row once, in the same order, in pages of any size', async () => {
    const at = placed(path);
    const whole = itemsOf((await asked(`${at}?limit=${FULL}`)).body).map(idOf);
    expect(whole.length).toBeGreaterThanOrEqual(ROWS);
    expect(new Set(whole).size).toBe(whole.length);
    for (const limit of [1, 2, ROWS]) {
      const walked: string[] = [];
      let cursor: string | undefined;
      do {
        const { status, body } = await asked(`${at}?limit=${limit}${cursor === undefined ? '' : `&cursor=${encodeURIComponent(cursor)}`}`);
        expect(status).toBe(200);
        const ids = itemsOf(body).map(idOf);
        expect(ids.length).toBeLessThanOrEqual(limit);
        walked.push(...ids);
        cursor = typeof body.next_cursor === 'string' ? body.next_cursor : undefined;
        expect(walked.length).toBeLessThanOrEqual(whole.length);
      } while (cursor !== undefined);
      expect(walked).toEqual(whole);
    }
  });

  it('refuses a cursor that no list gave out, and a limit that is none', async () => {
    const at = placed(path);
    expect((await asked(`${at}?cursor=nonsense`)).status).toBe(400);
    for (const limit of ['0', '-1', '1001', 'many']) expect((await asked(`${at}?limit=${limit}`)).status).toBe(400);
  });
});

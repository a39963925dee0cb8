import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AgentApi } from '../../support/agent-api.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';

/** Agents and their capabilities over HTTP, on whatever database the server has. */
export function agentsSuite(database: string, databaseUrl: () => Promise<string | undefined>): void {
  describe(`agents on ${database}`, () => {
    let server: TestGateway;
    let api: AgentApi;

    beforeAll(async () => {
      const address = await databaseUrl();
      server = await startGateway(address === undefined ? {} : { databaseUrl: address });
      api = new AgentApi(server);
    });
    afterAll(() => server.close());

    it('seed 002, List Capabilities: the seven, with six fields each', async () => {
      const { status, body } = await api.call('GET', '/v1/capabilities');
      expect(status).toBe(200);
      expect(body.total).toBe(7);
      expect(body.items.map((item: { id: string }) => item.id)).toEqual([
        'noop',
        'current_time',
        'research',
        'sandbox',
        'file_system',
        'test_math',
        'test_weather',
      ]);
      for (const item of body.items) expect(Object.keys(item)).toEqual(['id', 'name', 'description', 'status', 'icon', 'category']);
      expect(body.items[1]).toEqual({
        id: 'current_time',
        name: 'Current Time',
        description: 'Tool to get current date and time in various formats and timezones.',
        status: 'available',
        icon: 'clock',
        category: 'Utilities',
      });
      expect(body.items[2]).toMatchObject({
        id: 'research',
        name: 'Research',
        description: 'Deep research capability with organized scratchpad.',
        icon: 'search',
        category: 'AI',
      });
    });

    it('seed 002, Set Agent Capabilities: the array order determines position', async () => {
      const id = await api.agent();
      const put = await api.call('PUT', `/v1/agents/${id}/capabilities`, { capabilities: ['current_time', 'test_math'] });
      const expected = {
        items: [
          { capability_id: 'current_time', position: 0 },
          { capability_id: 'test_math', position: 1 },
        ],
        total: 2,
      };
      expect([put.status, put.body]).toEqual([200, expected]);
      expect((await api.call('GET', `/v1/agents/${id}/capabilities`)).body).toEqual(expected);
      const again = await api.call('PUT', `/v1/agents/${id}/capabilities`, { capabilities: ['test_math'] });
      expect(again.body).toEqual({ items: [{ capability_id: 'test_math', position: 0 }], total: 1 });
      expect((await api.call('PUT', `/v1/agents/${id}/capabilities`, { capabilities: [] })).body).toEqual({ items: [], total: 0 });
    });

    it('takes settings and a range of versions beside a bare id, and gives them back', async () => {
      const id = await api.agent();
      const capabilities = ['noop', { capability_id: 'sandbox', config: { timeout_ms: 200 }, version: '^1.0.0' }];
      const { body } = await api.call('PUT', `/v1/agents/${id}/capabilities`, { capabilities });
      expect(body.items).toEqual([
        { capability_id: 'noop', position: 0 },
        { capability_id: 'sandbox', position: 1, config: { timeout_ms: 200 }, version: '^1.0.0' },
      ]);
    });

    it.each<[string, unknown, number, RegExp]>([
      ['an id twice', { capabilities: ['noop', 'noop'] }, 422, /named twice/],
      ['an unknown id', { capabilities: ['curent_time'] }, 422, /Did you mean current_time/],
      ['settings where there are none', { capabilities: [{ capability_id: 'noop', config: { a: 1 } }] }, 422, /no settings/],
      ['settings that do not fit', { capabilities: [{ capability_id: 'sandbox', config: { timeout_ms: 1 } }] }, 422, /timeout_ms/],
      ['a version that does not exist', { capabilities: [{ capability_id: 'noop', version: '^2.0.0' }] }, 422, /No version of noop/],
      ['a range that is none', { capabilities: [{ capability_id: 'noop', version: 'new' }] }, 422, /no range/],
      ['a wrong type', { capabilities: 'noop' }, 400, /capabilities/],
      ['no list', {}, 400, /capabilities: is required/],
      ['an unknown field', { capabilities: [], order: 1 }, 400, /order/],
    ])('refuses %s and changes nothing', async (_, body, status, words) => {
      const id = await api.agent({ capabilities: ['test_math'] });
      const answer = await api.call('PUT', `/v1/agents/${id}/capabilities`, body);
      expect([answer.status, answer.type]).toEqual([status, 'application/problem+json; charset=utf-8']);
      expect(answer.body).toMatchObject({ status, instance: `/v1/agents/${id}/capabilities`, detail: expect.stringMatching(words) });
      expect((await api.call('GET', `/v1/agents/${id}/capabilities`)).body.items).toEqual([{ capability_id: 'test_math', position: 0 }]);
    });

    it('shows a capability in detail', async () => {
      const { body } = await api.call('GET', '/v1/capabilities/test_math');
      expect(body).toMatchObject({
        id: 'test_math',
        name: 'Test Math',
        status: 'available',
        icon: 'calculator',
        category: 'Testing',
        version: '1.0.0',
        versions: ['1.0.0'],
        custom: false,
        system_prompt: 'You have access to math tools. Use them for calculations: add, subtract, multiply, divide.',
        config_schema: null,
        dependencies: [],
      });
      expect(body.tools.map((tool: { name: string }) => tool.name)).toEqual(['add', 'subtract', 'multiply', 'divide']);
      expect((await api.call('GET', '/v1/capabilities/none')).body).toMatchObject({ status: 404, code: 'not_found' });
    });

    it('seed 002, Database Schema: the columns and indexes of agent_capabilities', async () => {
      const { db, kind } = server.gateway.store;
      const tables = await db.introspection.getTables();
      const columns = tables.find(({ name }) => name === 'agent_capabilities')?.columns ?? [];
      expect(columns.map(({ name, isNullable }) => [name, isNullable])).toEqual([
        ['id', false],
        ['agent_id', false],
        ['capability_id', false],
        ['position', false],
        ['created_at', false],
      ]);
      const query =
        kind === 'sqlite'
          ? sql<{
              name: string;
            }>`select name from sqlite_master where type = 'index' and tbl_name = 'agent_capabilities' and name like 'idx%'`
          : sql<{
              name: string;
            }>`select indexname as name from pg_indexes where tablename = 'agent_capabilities' and indexname like 'idx%'`;
      const { rows } = await query.execute(db);
      expect(rows.map(({ name }) => name).toSorted()).toEqual(['idx_agent_capabilities_agent_id', 'idx_agent_capabilities_position']);
      const id = await api.agent({ capabilities: ['noop'] });
      const row = { id: 'x', agent_id: id, capability_id: 'noop', position: 1, created_at: 1 };
      await expect(db.insertInto('agent_capabilities').values(row).execute()).rejects.toThrow(/unique/i);
    });

    it('creates, shows, changes, archives and deletes an agent', async () => {
      const created = await api.call('POST', '/v1/agents', {
        name: 'Ada',
        description: 'counts',
        system_prompt: 'Be exact.',
        model: 'sim/sim-1',
        tags: ['a'],
        max_iterations: 5,
        max_cost_usd: 0.25,
        capabilities: ['test_math'],
      });
      expect(created.status).toBe(201);
      expect(created.body).toEqual({
        id: expect.stringMatching(/^agent_[0-9a-f]{32}$/),
        name: 'Ada',
        description: 'counts',
        system_prompt: 'Be exact.',
        model: 'sim/sim-1',
        tags: ['a'],
        max_iterations: 5,
        max_cost_usd: 0.25,
        conflicts: 'error',
        status: 'active',
        capabilities: [{ capability_id: 'test_math', position: 0 }],
        created_at: expect.any(String),
        updated_at: expect.any(String),
      });
      const { id } = created.body;
      expect((await api.call('GET', `/v1/agents/${id}`)).body).toEqual(created.body);

      const changed = await api.call('PATCH', `/v1/agents/${id}`, { name: 'Ada L.', description: null, max_cost_usd: null });
      expect(changed.body).toMatchObject({
        name: 'Ada L.',
        description: null,
        max_cost_usd: null,
        system_prompt: 'Be exact.',
        max_iterations: 5,
      });

      expect((await api.call('DELETE', `/v1/agents/${id}`)).status).toBe(204);
      expect((await api.call('GET', `/v1/agents/${id}`)).body.status).toBe('archived');
      expect((await api.call('PATCH', `/v1/agents/${id}`, { name: 'no' })).status).toBe(409);
      expect((await api.call('PUT', `/v1/agents/${id}/capabilities`, { capabilities: [] })).status).toBe(409);
      expect((await api.call('PATCH', `/v1/agents/${id}`, { status: 'active' })).body.status).toBe('active');
      expect((await api.call('DELETE', `/v1/agents/${id}`)).status).toBe(204);
      expect((await api.call('DELETE', `/v1/agents/${id}`)).status).toBe(204);
      expect((await api.call('GET', `/v1/agents/${id}`)).status).toBe(404);
      expect((await api.call('GET', `/v1/agents/${id}/capabilities`)).status).toBe(404);
    });

    it('deletes the capabilities of a deleted agent with it', async () => {
      const id = await api.agent({ capabilities: ['noop', 'test_math'] });
      await api.call('DELETE', `/v1/agents/${id}`);
      await api.call('DELETE', `/v1/agents/${id}`);
      const rows = await server.gateway.store.db.selectFrom('agent_capabilities').selectAll().where('agent_id', '=', id).execute();
      expect(rows).toEqual([]);
    });

    it('lists agents in pages, by state and by tag', async () => {
      const tag = `page-${database}`;
      const ids: string[] = [];
      for (let count = 0; count < 3; count += 1) ids.unshift(await api.agent({ tags: [tag], capabilities: ['noop'] }));
      const first = (await api.call('GET', `/v1/agents?tag=${tag}&limit=2`)).body;
      const second = (await api.call('GET', `/v1/agents?tag=${tag}&limit=2&cursor=${first.next_cursor}`)).body;
      expect([...first.items, ...second.items].map((agent: { id: string }) => agent.id)).toEqual(ids);
      expect(second.next_cursor).toBeUndefined();
      expect(first.items[0].capabilities).toEqual([{ capability_id: 'noop', position: 0 }]);
      await api.call('DELETE', `/v1/agents/${ids[0]}`);
      expect((await api.call('GET', `/v1/agents?tag=${tag}&status=archived`)).body.items).toHaveLength(1);
    });

    it.each<[string, unknown, number, RegExp]>([
      ['no name', {}, 400, /name: is required/],
      ['an unknown field', { name: 'a', colour: 'red' }, 400, /colour/],
      ['a model without an engine', { name: 'a', model: 'gpt-9' }, 422, /engine\/model/],
      ['a conflict policy that is none', { name: 'a', conflicts: 'maybe' }, 400, /conflicts/],
      ['an unknown capability', { name: 'a', capabilities: ['nope'] }, 422, /no capability/],
      ['text instead of JSON', '{', 400, /not valid JSON/],
    ])('does not make an agent from %s', async (_, body, status, words) => {
      const count = async (): Promise<number> => (await api.call('GET', '/v1/agents?limit=1000')).body.items.length;
      const before = await count();
      const answer = await api.call('POST', '/v1/agents', body);
      expect([answer.status, answer.type]).toEqual([status, 'application/problem+json; charset=utf-8']);
      expect(answer.body.detail).toMatch(words);
      expect(answer.body).toMatchObject({
        code: expect.any(String),
        title: expect.any(String),
        request_id: expect.stringMatching(/^req_/),
      });
      expect(await count()).toBe(before);
    });

    it('previews the prompt: additions in position order, then the base prompt, joined by a blank line', async () => {
      const id = await api.agent({ system_prompt: 'You are Ada.', capabilities: ['test_weather', 'current_time', 'test_math'] });
      const { body } = await api.call('GET', `/v1/agents/${id}/preview`);
      expect(body.system_prompt).toBe(
        'You have access to weather tools. Use get_weather for current conditions and get_forecast for multi-day forecasts.\n\n' +
          'You have access to math tools. Use them for calculations: add, subtract, multiply, divide.\n\n' +
          'You are Ada.',
      );
      expect(body.tools.map((tool: { name: string; source: { capability_id: string } }) => [tool.name, tool.source.capability_id])).toEqual(
        [
          ['get_weather', 'test_weather'],
          ['get_forecast', 'test_weather'],
          ['get_current_time', 'current_time'],
          ['add', 'test_math'],
          ['subtract', 'test_math'],
          ['multiply', 'test_math'],
          ['divide', 'test_math'],
        ],
      );
      expect(body).toMatchObject({
        model: { engine: 'sim', model: 'sim-1' },
        conflicts: [],
        warnings: [],
        error: null,
        negotiation: { backend: 'engine:sim', result: { native: ['tool_use'], emulatable: [], unsupported: [] }, unmet: [] },
      });
    });

    it('previews an agent that is being put together, with the reason at the capability that does not fit, and stores nothing', async () => {
      const before = (await api.call('GET', '/v1/agents')).body.items.length;
      const draft = {
        system_prompt: 'Be brief.',
        capabilities: ['current_time', { capability_id: 'sandbox', config: { timeout_ms: 2000 } }],
      };
      const { status, body } = await api.call('POST', '/v1/agents/preview', draft);
      expect(status).toBe(200);
      expect(body).toMatchObject({ model: { engine: 'sim' }, error: null, capabilities: [{}, { config: { timeout_ms: 2000 } }] });
      expect(body.tools.map(({ name }: { name: string }) => name)).toContain('execute_code');
      const wrong = await api.call('POST', '/v1/agents/preview', {
        capabilities: [{ capability_id: 'sandbox', config: { timeout_ms: 1 } }],
      });
      expect(wrong.body.error).toMatchObject({ code: 'unprocessable', details: { capability_id: 'sandbox' } });
      expect((await api.call('GET', '/v1/agents')).body.items).toHaveLength(before);
    });

    it('exports an agent as Markdown and imports it again', async () => {
      const id = await api.agent({
        name: 'Ada: the "exact"',
        system_prompt: 'Line one.\n\n---\nLine two.',
        tags: ['x'],
        conflicts: 'prefix',
        capabilities: ['noop', { capability_id: 'sandbox', config: { timeout_ms: 300 } }],
      });
      const exported = await api.call('GET', `/v1/agents/${id}/export`);
      expect(exported.type).toBe('text/markdown; charset=utf-8');
      expect(exported.text).toMatch(/^---\nname: /);
      const original = (await api.call('GET', `/v1/agents/${id}`)).body;
      for (const imported of [
        await api.call('POST', '/v1/agents/import', { markdown: exported.text }),
        await api.call('POST', '/v1/agents/import', exported.text, 'text/markdown'),
      ]) {
        expect(imported.status).toBe(201);
        expect(imported.body).toEqual({
          ...original,
          id: expect.not.stringMatching(id),
          created_at: expect.any(String),
          updated_at: expect.any(String),
        });
      }
      expect((await api.call('POST', '/v1/agents', exported.text, 'text/markdown')).status).toBe(415);
      expect((await api.call('POST', '/v1/agents/import', { markdown: 'no front matter' })).status).toBe(422);
    });

    it('keeps every change when several are made at once', async () => {
      const id = await api.agent();
      const changes = [{ name: 'n' }, { description: 'd' }, { max_iterations: 7 }];
      const answers = await Promise.all(changes.map((change) => api.call('PATCH', `/v1/agents/${id}`, change)));
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
      expect((await api.call('GET', `/v1/agents/${id}`)).body).toMatchObject({ name: 'n', description: 'd', max_iterations: 7 });
    });

    it('shows a key its own agents and capabilities alone', async () => {
      const [one, two] = [await api.withKey(), await api.withKey()];
      const id = await one.agent();
      expect((await one.call('GET', '/v1/agents')).body.items.map((agent: { id: string }) => agent.id)).toEqual([id]);
      expect((await two.call('GET', '/v1/agents')).body.items).toEqual([]);
      for (const other of [two, api]) {
        expect((await other.call('GET', `/v1/agents/${id}`)).status).toBe(404);
        expect((await other.call('PATCH', `/v1/agents/${id}`, { name: 'x' })).status).toBe(404);
        expect((await other.call('PUT', `/v1/agents/${id}/capabilities`, { capabilities: [] })).status).toBe(404);
        expect((await other.call('DELETE', `/v1/agents/${id}`)).status).toBe(404);
      }
      expect((await api.withToken().call('GET', `/v1/agents/${id}`)).status).toBe(200);
      expect((await (await api.withKey({ planes: ['gateway'] })).call('GET', '/v1/agents')).status).toBe(403);
    });
  });
}

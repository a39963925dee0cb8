import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/base/json.ts';
import { composeStoredAgent, requireAgent } from '../../../src/platform/agents/agents.ts';
import { storedAgents } from '../../../src/platform/agents/stored-agents.ts';
import type { ToolOutcome } from '../../../src/platform/tools/tool.ts';
import { AgentApi, type ApiAnswer } from '../../support/agent-api.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { type Service, startService } from '../../support/service.ts';

const STDIO = fileURLToPath(new URL('programs/mcp-stdio.ts', import.meta.url));
const GROWING = fileURLToPath(new URL('programs/mcp-growing.ts', import.meta.url));

const withProperty = (property: object): object => ({ type: 'object', properties: { a: property } });

/** Custom capabilities over HTTP, on whatever database the server has. */
export function customSuite(database: string, databaseUrl: () => Promise<string | undefined>): void {
  describe(`custom capabilities on ${database}`, () => {
    let service: Service;
    let server: TestGateway;
    let api: AgentApi;
    let admin: AgentApi;

    beforeAll(async () => {
      service = await startService();
      const address = await databaseUrl();
      server = await startGateway({
        config: {
          tools: { allow_hosts: [service.host] },
          secrets: {
            SERVICE: { key: 's3cret-value', hosts: [service.host] },
            ELSEWHERE: { key: 'x', hosts: ['api.example.test'] },
            PROGRAM: { key: 'of-a-program', hosts: [] },
          },
        },
        ...(address === undefined ? {} : { databaseUrl: address }),
      });
      api = new AgentApi(server);
      admin = api.withToken();
    });
    afterAll(async () => {
      await server.close();
      await service.close();
    });

    const define = (definition: object, as: AgentApi = api): Promise<ApiAnswer> =>
      as.call('POST', '/v1/capabilities', { name: 'Custom', description: 'For a test.', ...definition });

    /** Runs a tool of an agent with these capabilities, as a turn would. */
    async function run(capabilities: readonly unknown[], tool: string, input: JsonObject = {}, as = api): Promise<ToolOutcome> {
      const id = await as.agent({ capabilities });
      const plane = server.gateway.agents;
      const composed = await composeStoredAgent(plane, await requireAgent(plane, id), true);
      const found = composed.tools.find(({ name }) => name === tool);
      if (found === undefined) throw new Error(`no tool ${tool} among ${composed.tools.map(({ name }) => name).join(', ')}`);
      return await found.execute(input, {
        callId: 'call_1',
        agentId: id,
        sessionId: 'session_1',
        workspace: server.home,
        signal: AbortSignal.timeout(60_000),
      });
    }

    describe('HTTP tools', () => {
      it('fill their templates, send secrets by reference and never show them', async () => {
        const made = await define({
          id: 'orders',
          config_schema: { type: 'object', properties: { shop: { type: 'string', default: 'main' } } },
          tools: [
            {
              type: 'http',
              name: 'place_order',
              description: 'Places an order.',
              parameters: {
                type: 'object',
                properties: { item: { type: 'string' }, count: { type: 'integer' }, note: {}, none: {}, pair: {} },
                required: ['item'],
              },
              method: 'POST',
              url: `http://${service.host}/shops/{{config.shop}}/items/{{input.item}}`,
              query: { note: '{{input.note}}', fixed: '1' },
              headers: { Authorization: 'Bearer {{secret.SERVICE}}' },
              body: {
                count: '{{input.count}}',
                text: 'for {{input.item}}',
                missing: '{{input.none}}',
                list: ['{{input.pair}}', null, ['{{input.count}}'], '{{input.none}}', '{{theirs}}'],
              },
            },
          ],
        });
        expect([made.status, made.body.tools_error]).toEqual([201, undefined]);
        expect(made.body.tools[0]).toMatchObject({ name: 'place_order', policy: 'auto', effect: 'at_most_once' });
        expect(made.text).not.toContain('s3cret-value');
        const outcome = await run(['orders'], 'place_order', { item: 'a/../b c', count: 2, pair: [1, null] });
        expect(service.seen.at(-1)).toMatchObject({
          method: 'POST',
          url: '/shops/main/items/a%2F..%2Fb%20c?fixed=1',
          body: '{"count":2,"text":"for a/../b c","list":[[1,null],null,[2],"{{theirs}}"]}',
          headers: { authorization: 'Bearer s3cret-value', 'idempotency-key': 'call_1', 'content-type': 'application/json' },
        });
        expect(outcome).toMatchObject({ output: { status: 200, body: { echo: { authorization: 'Bearer [secret SERVICE]' } } } });
      });

      it('cannot leave their path, and say what is missing', async () => {
        await define({
          id: 'paths',
          tools: [
            {
              type: 'http',
              name: 'get_thing',
              description: 'x',
              parameters: { type: 'object', properties: { id: { type: 'string' } } },
              url: `http://${service.host}/things/{{input.id}}/end`,
            },
          ],
        });
        const before = service.seen.length;
        expect(await run(['paths'], 'get_thing', { id: '..' })).toEqual({ error: 'The path holds a dot segment.' });
        expect(await run(['paths'], 'get_thing', {})).toEqual({ error: 'input.id is missing.' });
        expect(service.seen.length).toBe(before);
      });

      it('tell the model when the service refuses', async () => {
        await define({ id: 'failing', tools: [{ type: 'http', name: 'go', description: 'x', url: `http://${service.host}/fail` }] });
        expect(await run(['failing'], 'go')).toMatchObject({ error: expect.stringMatching(/answered 418/) });
      });

      it('do not tell the model the address of a service that sends them in circles', async () => {
        const url = `http://${service.host}/round`;
        await define({ id: 'round', tools: [{ type: 'http', name: 'go', description: 'x', url, query: { key: '{{secret.SERVICE}}' } }] });
        expect(await run(['round'], 'go')).toEqual({ error: `${url}?key=[secret SERVICE] redirects too often.` });
      });

      it('do not reach private addresses that nobody allowed', async () => {
        await define({ id: 'inward', tools: [{ type: 'http', name: 'go', description: 'x', url: 'http://127.0.0.1:1/' }] });
        expect(await run(['inward'], 'go')).toMatchObject({ error: expect.stringMatching(/public addresses only/) });
      });

      it.each<[string, object, RegExp]>([
        ['a host from the model', { url: 'http://{{input.host}}/' }, /host is written out/],
        ['a host with a hole', { url: 'http://api.{{input.x}}.test/' }, /host is written out/],
        ['another scheme', { url: 'file:///etc/passwd' }, /host is written out/],
        ['an unknown secret', { url: 'http://a.test/', headers: { a: '{{secret.NONE}}' } }, /secret NONE is not configured/],
        ['a secret for another host', { url: 'http://a.test/', headers: { a: '{{secret.ELSEWHERE}}' } }, /may not be sent to a\.test/],
        ['an input that no schema declares', { url: 'http://a.test/{{input.who}}' }, /\{\{input\.who\}\} is declared in no schema/],
        [
          'a setting that no schema declares',
          { url: 'http://a.test/', body: { a: '{{config.who}}' } },
          /\{\{config\.who\}\} is declared in no/,
        ],
        ['a secret in the path', { url: 'http://api.example.test/{{secret.ELSEWHERE}}' }, /goes into the query/],
        ['a broken template', { url: 'http://a.test/{{input}}' }, /a place is written/],
        ['a broken template in the body', { url: 'http://a.test/', method: 'POST', body: { a: ['{{inputs.x}}'] } }, /a place is written/],
        ['a header of the connection', { url: 'http://a.test/', headers: { Host: 'b' } }, /Host cannot be set/],
        ['parameters that are no schema', { url: 'http://a.test/', parameters: { type: 'object', properties: 5 } }, /parameters/],
        ['a pattern that is none', { url: 'http://a.test/', parameters: withProperty({ pattern: '(' }) }, /Unterminated group/],
        ['a reference to nothing', { url: 'http://a.test/', parameters: withProperty({ $ref: '#/nothing' }) }, /can't resolve reference/],
        ['parameters that are no object', { url: 'http://a.test/', parameters: { type: 'string' } }, /"type": "object"/],
      ])('are refused with %s', async (_, tool, words) => {
        const answer = await define({ id: 'refused', tools: [{ type: 'http', name: 'go', description: 'x', ...tool }] });
        expect([answer.status, answer.body.code]).toEqual([422, 'unprocessable']);
        expect(answer.body.detail).toMatch(words);
        expect((await api.call('GET', '/v1/capabilities/refused')).status).toBe(404);
      });
    });

    describe('TypeScript tools', () => {
      it('run in the sandbox with input and settings', async () => {
        await define({
          id: 'scripts',
          config_schema: { type: 'object', properties: { factor: { type: 'number', default: 10 } } },
          tools: [
            {
              type: 'typescript',
              name: 'scale',
              description: 'x',
              source:
                'interface In { n: number }\nexport default async (input: In, config: { factor: number }) => ({ n: input.n * config.factor });',
            },
            {
              type: 'typescript',
              name: 'escape',
              description: 'x',
              source:
                'export default () => [typeof process, typeof require, typeof fetch, typeof globalThis.constructor.constructor("return process")]',
            },
            { type: 'typescript', name: 'hang', description: 'x', timeout_s: 0.2, source: 'export default () => { for (;;) {} }' },
          ],
        });
        expect(await run(['scripts'], 'scale', { n: 2 })).toEqual({ output: { n: 20 } });
        expect(await run([{ capability_id: 'scripts', config: { factor: 3 } }], 'scale', { n: 2 })).toEqual({ output: { n: 6 } });
        expect(await run(['scripts'], 'escape')).toEqual({ output: ['undefined', 'undefined', 'undefined', 'function'] });
        expect(await run(['scripts'], 'hang')).toMatchObject({ error: expect.stringMatching(/did not end/) });
      });

      it.each([
        ['const a = 1;', /no default export/],
        ['export default (', /source/],
        ['enum A { b }\nexport default () => 1', /enum/],
      ])('are refused when they do not load: %s', async (source, words) => {
        const answer = await define({ id: 'broken', tools: [{ type: 'typescript', name: 'a', description: 'x', source }] });
        expect(answer.status).toBe(422);
        expect(answer.body.detail).toMatch(words);
      });
    });

    describe('MCP servers', () => {
      it('over HTTP bring their tools, with secrets in headers and the call id on the way', async () => {
        const made = await define({
          id: 'mcp_http',
          mcp: { transport: 'http', url: `http://${service.host}/mcp`, headers: { authorization: 'Bearer {{secret.SERVICE}}' } },
        });
        expect(made.body.tools.map(({ name, effect, policy }: Record<string, string>) => [name, effect, policy])).toEqual([
          ['shout', 'idempotent', 'auto'],
          ['fail', 'at_most_once', 'auto'],
          [expect.stringMatching(/^odd_name_[0-9a-f]{8}$/), 'at_most_once', 'auto'],
          ['erase', 'at_most_once', 'requires_approval'],
        ]);
        expect(made.text).not.toContain('s3cret-value');
        expect(service.seen.at(-1)?.headers.authorization).toBe('Bearer s3cret-value');
        expect(await run(['mcp_http'], 'shout', { text: 'hi' })).toEqual({ output: 'HI' });
        expect(await run(['mcp_http'], 'fail')).toEqual({ error: 'it broke' });
        const odd = made.body.tools[2].name;
        expect(await run(['mcp_http'], odd)).toEqual({ output: 'call_1' });
      });

      it('that are not there make the agent fail early, with words', async () => {
        const made = await define({ id: 'mcp_gone', mcp: { transport: 'http', url: 'http://192.0.2.1/mcp' } });
        expect(made.body).toMatchObject({ tools: [], tools_error: expect.stringMatching(/public/) });
        const answer = await api.call('POST', '/v1/agents', { name: 'a', capabilities: ['mcp_gone'] });
        expect([answer.status, answer.body.code]).toEqual([403, 'E005']);
      });

      it.each<[string, object, RegExp]>([
        ['a setting in a header', { headers: { a: 'Bearer {{config.key}}' } }, /only \{\{secret\.NAME\}\} may stand/],
        ['an unknown secret', { headers: { a: '{{secret.NONE}}' } }, /secret NONE is not configured/],
        ['a secret in the address', { url: 'http://a.test/{{secret.SERVICE}}' }, /goes into headers or env/],
        ['another scheme', { url: 'ftp://a.test/' }, /http or https/],
      ])('are refused with %s', async (_, mcp, words) => {
        const { status, body } = await define({ id: 'mcp_refused', mcp: { transport: 'http', url: 'http://a.test/', ...mcp } });
        expect([status, body.detail]).toEqual([422, expect.stringMatching(words)]);
      });

      it('may change their tools: the next turn sees them', async () => {
        const growing = { id: 'mcp_growing', mcp: { transport: 'stdio', command: process.execPath, args: [GROWING] } };
        expect((await define(growing, admin)).status).toBe(201);
        const agentId = await admin.agent({ capabilities: ['mcp_growing'] });
        const agents = storedAgents(server.gateway.agents);
        const names = async (): Promise<string[]> => (await agents({ agentId, host: true })).tools.map(({ name }) => name);
        expect(await names()).toEqual(['grow']);
        const before = await agents({ agentId, host: true });
        expect(await agents({ agentId, host: true })).toBe(before);
        expect(await run(['mcp_growing'], 'grow', {}, admin)).toEqual({ output: 'grown' });
        await expect.poll(names).toEqual(['grow', 'grown_tool']);
      });

      it('as programs of this machine need the token, to define, to enable and to change', async () => {
        const bound = { transport: 'stdio', command: process.execPath, args: [STDIO], env: { KEY: '{{secret.SERVICE}}' } };
        const refused = await define({ id: 'mcp_bound', mcp: bound }, admin);
        expect([refused.status, JSON.stringify(refused.body)]).toEqual([422, expect.stringContaining('could send it anywhere')]);
        const free = await define({ id: 'mcp_free', mcp: { ...bound, env: { KEY: '{{secret.PROGRAM}}' } } }, admin);
        expect(free.status).toBe(201);
        const definition = { id: 'mcp_stdio', mcp: { transport: 'stdio', command: process.execPath, args: [STDIO] } };
        expect((await define(definition)).status).toBe(403);
        expect((await define(definition, await api.withKey())).status).toBe(403);
        const made = await define(definition, admin);
        expect([made.status, made.body.host, made.body.tools.length]).toEqual([201, true, 4]);
        expect(await run(['mcp_stdio'], 'shout', { text: 'hi' }, admin)).toEqual({ output: 'HI' });

        const seen = (await api.call('GET', '/v1/capabilities/mcp_stdio')).body;
        expect(seen).toMatchObject({ tools: [], tools_error: expect.stringMatching(/needs the token/) });
        expect(seen.definition).toBeUndefined();
        expect((await api.call('POST', '/v1/agents', { name: 'a', capabilities: ['mcp_stdio'] })).status).toBe(403);
        const id = await admin.agent({ capabilities: ['mcp_stdio'] });
        expect((await api.call('PATCH', `/v1/agents/${id}`, { system_prompt: 'do harm' })).status).toBe(403);
        expect((await api.call('DELETE', `/v1/agents/${id}`)).status).toBe(403);
        expect((await api.call('GET', `/v1/agents/${id}/preview`)).body.error).toMatchObject({ code: 'forbidden' });
        expect((await api.call('DELETE', '/v1/capabilities/mcp_stdio')).status).toBe(403);
      });

      it('as programs of this machine need the token to speak to, also when they are defined after what needs them', async () => {
        await define({ id: 'waiting', version: '1.0.0' });
        const agent = await api.agent({ capabilities: ['waiting'] });
        const session = (await api.call('POST', '/v1/sessions', { agent_id: agent })).body.id;
        const say = async (): Promise<number> =>
          (await api.call('POST', `/v1/sessions/${session}/messages`, { message: { content: 'hi' } })).status;
        const newer = { id: 'waiting', name: 'Custom', description: 'For a test.', version: '1.1.0', dependencies: [{ id: 'late_stdio' }] };
        expect((await admin.call('PUT', '/v1/capabilities/waiting', newer)).status).toBe(200);
        expect(await say()).toBe(201);
        const late = { id: 'late_stdio', mcp: { transport: 'stdio', command: process.execPath, args: [STDIO] } };
        expect((await define(late, admin)).status).toBe(201);
        expect(await say()).toBe(403);
      });
    });

    describe('tools of one name', () => {
      const source = 'export default () => "mine"';

      beforeAll(async () => {
        await define({ id: 'my_math', tools: [{ type: 'typescript', name: 'add', description: 'mine', source }] });
      });

      const preview = async (conflicts: string): Promise<[string, string][]> => {
        const id = await api.agent({ conflicts, capabilities: ['test_math', 'my_math'] });
        const { body } = await api.call('GET', `/v1/agents/${id}/preview`);
        return body.tools
          .filter((tool: { source: { name: string } }) => tool.source.name === 'add')
          .map((tool: { name: string; source: { capability_id: string } }) => [tool.name, tool.source.capability_id]);
      };

      it('are refused by default, at PUT and in the preview', async () => {
        const id = await api.agent({ conflicts: 'prefix', capabilities: ['test_math', 'my_math'] });
        const put = await api.call('PUT', `/v1/agents/${id}/capabilities`, { capabilities: ['test_math', 'my_math'], conflicts: 'error' });
        expect([put.status, put.body.details]).toEqual([422, { tool: 'add', capabilities: ['test_math', 'my_math'] }]);
        expect((await api.call('PATCH', `/v1/agents/${id}`, { conflicts: 'error' })).status).toBe(422);
        expect((await api.call('GET', `/v1/agents/${id}`)).body.conflicts).toBe('prefix');
      });

      it('get the name of their capability with prefix', async () => {
        expect(await preview('prefix')).toEqual([
          ['test_math__add', 'test_math'],
          ['my_math__add', 'my_math'],
        ]);
      });

      it('leave one with prefer: the first, or that of the named capability', async () => {
        expect(await preview('prefer')).toEqual([['add', 'test_math']]);
        expect(await preview('prefer:my_math')).toEqual([['add', 'my_math']]);
        const misspelt = await api.call('POST', '/v1/agents', { name: 'a', conflicts: 'prefer:my_maths', capabilities: ['my_math'] });
        expect(misspelt.body.warnings).toEqual(['conflicts prefers my_maths, which this agent does not have; the first capability wins.']);
      });
    });

    describe('states', () => {
      it('coming_soon is listed and refused; deprecated is taken with a warning', async () => {
        await define({ id: 'later', status: 'coming_soon' });
        await define({ id: 'old', status: 'deprecated' });
        const refused = await api.call('POST', '/v1/agents', { name: 'a', capabilities: ['later'] });
        expect([refused.status, refused.body.detail]).toEqual([422, 'The capability later is not available yet.']);
        const id = await api.agent();
        const { status, body } = await api.call('PUT', `/v1/agents/${id}/capabilities`, { capabilities: ['old'] });
        expect([status, body]).toEqual([
          200,
          { items: [{ capability_id: 'old', position: 0 }], total: 1, warnings: ['old is deprecated.'] },
        ]);
      });
    });

    it('of a key are its own: others neither see nor use nor change them', async () => {
      const [one, two] = [await api.withKey(), await api.withKey()];
      await define({ id: 'private_one' }, one);
      expect((await one.call('GET', '/v1/capabilities/private_one')).body.definition.id).toBe('private_one');
      for (const other of [two, api]) {
        expect((await other.call('GET', '/v1/capabilities/private_one')).status).toBe(404);
        expect((await other.call('DELETE', '/v1/capabilities/private_one')).status).toBe(404);
        expect((await other.call('POST', '/v1/agents', { name: 'a', capabilities: ['private_one'] })).status).toBe(422);
      }
      expect((await one.call('POST', '/v1/agents', { name: 'a', capabilities: ['private_one'] })).status).toBe(201);
      await define({ id: 'shared_one' }, api);
      expect((await two.call('POST', '/v1/agents', { name: 'a', capabilities: ['shared_one'] })).status).toBe(201);
      expect((await two.call('DELETE', '/v1/capabilities/shared_one')).status).toBe(403);
    });

    it('have ids of their own for each key: two callers may use the same one and never meet', async () => {
      const [one, two] = [await api.withKey(), await api.withKey()];
      const admin = api.withToken();
      const mine = async (caller: AgentApi): Promise<string> => {
        const agent = await caller.agent({ name: 'a', capabilities: ['same_id'] });
        return (await caller.call('GET', `/v1/agents/${agent}/preview`)).body.system_prompt;
      };
      expect((await define({ id: 'same_id', system_prompt: 'of one' }, one)).status).toBe(201);
      expect((await define({ id: 'same_id', system_prompt: 'of two' }, two)).status).toBe(201);
      expect((await define({ id: 'same_id' }, two)).status).toBe(409);
      expect([await mine(one), await mine(two)]).toEqual(['of one', 'of two']);
      const listed = (await one.call('GET', '/v1/capabilities')).body.items;
      expect(listed.filter(({ id }: { id: string }) => id === 'same_id')).toHaveLength(1);
      const { status, body } = await admin.call('GET', '/v1/capabilities/same_id');
      expect([status, body.details?.owners ?? body.owners]).toEqual([
        409,
        [expect.stringMatching(/^key_/), expect.stringMatching(/^key_/)],
      ]);
      const [owner] = body.details?.owners ?? body.owners;
      expect((await admin.call('GET', `/v1/capabilities/same_id?owner=${owner}`)).body.system_prompt).toBe('of one');
      expect((await two.call('GET', `/v1/capabilities/same_id?owner=${owner}`)).status).toBe(404);
      const next = { id: 'same_id', name: 'n', description: 'd', version: '2.0.0', system_prompt: 'of two, again' };
      expect((await two.call('PUT', '/v1/capabilities/same_id', next)).status).toBe(200);
      expect((await one.call('GET', '/v1/capabilities/same_id')).body.version).toBe('1.0.0');
      expect((await one.call('DELETE', '/v1/capabilities/same_id')).status).toBe(409);
      expect((await two.call('GET', '/v1/capabilities/same_id')).status).toBe(200);
    });

    it('cannot take the place of a built-in one', async () => {
      expect((await define({ id: 'noop' })).status).toBe(409);
      expect((await api.call('PUT', '/v1/capabilities/noop', { id: 'noop', name: 'a', description: 'b' })).status).toBe(409);
      expect((await api.call('DELETE', '/v1/capabilities/noop')).status).toBe(409);
    });
  });
}

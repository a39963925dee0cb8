import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/base/json.ts';
import { AgentApi, type ApiAnswer } from '../../support/agent-api.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';

const UNRULY = fileURLToPath(new URL('programs/mcp-unruly.ts', import.meta.url));
/** JSON and addresses write it in other letters. */
const SECRET = 's3/cret "value"';

describe('an MCP server', () => {
  let server: TestGateway;
  let admin: AgentApi;

  beforeAll(async () => {
    server = await startGateway({ config: { secrets: { KEY: { key: SECRET, hosts: [] } } } });
    admin = new AgentApi(server).withToken();
  });
  afterAll(() => server.close());

  const define = (id: string, manner: string, rest: JsonObject = {}): Promise<ApiAnswer> =>
    admin.call('POST', '/v1/capabilities', {
      ...{ id, name: 'Unruly', description: 'x' },
      mcp: { transport: 'stdio', command: process.execPath, args: [UNRULY, manner], env: { KEY: '{{secret.KEY}}' }, ...rest },
    });

  async function call(agent: string, tool: string): Promise<JsonObject> {
    const { body: session } = await admin.call('POST', '/v1/sessions', { agent_id: agent });
    await admin.call('POST', `/v1/sessions/${session.id}/messages`, { message: { content: `call the tool ${tool} with {}` } });
    await expect.poll(async () => (await admin.call('GET', `/v1/sessions/${session.id}`)).body.status, { timeout: 60_000 }).toBe('idle');
    const { items } = (await admin.call('GET', `/v1/sessions/${session.id}/messages`)).body;
    return items.find(({ role }: { role: string }) => role === 'tool_result').content[0];
  }

  it('that says the secret it was given does not tell it to a model or a caller', async () => {
    const made = await define('telling', 'telling');
    expect(made.body.tools[0]).toMatchObject({ name: 'tell', description: 'Knows [secret KEY].' });
    const agent = await admin.agent({ capabilities: ['telling'] });
    expect(await call(agent, 'tell')).toMatchObject({ result: '[secret KEY]' });
    expect(await call(agent, 'shape')).toMatchObject({ result: { keys: ['[secret KEY]'] } });
    expect(await call(agent, 'fail')).toMatchObject({ error: 'no [secret KEY]' });
  });

  it('that says too much is cut once, and its true length is told', async () => {
    await define('flooding', 'telling');
    const { result } = await call(await admin.agent({ capabilities: ['flooding'] }), 'flood');
    expect(String(result)).toMatch(/^x{61440}\n\[cut: the answer has 100000 characters\]$/);
  });

  it('whose list of tools never ends is given up', async () => {
    const made = await define('endless', 'endless');
    expect(made.body.tools_error).toMatch(/list of tools does not end/);
    const refused = await admin.call('POST', '/v1/agents', { name: 'a', capabilities: ['endless'] });
    expect([refused.status, refused.body.code]).toEqual([503, 'E007']);
  });

  it.each([
    ['lines', /more than 1000 lines that are no messages|ended|closed/i],
    ['words', /more than 1000 lines that are no messages|ended|closed/i],
    ['line', /longer than 10485760 bytes|ended|closed/i],
    ['values', /more than 50000 values|ended|closed/i],
  ])('that prints %s without end is ended, and others are served meanwhile', async (manner, reason) => {
    const made = define(`printing_${manner}`, manner);
    const started = performance.now();
    for (let asked = 0; asked < 20; asked += 1) expect((await admin.call('GET', '/v1/capabilities')).status).toBe(200);
    expect(performance.now() - started).toBeLessThan(60_000);
    expect((await made).body.tools_error).toMatch(reason);
  });

  it('that sends notes without end is still heard', async () => {
    expect((await define('noting', 'notes')).body.tools).toHaveLength(4);
  });

  it('with too many tools, or one that says too much of itself, is refused until somebody chooses', async () => {
    expect((await define('many', 'many')).body.tools_error).toMatch(/has 501 tools, more than 500; name those that are needed/);
    expect((await define('few', 'many', { tools: ['tool_7'] })).body.tools).toHaveLength(1);
    expect((await define('wordy', 'wordy')).body.tools_error).toMatch(/describes its tool wordy in 700\d\d characters/);
    expect((await define('brief', 'wordy', { tools: ['brief'] })).body.tools).toHaveLength(1);
  });
});

import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { identityOf } from '../../src/base/process-table.ts';
import type { Check } from '../../src/calls/admission.ts';
import { type Call, type CallEnding, WAYS } from '../../src/calls/call.ts';
import { AbpError } from '../../src/contract/errors.ts';
import { newRunId } from '../../src/contract/run-id.ts';
import { dialects } from '../../src/dialects/index.ts';
import { ownEngine } from '../../src/engines/index.ts';
import { openRunGateway } from '../../src/gateway/run-plane/run-gateway.ts';
import { AgentApi } from '../support/agent-api.ts';
import { fakeCommand } from '../support/agents/command.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { call, post, rawCall } from '../support/http-call.ts';
import { receiptOf } from '../support/receipt-of.ts';

const refusal = (): AbpError => new AbpError('E005', 'nothing is allowed here', { operation: 'call', policy_rule: 'nothing' });

describe('with a policy that refuses everything', () => {
  const asked: Call[] = [];
  let connections = 0;
  let server: TestGateway;
  let folder: string;
  let env: Record<string, string>;
  const listener = createServer((socket) => {
    connections += 1;
    socket.destroy();
  });

  const nothing: Check = {
    name: 'policy',
    check: (one) => {
      asked.push(one);
      return refusal();
    },
  };

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'abp-admission-'));
    env = { PATH: fakeCommand(join(folder, 'bin'), 'claude') };
    await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(listener.address() as AddressInfo).port}`; // a listening TCP server has one
    const ids = new Set(dialects.flatMap(({ id }) => ownEngine(id)?.id ?? []));
    const engines = Object.fromEntries([...ids].map((id) => [id, { url, key: 'sk-engine-key-0001' }]));
    server = await startGateway({ engines, checks: [nothing] });
  });

  afterAll(async () => {
    await server.close();
    listener.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Every path of every dialect, to the engine of its own vendor (relay) and to one that speaks another dialect (mapped). */
  const vendorCalls = dialects.flatMap(({ id, paths }) =>
    paths
      .filter(({ method }) => method === 'POST')
      .flatMap(({ path, operation }) => {
        const own = ownEngine(id)?.id ?? '';
        const other = own === 'claude' ? 'gemini' : 'claude';
        const named = path.replace('{model}', 'm');
        // Embeddings have no translation, so the other engine refuses them before a policy is asked.
        const refused = operation === 'embeddings' ? 'E001' : 'E005';
        return [
          { path: `/e/${own}${named}`, id, code: 'E005' },
          { path: `/e/${other}${named}`, id, code: refused },
        ];
      }),
  );

  const messages = [{ role: 'user', content: 'hi' }];
  const bodies: Readonly<Record<string, object>> = {
    claude: { model: 'm', max_tokens: 5, messages },
    'openai-responses': { model: 'm', input: 'hi' },
    gemini: { contents: [{ role: 'user', parts: [{ text: 'hi' }] }] },
  };

  test.each(vendorCalls)('POST $path of $id reaches no engine', async ({ path, id, code }) => {
    const reply = await post(`${server.url}${path}`, bodies[id] ?? { model: 'm', messages });
    expect(String(reply.body)).toContain(code);
  });

  test.each([
    ['GET', '/e/claude/v1/models'],
    ['GET', '/e/gemini/v1beta/models'],
    ['POST', '/e/claude/v1/messages/batches'],
    ['GET', '/e/openai/v1/files'],
    ['DELETE', '/e/openai/v1/responses/resp_1'],
  ])('%s %s, which no dialect describes, reaches no engine and leaves a receipt of the refusal', async (method, path) => {
    const reply = await call(`${server.url}${path}`, { method, ...(method === 'POST' ? { body: '{}' } : {}) });
    expect([reply.status, String(reply.body)]).toEqual([403, expect.stringContaining('E005')]);
    const receipt = await receiptOf(server.url, reply.headers['x-abp-run-id']);
    expect(receipt).toMatchObject({ status: 'failed', reason: 'refused', error: { code: 'E005' }, attempts: [] });
  });

  test('a WebSocket reaches no engine', async () => {
    const lines = ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=='];
    const head = `GET /e/openai/v1/realtime?model=m HTTP/1.1\r\nHost: ${new URL(server.url).host}\r\n${lines.join('\r\n')}\r\n\r\n`;
    expect(await rawCall(server.url, head)).toMatch(/^HTTP\/1\.1 403 [\s\S]*E005/);
  });

  test('the model call of a turn reaches no engine, and the turn says why', async () => {
    const api = new AgentApi(server);
    const agent = await api.agent({ model: 'claude/m' });
    const { body: session } = await api.call('POST', '/v1/sessions', { agent_id: agent });
    await api.call('POST', `/v1/sessions/${session.id}/messages`, { message: { content: 'hi' } });
    const failed = async (): Promise<unknown> => {
      const answer = await call(`${server.url}/v1/sessions/${session.id}/events`, { headers: ['accept', 'application/json'] });
      return JSON.parse(String(answer.body)).items.find(({ type }: { type: string }) => type === 'turn.failed')?.data.error_code;
    };
    await expect.poll(failed, { timeout: 60_000 }).toBe('E005');
  });

  test('a run of a coding agent is refused with 403 before its row is written or its program started', async () => {
    const api = new AgentApi(server).withToken();
    const options = { agent: 'claude', prompt: 'hi', cwd: folder, engine: 'claude', env };
    expect(await api.call('POST', '/v1/runs', options)).toMatchObject({ status: 403, body: { error: { code: 'E005' } } });
    expect((await api.call('GET', '/v1/runs?plane=run')).body.items).toEqual([]);
    expect(asked.at(-1)).toMatchObject({ way: 'run', agent: 'claude', engine: 'claude', direct: false });
  });

  test('a run that another process of the home drives is refused by the server of the home', async () => {
    const gateway = await openRunGateway({ homePath: server.home });
    onTestFinished(gateway.close);
    expect(gateway.inside).toBeUndefined();
    const ask = { runId: newRunId(), agent: 'claude', dialect: 'claude', engine: 'claude', model: null, direct: false, tags: [] };
    await expect(gateway.port.admit(ask)).rejects.toMatchObject({ code: 'E005' });
  });

  test('every way was asked, and no engine saw a connection', () => {
    expect(new Set(asked.map(({ way }) => way))).toEqual(new Set(WAYS));
    expect(connections).toBe(0);
  });
});

test('a check sees what a call is about to do, and hears how it ended', async () => {
  const seen: unknown[] = [];
  const endings: CallEnding[] = [];
  const check: Check = {
    name: 'policy',
    check: ({ mode, tools, engine, model }) => {
      seen.push([mode, tools, engine, model]);
      if (tools?.includes('look'))
        return new AbpError('E005', 'the tool look is not allowed', { operation: 'look', policy_rule: 'no-look' });
      return (ending) => void endings.push(ending);
    },
  };
  const gateway = await startGateway({ checks: [check] });
  onTestFinished(gateway.close);
  const body = {
    model: 'm',
    max_tokens: 50,
    messages: [{ role: 'user', content: 'say hi' }],
    tools: [{ name: 'look', input_schema: { type: 'object' } }],
  };
  expect((await post(`${gateway.url}/e/sim/v1/messages`, body)).status).toBe(200);
  const refused = await post(`${gateway.url}/e/sim:gemini/v1/messages`, body);
  expect(refused.status).toBe(403);
  expect(JSON.parse(String(refused.body)).error).toMatchObject({ code: 'E005', details: { policy_rule: 'no-look' } });
  expect(seen).toEqual([
    ['passthrough', undefined, 'sim', 'm'],
    ['mapped', ['look'], 'sim', 'm'],
  ]);
  expect(endings).toMatchObject([{ status: 'completed', usage: { output_tokens: expect.any(Number) } }]);
});

test('a fallback is admitted anew, and the try before it is settled first', async () => {
  const log: string[] = [];
  const check: Check = {
    name: 'limits',
    check: ({ engine }) => {
      log.push(`in ${engine}`);
      return ({ status }) => void log.push(`out ${engine}: ${status}`);
    },
  };
  const gateway = await startGateway({
    checks: [check],
    engines: { claude: { url: 'http://127.0.0.1:9', key: 'k' } },
    config: { routes: [{ match: 'smart', to: 'claude/real', fallback: ['sim/backup'] }] },
  });
  onTestFinished(gateway.close);
  const reply = await post(`${gateway.url}/v1/messages`, { model: 'smart', max_tokens: 5, messages: [{ role: 'user', content: 'hi' }] });
  expect(reply.status).toBe(200);
  expect(log).toEqual(['in claude', 'out claude: dropped', 'in sim', 'out sim: completed']);
});

test('what a run took is given back when the process that was to drive it is killed before the run began', async () => {
  const endings: CallEnding[] = [];
  const gateway = await startGateway({ checks: [{ name: 'limits', check: () => (ending) => void endings.push(ending) }] });
  onTestFinished(gateway.close);
  const driver = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
  onTestFinished(() => void driver.kill('SIGKILL'));
  const run = newRunId();
  const owner = identityOf(driver.pid ?? 0);
  const ask = { owner, agent: 'claude', dialect: 'claude', engine: 'sim', model: null, direct: false, tags: [] };
  const api = new AgentApi(gateway).withToken();
  expect((await api.call('POST', `/v1/attached-runs/${run}/admission`, ask)).status).toBe(204);
  expect(gateway.gateway.runPlane.admitted.has(run)).toBe(true);
  expect(endings).toEqual([]);
  driver.kill('SIGKILL');
  await expect.poll(() => endings).toMatchObject([{ status: 'dropped' }]);
  expect(gateway.gateway.runPlane.admitted.has(run)).toBe(false);
});

test('a call whose beginning cannot be written gives back what its checks took, and nobody waits for its receipt', async () => {
  const endings: CallEnding[] = [];
  const gateway = await startGateway({ checks: [{ name: 'limits', check: () => (ending) => void endings.push(ending) }] });
  onTestFinished(gateway.close);
  const { keeper, calls } = gateway.gateway;
  const flush = keeper.flush.bind(keeper);
  keeper.flush = () => {
    flush();
    throw new AbpError('overloaded', 'the disk is full');
  };
  const body = { model: 'm', max_tokens: 5, messages: [{ role: 'user', content: 'hi' }] };
  expect((await post(`${gateway.url}/e/sim/v1/messages`, body)).status).toBe(503);
  keeper.flush = flush;
  expect(endings).toMatchObject([{ status: 'dropped' }]);
  expect([calls.live.count, calls.budget.held]).toEqual([0, 0]);
});

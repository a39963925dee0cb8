import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hyphenate } from '../../src/base/ids.ts';
import { decodeSse, SseFrames } from '../../src/base/sse.ts';
import { newRunId } from '../../src/contract/run-id.ts';
import { RunResult } from '../../src/contract/runs/run-result.ts';
import { createProfiles } from '../../src/runtime/profiles.ts';
import { fakeCommand } from '../support/agents/command.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';

let server: TestGateway;
let folder: string;
let env: Record<string, string>;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'abp-http-runs-'));
  env = { PATH: fakeCommand(join(folder, 'bin'), 'claude') };
  server = await startGateway();
});

afterAll(async () => {
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

async function call(
  method: string,
  path: string,
  body?: object,
  key: string = server.token,
): Promise<{ status: number; body: Record<string, unknown> }> {
  const answer = await fetch(`${server.url}${path}`, {
    method,
    headers: { ...(key === '' ? {} : { 'x-abp-key': key }), ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
}

async function started(prompt: string, more: object = {}): Promise<string> {
  const { status, body } = await call('POST', '/v1/runs', { agent: 'claude', prompt, cwd: folder, engine: 'sim', env, ...more });
  expect([status, body]).toEqual([201, { run_id: expect.stringMatching(/^run_/), status: 'running' }]);
  return String(body.run_id);
}

interface Heard {
  readonly id: string | undefined;
  readonly type: string;
  readonly data: Record<string, unknown>;
}

/** Events until the end of the stream, or until one of the type. */
async function events(run: string, options: { after?: number; until?: string } = {}): Promise<Heard[]> {
  const headers = { 'x-abp-key': server.token, ...(options.after === undefined ? {} : { 'last-event-id': String(options.after) }) };
  const answer = await fetch(`${server.url}/v1/runs/${run}/events`, { headers });
  expect(answer.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
  const frames = new SseFrames();
  const heard: Heard[] = [];
  for await (const chunk of answer.body ?? []) {
    for (const frame of frames.push(Buffer.from(chunk))) {
      const { id, event, data } = decodeSse(frame);
      heard.push({ id, type: event, data: JSON.parse(data) });
      if (event === options.until) return heard;
    }
  }
  return heard;
}

describe('POST /v1/runs', () => {
  it('needs the token, an admin key, or a key that may run this agent on this engine', async () => {
    const body = { agent: 'claude', prompt: 'hi', engine: 'sim' };
    expect((await call('POST', '/v1/runs', body, '')).status).toBe(403);
    const keyOf = async (scopes: object): Promise<string> => String((await call('POST', '/v1/keys', { name: 'k', scopes })).body.secret);
    expect((await call('POST', '/v1/runs', body, await keyOf({ planes: ['gateway'] }))).body).toMatchObject({
      error: { details: { scope: 'plane run' } },
    });
    const agents = await keyOf({ planes: ['run'], agents: ['codex'] });
    expect((await call('POST', '/v1/runs', body, agents)).body).toMatchObject({ error: { details: { scope: 'agent claude' } } });
    const engines = await keyOf({ planes: ['run'], engines: ['sim'] });
    expect((await call('POST', '/v1/runs', { ...body, engine: 'claude' }, engines)).body).toMatchObject({
      error: { details: { scope: 'engine claude' } },
    });
    expect((await call('POST', '/v1/runs', { ...body, direct: true }, engines)).body).toMatchObject({
      error: { details: { scope: 'engine direct' } },
    });
  });

  it('lets a key of plane run choose no variables, programs, files or folders of the server', async () => {
    const key = String((await call('POST', '/v1/keys', { name: 'k', scopes: { planes: ['run'], agents: ['claude'] } })).body.secret);
    const body = { agent: 'claude', prompt: 'hi', engine: 'sim', cwd: folder };
    const fields = [];
    for (const more of [
      { env },
      { mcpServers: [{ name: 'm', transport: 'stdio', command: 'sh' }] },
      { attachments: [{ filePath: '/a' }] },
      {},
    ]) {
      const answer = await call('POST', '/v1/runs', { ...body, ...more }, key);
      expect(answer).toMatchObject({ status: 403, body: { error: { details: { scope: 'admin' } } } });
      fields.push((answer.body as { error: { details: { field: string } } }).error.details.field);
    }
    expect(fields).toEqual(['env.PATH', 'mcpServers', 'attachments', 'cwd']);
    expect(await call('POST', '/v1/runs', { ...body, model: '--dangerously-skip-permissions' })).toMatchObject({ status: 400 });
  });

  it('refuses before anything is spawned', async () => {
    expect(await call('POST', '/v1/runs', { agent: 'claude', prompt: '' })).toMatchObject({ status: 400 });
    expect(await call('POST', '/v1/runs', { agent: 'nobody', prompt: 'hi' })).toMatchObject({
      status: 404,
      body: { error: { code: 'AGENT_NOT_FOUND' } },
    });
    const budget = { agent: 'pi', prompt: 'hi', mcpServers: [{ name: 'a', transport: 'stdio', command: 'b' }] };
    expect(await call('POST', '/v1/runs', budget)).toMatchObject({
      status: 422,
      body: { error: { code: 'CAPABILITY_ERROR', message: "Agent 'pi' does not support mcp" } },
    });
    expect(await call('POST', '/v1/runs', { agent: 'claude', prompt: 'hi', cwd: 'here' })).toMatchObject({ status: 400 });
  });

  it.each([
    ['policy.deny_write[0]', { policy: { deny_write: ['{'.concat(','.repeat(300_000), '}', 'a'.repeat(300_000))] } }],
    ['policy.deny_read[0]', { policy: { deny_read: ['{'.repeat(100_000).concat('a,b', '}'.repeat(100_000))] } }],
    ['workspace.exclude[1]', { workspace: { mode: 'staged', exclude: ['*.log', '[a'] } }],
    ['workspace.include[0]', { workspace: { mode: 'staged', include: ['*a'.repeat(100_000)] } }],
  ])('refuses at once patterns of paths that nobody can read or that cost much: %s', async (path, more) => {
    expect(await call('POST', '/v1/runs', { agent: 'claude', prompt: 'hi', ...more })).toMatchObject({
      status: 400,
      body: { error: { code: 'invalid_request', details: { path } } },
    });
  });
});

describe('an id that the caller made', () => {
  it('is that of the run, and a start that is sent again starts nothing and says where the run is', async () => {
    const [hex] = [newRunId().slice(4)];
    const uuid = hyphenate(hex);
    expect(await started('hello', { runId: uuid })).toBe(`run_${hex}`);
    const again = await call('POST', '/v1/runs', {
      agent: 'claude',
      prompt: 'hello',
      cwd: folder,
      engine: 'sim',
      env,
      runId: `run_${hex}`,
    });
    expect(again).toMatchObject({
      status: 409,
      body: { error: { code: 'conflict', details: { run_id: `run_${hex}`, path: `/v1/runs/run_${hex}` } } },
    });
    expect((await events(`run_${hex}`)).at(-1)?.data).toMatchObject({ exitReason: 'completed' });
    const later = await call('POST', '/v1/runs', { agent: 'claude', prompt: 'hello', cwd: folder, engine: 'sim', env, runId: uuid });
    expect(later.status).toBe(409);
  });

  it('runs once, however often it is sent at the same moment', async () => {
    const body = { agent: 'claude', prompt: 'hello', cwd: folder, engine: 'sim', env, runId: newRunId() };
    const answers = await Promise.all([1, 2, 3, 4].map(() => call('POST', '/v1/runs', body)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 409, 409, 409]);
    await events(body.runId);
  });

  it('may be a ULID, under which the run is found as well', async () => {
    const ulid = '01JCQ4Z8N6T3V5X7Y9ZABCDEFG';
    const run = await started('hello', { runId: ulid });
    expect(run).toBe('run_01932e4fa2a6d0f65e9fc9fa96c6b9f0');
    expect((await call('GET', `/v1/runs/${ulid}`)).body).toMatchObject({ run_id: run });
    await events(run);
  });

  it('is not that of a call', async () => {
    const answer = await fetch(`${server.url}/e/sim/v1/messages`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'anthropic-version': '2023-06-01', 'x-abp-key': server.token },
      body: JSON.stringify({ model: 'm', max_tokens: 10, messages: [{ role: 'user', content: 'hi' }] }),
    });
    await answer.text();
    const runId = answer.headers.get('x-abp-run-id');
    expect((await call('POST', '/v1/runs', { agent: 'claude', prompt: 'hi', cwd: folder, engine: 'sim', env, runId })).status).toBe(409);
  });
});

it('a run of a project is found by its tag', async () => {
  const run = await started('hello', { projectId: 'apollo', tags: ['t'] });
  expect((await call('GET', `/v1/runs/${run}`)).body).toMatchObject({ tags: ['t', 'project:apollo'] });
  expect((await events(run)).at(-1)?.data).toMatchObject({ projectId: 'apollo', tags: ['t'] });
  const found = async (): Promise<string[]> =>
    ((await call('GET', '/v1/runs?tag=project:apollo&plane=run')).body.items as { run_id: string }[]).map(({ run_id }) => run_id);
  await expect.poll(found).toEqual([run]);
});

describe('what cannot be sent', () => {
  it.each([
    [{ hooks: { stop: 'x' } }, 400, 'interactions/{interaction_id}'],
    [{ runId: '6f9619ff-8b86-4011-b42d-00c04fc964ff' }, 400, 'must be run_ and the 32 hex digits of a UUIDv7'],
    [{ invocation: { mode: 'docker', image: 'x' } }, 422, 'not by docker; run a backplane there and use it with --remote URL'],
    [{ invocation: { mode: 'moon' } }, 400, '"moon" is not one of local, docker, ssh, k8s'],
  ])('%j is refused with words', async (more, status, words) => {
    const answer = await call('POST', '/v1/runs', { agent: 'claude', prompt: 'hi', ...more });
    expect(answer).toMatchObject({ status, body: { error: { message: expect.stringContaining(words) } } });
  });

  it('the mode that is served is taken', async () => {
    expect((await events(await started('hello', { invocation: { mode: 'local' } }))).at(-1)?.data).toMatchObject({
      exitReason: 'completed',
    });
  });
});

describe('a run over HTTP', () => {
  it('streams its events under their numbers and ends with its result', async () => {
    const run = await started('say the words over and out', { tags: ['t'] });
    const heard = await events(run);
    const last = heard.at(-1);
    expect(last?.type).toBe('run_result');
    const { type, ...result } = last?.data ?? {};
    expect(type).toBe('run_result');
    expect(RunResult.parse(result)).toMatchObject({ runId: run, exitReason: 'completed', tags: ['t'] });
    const numbered = heard.slice(0, -1);
    expect(numbered.map(({ id }) => Number(id))).toEqual(numbered.map((_, at) => at + 1));
    expect(numbered.map(({ type }) => type)).toContain('session_start');
    expect(numbered.every(({ type, data }) => data.type === type && data.runId === run)).toBe(true);
    const later = await events(run, { after: 2 });
    expect(later).toEqual(heard.slice(2));
  });

  it('is listed with the runs of other planes, and read whole', async () => {
    const run = await started('hello', { env: { ...env, SECRET: 'hush' } });
    await events(run);
    const { body } = await call('GET', `/v1/runs/${run}`);
    expect(body).toMatchObject({
      run_id: run,
      plane: 'run',
      status: 'completed',
      agent: 'claude',
      backend: 'adapter:claude',
      engine: 'sim',
      state: null,
      interactions: [],
      options: { prompt: 'hello', env: { SECRET: '•••', PATH: '•••' } },
      result: { exitReason: 'completed', sessionId: '11111111-2222-4333-8444-555555555555' },
    });
    expect(JSON.stringify(body)).not.toContain('hush');
    const listed = async (): Promise<string[]> =>
      ((await call('GET', '/v1/runs?plane=run&status=completed')).body.items as { run_id: string }[]).map(({ run_id }) => run_id);
    await expect.poll(listed).toContain(run);
    const calls = (await call('GET', '/v1/runs?plane=gateway')).body.items as { parent_run_id: string }[];
    expect(calls.map(({ parent_run_id }) => parent_run_id)).toContain(run);
    expect((await call('GET', '/v1/runs/run_00000000000070008000000000000000')).status).toBe(404);
    expect((await call('GET', '/v1/runs/nonsense')).status).toBe(400);
  });

  it('asks, is answered, and goes on', async () => {
    const run = await started('ask', { approvalMode: 'prompt' });
    const [asked] = (await events(run, { until: 'approval_request' })).slice(-1);
    const id = String(asked?.data.interactionId);
    expect((await call('GET', `/v1/runs/${run}`)).body).toMatchObject({ state: 'running', interactions: [{ id, type: 'approval' }] });
    expect((await call('POST', `/v1/runs/${run}/interactions/none`, { approve: true })).body).toMatchObject({
      error: { code: 'INTERACTION_NOT_FOUND' },
    });
    expect((await call('POST', `/v1/runs/${run}/interactions/${id}`, { approve: true })).status).toBe(202);
    const heard = await events(run);
    expect(heard.map(({ type }) => type)).toContain('approval_granted');
    expect(heard.at(-1)?.data).toMatchObject({ exitReason: 'completed', text: expect.stringContaining('permission: allow') });
  });

  it('is told more for later while it waits', async () => {
    const run = await started('ask', { approvalMode: 'prompt' });
    await events(run, { until: 'approval_request' });
    const queued = await call('POST', `/v1/runs/${run}/input`, { text: 'Say banana', when: 'next-turn' });
    expect(queued).toMatchObject({ status: 202, body: { run_id: run } });
    expect(await call('POST', `/v1/runs/${run}/input`, { text: 'x', when: 'never' })).toMatchObject({ status: 400 });
    await call('POST', `/v1/runs/${run}/interactions/req-1`, { approve: true });
    const last = (await events(run)).at(-1);
    expect(last?.data).toMatchObject({ exitReason: 'completed', text: expect.stringMatching(/permission: allow.*banana$/s) });
  });

  it('takes a profile of the server’s home, and holds what it adds against the key', async () => {
    const profiles = createProfiles({ homePath: server.gateway.home.path });
    profiles.set('elsewhere', { engine: 'claude' });
    const secret = String((await call('POST', '/v1/keys', { name: 'k', scopes: { planes: ['run'], engines: ['sim'] } })).body.secret);
    expect(await call('POST', '/v1/runs', { agent: 'claude', prompt: 'hi', profile: 'elsewhere' }, secret)).toMatchObject({
      status: 403,
      body: { error: { details: { scope: 'engine claude' } } },
    });
    expect(await call('POST', '/v1/runs', { agent: 'claude', prompt: 'hi', profile: 'nobody' })).toMatchObject({
      status: 404,
      body: { error: { code: 'PROFILE_NOT_FOUND' } },
    });
  });

  it('refuses an agent that would not listen to a caller who wants to talk', async () => {
    expect(await call('POST', '/v1/runs', { agent: 'openclaw', prompt: 'hi', nonInteractive: false })).toMatchObject({
      status: 409,
      body: { error: { code: 'STDIN_NOT_AVAILABLE', message: 'OpenClaw takes no messages while it runs.' } },
    });
  });

  it('stands still and goes on', async () => {
    const run = await started('wait');
    await events(run, { until: 'session_start' });
    expect((await call('POST', `/v1/runs/${run}/pause`)).status).toBe(202);
    expect((await call('GET', `/v1/runs/${run}`)).body).toMatchObject({ state: 'paused' });
    expect((await call('POST', `/v1/runs/${run}/pause`)).body).toMatchObject({ error: { code: 'INVALID_STATE_TRANSITION' } });
    expect((await call('POST', `/v1/runs/${run}/resume`)).status).toBe(202);
    expect((await call('GET', `/v1/runs/${run}`)).body).toMatchObject({ state: 'running' });
    await call('POST', `/v1/runs/${run}/cancel`);
    expect((await events(run)).map(({ type }) => type)).toEqual(expect.arrayContaining(['paused', 'resumed', 'aborted']));
  });

  it('is interrupted, held, and continued', async () => {
    const run = await started('ask', { approvalMode: 'prompt' });
    await events(run, { until: 'approval_request' });
    expect((await call('POST', `/v1/runs/${run}/continue`)).body).toMatchObject({ error: { code: 'INVALID_STATE_TRANSITION' } });
    expect((await call('POST', `/v1/runs/${run}/interrupt`, { hold: true })).status).toBe(202);
    expect((await call('GET', `/v1/runs/${run}`)).body).toMatchObject({ state: 'interrupted' });
    expect((await call('POST', `/v1/runs/${run}/continue`, { text: 'Say cherry' })).status).toBe(202);
    expect((await events(run)).at(-1)?.data).toMatchObject({ exitReason: 'completed', text: expect.stringContaining('cherry') });
  });

  it('is cancelled, and then takes no more', async () => {
    const run = await started('wait');
    await events(run, { until: 'session_start' });
    expect((await call('POST', `/v1/runs/${run}/cancel`)).status).toBe(202);
    expect((await events(run)).at(-1)?.data).toMatchObject({ exitReason: 'aborted' });
    expect((await call('POST', `/v1/runs/${run}/input`, { text: 'hi' })).body).toMatchObject({ error: { code: 'RUN_NOT_ACTIVE' } });
    expect((await call('GET', `/v1/runs/${run}`)).body).toMatchObject({ status: 'cancelled', reason: 'aborted' });
  });

  it('ends with the server', async () => {
    const other = await startGateway();
    const answer = await fetch(`${other.url}/v1/runs`, {
      method: 'POST',
      headers: { 'x-abp-key': other.token, 'content-type': 'application/json' },
      body: JSON.stringify({ agent: 'claude', prompt: 'wait', cwd: folder, engine: 'sim', env }),
    });
    expect(answer.status).toBe(201);
    await other.close();
  });
});

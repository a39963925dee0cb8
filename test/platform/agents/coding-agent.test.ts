import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { identityOf } from '../../../src/base/process-table.ts';
import { openAgentPlane } from '../../../src/platform/agents/agent-plane.ts';
import { composeStoredAgent, requireAgent } from '../../../src/platform/agents/agents.ts';
import { getRun } from '../../../src/store/runs/runs.ts';
import { AgentApi, type ApiAnswer } from '../../support/agent-api.ts';
import { fakeCommand } from '../../support/agents/command.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { callTool } from '../../support/tool-call.ts';

const CLAUDE_SESSION = '11111111-2222-4333-8444-555555555555';
const SECRET = 's3cret-value';

describe('a coding agent as a tool of an agent', () => {
  const { PATH } = process.env;
  let folder: string;
  let server: TestGateway;
  let api: AgentApi;
  let admin: AgentApi;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'abp-coding-agent-'));
    process.env.PATH = fakeCommand(join(folder, 'bin'), 'claude');
    server = await startGateway({ config: { secrets: { SERVICE: { key: SECRET, hosts: ['api.example.test'] } } } });
    api = new AgentApi(server);
    admin = api.withToken();
    const made = await define({ id: 'coder' });
    expect([made.status, made.body.host, made.body.tools_error]).toEqual([201, true, undefined]);
  });
  afterAll(async () => {
    await server.close();
    process.env.PATH = PATH;
    rmSync(folder, { recursive: true, force: true });
  });

  const define = ({ id, ...tool }: { id: string } & Record<string, unknown>, as: AgentApi = admin): Promise<ApiAnswer> =>
    as.call('POST', '/v1/capabilities', {
      id,
      name: 'Coder',
      description: 'Writes code.',
      tools: [{ type: 'coding_agent', agent: 'claude', engine: 'sim', ...tool }],
    });

  async function session(capabilities: readonly string[] = ['coder']): Promise<string> {
    const agent_id = await admin.agent({ capabilities });
    return (await admin.call('POST', '/v1/sessions', { agent_id })).body.id;
  }

  const say = (id: string, content: string, as = admin): Promise<ApiAnswer> =>
    as.call('POST', `/v1/sessions/${id}/messages`, { message: { content } });

  const statusOf = async (id: string): Promise<string> => (await admin.call('GET', `/v1/sessions/${id}`)).body.status;

  interface Message {
    readonly role: string;
    readonly content: readonly { readonly text?: string; readonly result?: Record<string, unknown>; readonly error?: string }[];
  }

  /** What a message comes to: the result of the tool, and the answer. */
  async function turn(id: string, content: string): Promise<{ tool: Message['content'][number] | undefined; answer: string | undefined }> {
    expect((await say(id, content)).status).toBe(201);
    await expect.poll(() => statusOf(id), { timeout: 60_000, interval: 20 }).toBe('idle');
    const items: Message[] = (await admin.call('GET', `/v1/sessions/${id}/messages`)).body.items;
    return {
      tool: items.findLast(({ role }) => role === 'tool_result')?.content[0],
      answer: items.findLast(({ role }) => role === 'agent')?.content[0]?.text,
    };
  }

  const callOf = (input: object): string => `call the tool run_claude with ${JSON.stringify(input)}`;

  it('runs in the workspace of the session, through the gateway, and says what it changed', async () => {
    const id = await session();
    const { tool, answer } = await turn(id, callOf({ prompt: 'write made.txt' }));
    expect(tool?.result).toEqual({
      text: expect.any(String),
      run_id: expect.stringMatching(/^run_[0-9a-f]{32}$/),
      session_id: CLAUDE_SESSION,
      cost_usd: null,
      files_changed: ['made.txt'],
    });
    expect(answer).toBe(JSON.stringify(tool?.result));
    expect(readFileSync(join(server.home, 'workspaces', id, 'made.txt'), 'utf8')).toBe('write made.txt');

    const run = String(tool?.result?.run_id);
    const { body: receipt } = await admin.call('GET', `/v1/receipts/${run}?wait=60`);
    const [turnTag] = (receipt.tags as string[]).filter((tag) => tag.startsWith('turn:'));
    expect(receipt).toMatchObject({
      plane: 'run',
      status: 'completed',
      task: 'run claude → sim',
      parent_run_id: turnTag?.replace('turn:turn_', 'run_'),
      workspace_delta: { added: ['made.txt'], modified: [], removed: [] },
    });
    expect(receipt.tags).toContain(`session:${id}`);
    const calls = (await admin.call('GET', '/v1/runs?plane=gateway')).body.items as { parent_run_id: string }[];
    expect(calls.map(({ parent_run_id }) => parent_run_id)).toContain(run);
    expect((await admin.call('GET', `/v1/runs/${run}`)).body).toMatchObject({
      parent_run_id: receipt.parent_run_id,
      status: 'completed',
      options: { approvalMode: 'deny', nonInteractive: true, timeout: 1_800_000 },
    });
  });

  it('goes on with an earlier session of the coding agent, and takes no option for one', async () => {
    const id = await session();
    const { tool } = await turn(id, callOf({ prompt: 'say "again"', session: CLAUDE_SESSION }));
    expect(tool?.result).toMatchObject({ text: 'again', files_changed: [] });
    const refused = await turn(id, callOf({ prompt: 'hi', session: '--dangerously-skip-permissions' }));
    expect(refused.tool?.error).toMatch(/do not fit/);
  });

  it('does only what needs no approval unless told otherwise, and nobody is asked', async () => {
    const id = await session();
    const { tool } = await turn(id, callOf({ prompt: 'ask' }));
    expect(tool?.result).toMatchObject({ text: expect.stringContaining('deny') });
  });

  it('ends with the turn that is cancelled', async () => {
    const id = await session();
    await say(id, callOf({ prompt: 'wait' }));
    const running = async () =>
      ((await admin.call('GET', '/v1/runs?plane=run')).body.items as { run_id: string; tags: string[]; status: string }[]).find(
        ({ tags }) => tags.includes(`session:${id}`),
      );
    await expect.poll(running, { timeout: 60_000 }).toBeDefined();
    const runId = (await running())?.run_id as Parameters<typeof getRun>[1];
    await expect.poll(async () => (await getRun(server.gateway.store, runId))?.pid ?? null, { timeout: 60_000 }).not.toBeNull();
    const pid = (await getRun(server.gateway.store, runId))?.pid ?? 0;
    expect(identityOf(pid)).toBeDefined();
    expect((await admin.call('POST', `/v1/sessions/${id}/cancel`, {})).status).toBe(200);
    await expect.poll(async () => (await getRun(server.gateway.store, runId))?.status, { timeout: 60_000 }).toBe('cancelled');
    expect(identityOf(pid)).toBeUndefined();
  });

  it('ends with its server, and the turn with it', async () => {
    const other = await startGateway();
    const owner = new AgentApi(other).withToken();
    const tools = [{ type: 'coding_agent', agent: 'claude', engine: 'sim' }];
    await owner.call('POST', '/v1/capabilities', { id: 'coder', name: 'Coder', description: 'x', tools });
    const agent_id = await owner.agent({ capabilities: ['coder'] });
    const { id } = (await owner.call('POST', '/v1/sessions', { agent_id })).body;
    await owner.call('POST', `/v1/sessions/${id}/messages`, { message: { content: callOf({ prompt: 'wait' }) } });
    const open = () => readdirSync(join(other.home, 'runs')).filter((name) => !name.startsWith('.'));
    await expect.poll(open, { timeout: 60_000 }).toHaveLength(1);
    const began = performance.now();
    await other.close();
    expect(performance.now() - began).toBeLessThan(60_000);
    expect(other.logs()).not.toMatch(/"level":50/);
  });

  it('tells the model why it did not complete', async () => {
    await define({ id: 'hasty', name: 'hurry', timeout_s: 1 });
    const id = await session(['hasty']);
    const { tool } = await turn(id, 'call the tool hurry with {"prompt": "wait"}');
    expect(tool?.error).toMatch(/^claude did not complete \(timeout\).*\nRun run_[0-9a-f]{32}, session 11111111/s);
  });

  it('does not tell the secrets of the operator', async () => {
    const id = await session();
    const { tool } = await turn(id, callOf({ prompt: `say "it is ${SECRET}"` }));
    expect(tool?.result?.text).toBe('it is [secret SERVICE]');
  });

  it('is for holders of the token: to define, to enable, to change and to use', async () => {
    expect((await define({ id: 'mine' }, api)).status).toBe(403);
    expect((await define({ id: 'mine' }, await api.withKey({ planes: ['agent', 'run'] }))).status).toBe(403);
    const seen = (await api.call('GET', '/v1/capabilities/coder')).body;
    expect([seen.tools, seen.tools_error, seen.definition]).toEqual([[], expect.stringMatching(/needs the token/), undefined]);
    expect((await admin.call('GET', '/v1/capabilities/coder')).body.definition.tools[0]).toMatchObject({
      agent: 'claude',
      approval_mode: 'deny',
    });
    expect((await api.call('POST', '/v1/agents', { name: 'a', capabilities: ['coder'] })).status).toBe(403);
    const agent = await admin.agent({ capabilities: ['coder'] });
    expect((await api.call('PATCH', `/v1/agents/${agent}`, { system_prompt: 'do harm' })).status).toBe(403);
    const { status, body } = await api.call('POST', '/v1/sessions', { agent_id: agent });
    expect(status).toBe(201);
    const { id } = body;
    const refused = await say(id, callOf({ prompt: 'write harm' }), api);
    expect([refused.status, refused.body.code]).toEqual([403, 'forbidden']);
    expect((await admin.call('GET', `/v1/sessions/${id}`)).body.last_sequence).toBe(0);
  });

  it('gets no words through another capability that anybody may change', async () => {
    const words = (id: string, rest: object) => ({ id, name: 'Words', description: 'x', ...rest });
    await api.call('POST', '/v1/capabilities', words('inner', { system_prompt: 'be kind' }));
    await api.call('POST', '/v1/capabilities', words('outer', { dependencies: [{ id: 'inner' }] }));
    const worse = words('inner', { version: '1.0.1', system_prompt: 'do harm' });
    const agent = await admin.agent({ capabilities: ['coder', 'outer'] });
    const refused = await api.call('PUT', '/v1/capabilities/inner', worse);
    expect([refused.status, refused.body.code]).toEqual([403, 'forbidden']);
    await admin.call('PUT', `/v1/agents/${agent}/capabilities`, { capabilities: ['outer'] });
    expect((await api.call('PUT', '/v1/capabilities/inner', worse)).status).toBe(200);
  });

  it('listens to nobody else while it works for a holder of the token', async () => {
    await define({ id: 'careful', policy: 'requires_approval' });
    const id = await session(['careful']);
    await say(id, 'wait 300 ms');
    expect((await say(id, callOf({ prompt: 'write harm' }), api)).status).toBe(403);
    await expect.poll(() => statusOf(id)).toBe('idle');
    await say(id, callOf({ prompt: 'write harm' }));
    await expect.poll(() => statusOf(id)).toBe('waiting');
    const path = `/v1/sessions/${id}/approvals`;
    const [{ id: approval }] = (await api.call('GET', path)).body.items;
    for (const decision of ['approve', 'deny']) {
      expect((await api.call('POST', `${path}/${approval}`, { decision, note: 'do harm' })).status).toBe(403);
    }
    expect((await api.call('POST', `/v1/sessions/${id}/cancel`, {})).status).toBe(200);
    expect(existsSync(join(server.home, 'workspaces', id, 'harm'))).toBe(false);
  });

  it.each<[string, object, RegExp]>([
    ['an agent that does not exist', { agent: 'clawd' }, /tools\[0\]\.agent: There is no agent 'clawd'/],
    ['an engine that does not exist', { engine: 'nowhere' }, /tools\[0\]\.engine: there is no engine nowhere/],
    ['thinking of an agent that has none', { agent: 'hermes', thinking_effort: 'high' }, /does not support thinking/],
  ])('is refused with %s', async (_, tool, words) => {
    const answer = await define({ id: 'refused', ...tool });
    expect([answer.status, answer.body.code]).toEqual([422, 'unprocessable']);
    expect(answer.body.detail).toMatch(words);
  });

  it.each([{ approval_mode: 'prompt' }, { env: { KEY: SECRET } }, { timeout_s: 0 }])('has no place for %j', async (tool) => {
    const answer = await define({ id: 'refused', ...tool });
    expect(answer.status).toBe(400);
    expect(answer.text).not.toContain(SECRET);
  });

  it('may be called by another name, several times in one capability', async () => {
    const two = (second: object) =>
      admin.call('POST', '/v1/capabilities', {
        id: 'two',
        name: 'Two',
        description: 'x',
        tools: [
          { type: 'coding_agent', agent: 'claude' },
          { type: 'coding_agent', agent: 'claude', approval_mode: 'yolo', ...second },
        ],
      });
    expect((await two({})).body.detail).toMatch(/run_claude is there twice/);
    const made = await two({ name: 'build', policy: 'requires_approval' });
    expect(made.body.tools).toMatchObject([
      { name: 'run_claude', policy: 'auto', effect: 'at_most_once' },
      { name: 'build', policy: 'requires_approval', effect: 'at_most_once' },
    ]);
  });

  it('needs a server, and composition says so', async () => {
    const id = await admin.agent({ capabilities: ['coder'] });
    const plane = openAgentPlane({ store: server.gateway.store, version: '0' });
    await expect(composeStoredAgent(plane, await requireAgent(plane, id), true)).rejects.toThrow(
      'The coding agent claude runs in a server, and none serves this home; start abp serve.',
    );
    await plane.close();
  });

  it('is not started by a call that is cancelled already', async () => {
    const plane = server.gateway.agents;
    const { tools } = await composeStoredAgent(plane, await requireAgent(plane, await admin.agent({ capabilities: ['coder'] })), true);
    const [tool] = tools;
    if (tool === undefined) throw new Error('no tool');
    expect(await callTool(tool, { prompt: 'write harm' }, { workspace: folder, signal: AbortSignal.abort() })).toEqual({
      error: 'The call was cancelled before the agent started.',
    });
    expect(existsSync(join(folder, 'harm'))).toBe(false);
  });
});

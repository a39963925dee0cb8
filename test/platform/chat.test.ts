import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { call, post } from '../support/http-call.ts';
import { callAbp, runAbp } from '../support/run-abp.ts';

describe('abp chat', () => {
  let server: TestGateway;
  let env: NodeJS.ProcessEnv;

  beforeAll(async () => {
    server = await startGateway();
    env = { ABP_HOME: server.home };
    const capability = {
      id: 'danger',
      name: 'Danger',
      description: 'A tool that must be approved.',
      tools: [
        {
          type: 'typescript',
          name: 'launch',
          description: 'Launches.',
          policy: 'requires_approval',
          source: 'export default () => "launched";',
        },
      ],
    };
    const admin = ['authorization', `Bearer ${server.token}`];
    expect((await post(`${server.url}/v1/capabilities`, capability, admin)).status).toBe(201);
    const agent = { name: 'helper', capabilities: ['test_math', 'danger'] };
    expect((await post(`${server.url}/v1/agents`, agent, admin)).status).toBe(201);
  });
  afterAll(() => server.close());

  test('says one message, shows calls beside the answer and leaves', async () => {
    const { code, out, err } = await runAbp(['chat', 'helper', '--message', 'call the tool add with {"a": 1, "b": 2}'], { env });
    expect(out).toBe('{"result":3,"operation":"add","a":1,"b":2}\n');
    expect(err).toMatch(/^→ add \{"a": 1, "b": 2\}\n← \{"result":3,"operation":"add","a":1,"b":2\} \d+ ms\n$/);
    expect(code).toBe(0);
  });

  test('says the lines of its input one after the other, in one session', async () => {
    const { code, out } = await runAbp(['chat', 'helper'], { env, stdin: 'say "one"\n\nsay "two"\n' });
    expect(out).toBe('one\ntwo\n');
    expect(code).toBe(0);
  });

  test('answers questions as it is told', async () => {
    const say = ['chat', 'helper', '--message', 'call the tool launch with {}'];
    expect((await callAbp([...say, '--approve', 'yes'], { env })).out).toBe('launched\n');
    // Nobody sits at the terminal who could be asked.
    expect((await callAbp(say, { env })).out).toBe('the tool launch failed: The call was not approved.\n');
    expect((await callAbp([...say, '--approve', 'perhaps'], { env })).code).toBe(2);
  });

  test('asks what waits for an answer when it goes on with a session', async () => {
    const admin = ['authorization', `Bearer ${server.token}`];
    const read = async (path: string) => JSON.parse((await call(`${server.url}${path}`, { headers: admin })).body.toString('utf8'));
    const [{ id: agentId }] = (await read('/v1/agents')).items;
    const { id } = JSON.parse((await post(`${server.url}/v1/sessions`, { agent_id: agentId }, admin)).body.toString('utf8'));
    await post(`${server.url}/v1/sessions/${id}/messages`, { message: { content: 'call the tool launch with {}' } }, admin);
    await expect.poll(async () => (await read(`/v1/sessions/${id}`)).status).toBe('waiting');
    const waits = async () =>
      (await read(`/v1/runs?view=row&plane=agent&status=running&tag=session:${id}`)).items.map((row: { waiting: boolean }) => row.waiting);
    await expect.poll(waits).toEqual([true]);
    const { code, out } = await callAbp(['chat', 'helper', '--session', id, '--message', 'say "and this"', '--approve', 'yes'], { env });
    expect([code, out]).toEqual([0, 'and this\n']);
    await expect.poll(waits).toEqual([]);
    const tools = (await read(`/v1/sessions/${id}/messages`)).items.filter(({ role }: { role: string }) => role === 'tool_result');
    expect(tools[0].content[0].result).toBe('launched');
  });

  test('writes events as JSON lines', async () => {
    const { out } = await callAbp(['chat', 'helper', '--message', 'say "hi"', '--json'], { env });
    const types = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).type);
    expect(types[0]).toBe('connected');
    expect(types).toContain('output.message.completed');
    expect(types.at(-1)).toBe('session.idled');
  });

  test('fails when the turn fails, and when there is no such agent', async () => {
    const failed = await callAbp(['chat', 'helper', '--message', 'fail with 400'], { env });
    expect(failed.code).toBe(1);
    expect((await callAbp(['chat', 'nobody', '--message', 'hi'], { env })).code).toBe(3);
  });
});

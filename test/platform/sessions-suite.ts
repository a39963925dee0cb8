import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { call, post, type WireAnswer } from '../support/http-call.ts';
import { SessionStream } from '../support/session-stream.ts';

type Body = Record<string, never>;

/** The API of sessions on whatever database the server has. */
export function sessionsSuite(database: string, databaseUrl: () => Promise<string | undefined>): void {
  describe(`sessions on ${database}`, () => {
    let server: TestGateway;
    let agentId: string;

    beforeAll(async () => {
      const url = await databaseUrl();
      server = await startGateway(url === undefined ? {} : { databaseUrl: url });
      agentId = await agent({ name: 'helper', capabilities: ['test_math', 'file_system'] });
    });
    afterAll(() => server.close());

    const at = (path: string): string => `${server.url}${path}`;
    const json = (answer: WireAnswer): Body => JSON.parse(answer.body.toString());
    const accept = ['accept', 'application/json'];

    async function agent(body: object): Promise<string> {
      const answer = await post(at('/v1/agents'), body);
      expect(answer.status).toBe(201);
      return String(json(answer).id);
    }

    async function session(body: object = {}): Promise<string> {
      const answer = await post(at('/v1/sessions'), { agent_id: agentId, ...body });
      expect(answer.status).toBe(201);
      return String(json(answer).id);
    }

    async function say(id: string, content: unknown): Promise<WireAnswer> {
      return await post(at(`/v1/sessions/${id}/messages`), { message: { content } });
    }

    async function turn(id: string, content: unknown): Promise<void> {
      expect((await say(id, content)).status).toBe(201);
      await rest(id);
    }

    async function rest(id: string, status = 'idle'): Promise<void> {
      await expect.poll(async () => json(await call(at(`/v1/sessions/${id}`))).status, { timeout: 60_000, interval: 10 }).toBe(status);
    }

    async function messages(id: string): Promise<unknown[]> {
      const { items } = json(await call(at(`/v1/sessions/${id}/messages`))) as unknown as { items: { role: string; content: Body[] }[] };
      return items.map(({ role, content }) => [role, content[0]?.text ?? content[0]?.name ?? content[0]?.result ?? content[0]?.error]);
    }

    async function events(id: string): Promise<Body[]> {
      return (json(await call(at(`/v1/sessions/${id}/events`), { headers: accept })) as unknown as { items: Body[] }).items;
    }

    async function problem(answer: WireAnswer | Promise<WireAnswer>): Promise<unknown> {
      const { status, headers, body } = await answer;
      expect(headers['content-type']).toBe('application/problem+json; charset=utf-8');
      const { code, detail } = JSON.parse(body.toString());
      return { status, code, detail };
    }

    test('are made, read, changed, listed and deleted', async () => {
      const made = await post(at('/v1/sessions'), { agent_id: agentId, title: 'First', tags: ['blue'] });
      expect(made.status).toBe(201);
      const id = String(json(made).id);
      expect(json(made)).toMatchObject({
        id: expect.stringMatching(/^session_[0-9a-f]{32}$/),
        agent_id: agentId,
        title: 'First',
        status: 'idle',
        turn_id: null,
        last_sequence: 0,
        usage: { input_tokens: 0, output_tokens: 0, cost_nano_usd: 0 },
      });
      const patched = await call(at(`/v1/sessions/${id}`), {
        method: 'PATCH',
        headers: ['content-type', 'application/json'],
        body: '{"title":"Second"}',
      });
      expect(json(patched)).toMatchObject({ title: 'Second', tags: ['blue'] });
      const listed = json(await call(at(`/v1/sessions?agent_id=${agentId}&tag=blue`))) as unknown as { items: Body[] };
      expect(listed.items.map((item) => item.id)).toEqual([id]);
      expect((await call(at(`/v1/sessions/${id}`), { method: 'DELETE' })).status).toBe(204);
      expect(await problem(call(at(`/v1/sessions/${id}`)))).toEqual({
        status: 404,
        code: 'not_found',
        detail: `There is no session ${id}.`,
      });
    });

    test('take another model and other limits for the turns to come', async () => {
      const id = String(json(await post(at('/v1/sessions'), { agent_id: agentId, max_iterations: 1, max_cost_usd: 2 })).id);
      const patch = (body: object): ReturnType<typeof call> =>
        call(at(`/v1/sessions/${id}`), { method: 'PATCH', headers: ['content-type', 'application/json'], body: JSON.stringify(body) });
      await turn(id, 'call the tool add with {"a":1,"b":2}');
      expect((await events(id)).at(-2)).toMatchObject({ type: 'turn.failed', data: { error_code: 'max_iterations' } });
      const changed = json(await patch({ max_iterations: null, model: 'sim/other' }));
      expect(changed).toMatchObject({ max_iterations: null, max_cost_usd: 2, model: 'sim/other' });
      await turn(id, 'call the tool add with {"a":1,"b":2}');
      expect((await events(id)).at(-2)).toMatchObject({ type: 'turn.completed', data: { iterations: 2, finish_reason: 'stop' } });
      expect(await problem(patch({ model: 'nothing' }))).toMatchObject({ status: 422 });
      expect(json(await call(at(`/v1/sessions/${id}`))).model).toBe('sim/other');
    });

    test.each(['sim:claude', 'sim:gemini', 'sim:openai-chat', 'sim:openai-responses', 'sim:kimi', 'sim:copilot'])(
      'a call that a model wrote badly, or was cut off in, does not end the session on %s',
      async (engine) => {
        const id = await session({ model: `${engine}/m` });
        await turn(id, 'call the tool add with broken arguments');
        const before = (await messages(id)).length;
        await turn(id, 'be cut in a tool call');
        // The question, the call where the dialect can hold half of one, its error and the answer to that.
        expect((await messages(id)).length - before).toBeLessThanOrEqual(4);
        await turn(id, 'say hello');
        expect((await messages(id)).at(-1)).toEqual(['agent', 'hello']);
      },
    );

    test('answer several turns and remember what was said', async () => {
      const id = await session();
      await turn(id, 'say "one"');
      await turn(id, [{ type: 'text', text: 'call the tool add with {"a": 1, "b": 2}' }]);
      expect(await messages(id)).toEqual([
        ['user', 'say "one"'],
        ['agent', 'one'],
        ['user', 'call the tool add with {"a": 1, "b": 2}'],
        ['agent', 'add'],
        ['tool_result', { result: 3, operation: 'add', a: 1, b: 2 }],
        ['agent', '{"result":3,"operation":"add","a":1,"b":2}'],
      ]);
      const { usage } = json(await call(at(`/v1/sessions/${id}`))) as unknown as { usage: { input_tokens: number } };
      expect(usage.input_tokens).toBeGreaterThan(0);
    });

    test('page their messages', async () => {
      const id = await session();
      await turn(id, 'say "one"');
      const first = json(await call(at(`/v1/sessions/${id}/messages?limit=1`))) as unknown as { items: Body[]; next_cursor: string };
      expect(first.items.map(({ role }) => role)).toEqual(['user']);
      const second = json(await call(at(`/v1/sessions/${id}/messages?limit=2&cursor=${first.next_cursor}`)));
      expect(second).toMatchObject({ items: [{ role: 'agent' }] });
      expect(second).not.toHaveProperty('next_cursor');
    });

    test('stream their events with deltas, and go on after the last one seen', async () => {
      const id = await session();
      const whole = await SessionStream.open(at(`/v1/sessions/${id}/events`));
      await whole.until('connected');
      await say(id, 'say "hello"');
      await whole.until('session.idled');
      whole.close();
      expect(whole.events()).toEqual([
        ...['connected', 'input.message', 'session.activated', 'turn.started', 'reason.started', 'output.message.started'],
        ...['output.message.delta', 'llm.generation', 'output.message.completed', 'reason.completed', 'turn.completed', 'session.idled'],
      ]);
      expect(whole.frames.find(({ event }) => event === 'output.message.delta')).toMatchObject({
        id: undefined,
        data: { data: { attempt: 1, offset: 0, delta: 'hello' } },
      });
      const seen = whole.frames.find(({ event }) => event === 'output.message.completed');
      for (const headers of [[], ['last-event-id', String(seen?.id)]]) {
        const since = headers.length === 0 ? `?since_id=${seen?.id}` : '';
        const later = await SessionStream.open(at(`/v1/sessions/${id}/events${since}`), headers);
        await later.until('session.idled');
        later.close();
        expect(later.events()).toEqual(['connected', 'reason.completed', 'turn.completed', 'session.idled']);
      }
      const list = json(await call(at(`/v1/sessions/${id}/events?limit=2`), { headers: accept })) as unknown as { items: Body[] };
      expect(list.items.map(({ type, sequence }) => [type, sequence])).toEqual([
        ['input.message', 1],
        ['session.activated', 2],
      ]);
      expect(await problem(call(at(`/v1/sessions/${id}/events?since_id=event_1_1`)))).toMatchObject({
        status: 400,
        code: 'invalid_request',
      });
    });

    test('are cancelled, and only while a turn is under way', async () => {
      const id = await session();
      const cancel = (): Promise<WireAnswer> => post(at(`/v1/sessions/${id}/cancel`), {});
      expect(await problem(cancel())).toMatchObject({ status: 409, code: 'conflict' });
      await say(id, 'wait 60000 ms');
      expect(json(await cancel())).toMatchObject({ session_id: id, status: 'cancelled' });
      await rest(id);
      await turn(id, 'say "again"');
      expect((await messages(id)).at(-1)).toEqual(['agent', 'again']);
    });

    test('are forked with their history and their files', async () => {
      const id = await session();
      await turn(id, 'call the tool write_file with {"path": "a.txt", "content": "kept"}');
      const fork = await post(at(`/v1/sessions/${id}/fork`), { title: 'Branch' });
      expect(fork.status).toBe(201);
      expect(json(fork)).toMatchObject({ title: 'Branch', forked_from_session_id: id, status: 'idle' });
      const branch = String(json(fork).id);
      expect((await messages(branch)).length).toBe((await messages(id)).length);
      await turn(branch, 'call the tool read_file with {"path": "a.txt"}');
      expect(JSON.stringify(await messages(branch))).toContain('kept');
      expect((await messages(id)).length).toBeLessThan((await messages(branch)).length);
    });

    test('lose their workspace with themselves', async () => {
      const id = await session();
      await turn(id, 'call the tool write_file with {"path": "a.txt", "content": "x"}');
      const folder = join(server.home, 'workspaces', id);
      expect(existsSync(folder)).toBe(true);
      await call(at(`/v1/sessions/${id}`), { method: 'DELETE' });
      expect(existsSync(folder)).toBe(false);
    });

    test('wait for an approval, and make the approved call themselves', async () => {
      const capability = {
        id: `danger_${database.toLowerCase()}`,
        name: 'Danger',
        description: 'A tool that must be approved.',
        tools: [
          {
            type: 'typescript',
            name: 'launch',
            description: 'Launches.',
            parameters: { type: 'object', properties: { target: { type: 'string' } } },
            policy: 'requires_approval',
            source: 'export default (input: { target: string }) => ({ launched: input.target });',
          },
        ],
      };
      expect((await post(at('/v1/capabilities'), capability)).status).toBe(201);
      const dangerous = await agent({ name: 'dangerous', capabilities: [capability.id] });
      const id = await session({ agent_id: dangerous });
      await say(id, 'call the tool launch with {"target": "moon"}');
      await rest(id, 'waiting');
      const { items } = json(await call(at(`/v1/sessions/${id}/approvals`))) as unknown as { items: Body[] };
      expect(items).toMatchObject([
        { status: 'pending', reason: 'policy', tool_call: { name: 'launch', arguments: '{"target": "moon"}' } },
      ]);
      const answer = (decision: string): Promise<WireAnswer> => post(at(`/v1/sessions/${id}/approvals/${items[0]?.id}`), { decision });
      expect(json(await answer('approve'))).toMatchObject({ status: 'approved' });
      await rest(id);
      expect(await messages(id)).toContainEqual(['tool_result', { launched: 'moon' }]);
      expect(await problem(answer('deny'))).toMatchObject({ status: 404, code: 'not_found' });
    });

    test('stop at the limits of the session', async () => {
      const id = await session({ max_iterations: 1 });
      await turn(id, 'call the tool add with {"a": 1, "b": 2}');
      const { items } = json(await call(at(`/v1/sessions/${id}/events?limit=1000`), { headers: accept })) as unknown as { items: Body[] };
      expect(items.at(-2)).toMatchObject({ type: 'turn.failed', data: { error_code: 'max_iterations' } });
    });

    test('refuse what is not well formed with a problem', async () => {
      const id = await session();
      expect(await problem(say(id, ''))).toMatchObject({ status: 400, code: 'invalid_request' });
      expect(await problem(say(id, [{ type: 'video', url: 'http://a' }]))).toMatchObject({ status: 400, code: 'invalid_request' });
      expect(await problem(say('session_none', 'hi'))).toEqual({
        status: 404,
        code: 'not_found',
        detail: 'There is no session session_none.',
      });
      expect(await problem(post(at('/v1/sessions'), { agent_id: 'agent_none' }))).toMatchObject({ status: 404, code: 'not_found' });
      expect(await problem(post(at('/v1/sessions'), { agent_id: agentId, model: 'nowhere' }))).toMatchObject({
        status: 422,
        code: 'unprocessable',
      });
    });

    test('take no messages once their agent is archived', async () => {
      const other = await agent({ name: 'old' });
      const id = await session({ agent_id: other });
      await call(at(`/v1/agents/${other}`), { method: 'DELETE' });
      expect(await problem(say(id, 'hi'))).toMatchObject({ status: 409, code: 'conflict' });
    });

    test('are invisible to other keys', async () => {
      const admin = ['authorization', `Bearer ${server.token}`];
      const key = async (): Promise<string[]> => {
        const answer = await post(at('/v1/keys'), { name: 'k', scopes: { planes: ['agent'] } }, admin);
        return ['x-abp-key', String(json(answer).secret)];
      };
      const [one, two] = [await key(), await key()];
      const own = json(await post(at('/v1/agents'), { name: 'mine' }, one)).id;
      const id = json(await post(at('/v1/sessions'), { agent_id: own }, one)).id;
      expect((await post(at(`/v1/sessions/${id}/messages`), { message: { content: 'say "a"' } }, one)).status).toBe(201);
      for (const headers of [two, []]) {
        expect((await call(at(`/v1/sessions/${id}`), { headers })).status).toBe(404);
        expect((await post(at(`/v1/sessions/${id}/messages`), { message: { content: 'b' } }, headers)).status).toBe(404);
        const listed = json(await call(at('/v1/sessions'), { headers })) as unknown as { items: Body[] };
        expect(listed.items.map((item) => item.id)).not.toContain(id);
      }
      expect((await call(at(`/v1/sessions/${id}`), { headers: admin })).status).toBe(200);
    });

    test('call no engine that the key of their caller may not use', async () => {
      const admin = ['authorization', `Bearer ${server.token}`];
      const scopes = { planes: ['agent'], engines: ['claude'] };
      const key = ['x-abp-key', String(json(await post(at('/v1/keys'), { name: 'k', scopes }, admin)).secret)];
      const own = json(await post(at('/v1/agents'), { name: 'mine' }, key)).id;
      const id = json(await post(at('/v1/sessions'), { agent_id: own }, key)).id;
      await post(at(`/v1/sessions/${id}/messages`), { message: { content: 'hi' } }, key);
      const last = async (): Promise<unknown> =>
        (json(await call(at(`/v1/sessions/${id}/events`), { headers: [...key, ...accept] })) as unknown as { items: Body[] }).items.at(-2);
      await expect
        .poll(last)
        .toMatchObject({ type: 'turn.failed', data: { error_code: 'forbidden', error: 'The key may not do this; it lacks engine sim.' } });
    });

    test('leave a receipt for every turn and for every model call in it', async () => {
      const id = await session();
      const sent = await say(id, 'call the tool add with {"a":1,"b":2}');
      const { run_id: run } = json(sent);
      expect(sent.headers['x-abp-run-id']).toBe(run);
      const receipt = json(await call(at(`/v1/receipts/${run}?wait=60`)));
      expect(receipt).toMatchObject({
        ...{ run_id: run, plane: 'agent', status: 'completed', parent_run_id: null, mode: null, task: 'turn of helper → sim' },
        backend: { id: `agent:${agentId}` },
        tool_calls: [{ name: 'add', result_sha256: expect.stringMatching(/^[0-9a-f]{64}$/) }],
      });
      const tagged = async (): Promise<Body[]> =>
        (json(await call(at(`/v1/receipts?plane=agent&tag=session:${id}`))) as unknown as { items: Body[] }).items;
      await expect
        .poll(async () => (await tagged()).map(({ status, parent_run_id: parent }) => [status, parent]), { timeout: 10_000 })
        .toEqual([
          ['completed', run],
          ['completed', run],
          ['completed', null],
        ]);
      const used = (await tagged()).map(({ usage }) => (usage as unknown as { input_tokens: number }).input_tokens);
      expect(used[2]).toBe((used[0] ?? 0) + (used[1] ?? 0));
      const { items } = json(await call(at(`/v1/runs?plane=agent&tag=session:${id}`))) as unknown as { items: Body[] };
      expect(items.map(({ backend }) => backend)).toEqual(['engine:sim', 'engine:sim', `agent:${agentId}`]);
    });

    test('label every receipt of a turn with the tags of the key', async () => {
      const admin = ['x-abp-key', server.token];
      const made = await post(at('/v1/keys'), { name: 'team', scopes: { planes: ['agent'] }, tags: ['team:blue'] }, admin);
      const key = ['x-abp-key', String(json(made).secret)];
      const own = json(await post(at('/v1/agents'), { name: 'mine' }, key)).id;
      const id = json(await post(at('/v1/sessions'), { agent_id: own }, key)).id;
      await post(at(`/v1/sessions/${id}/messages`), { message: { content: 'hi' } }, key);
      const tasks = async (): Promise<unknown> =>
        (json(await call(at('/v1/receipts?tag=team:blue'), { headers: key })) as unknown as { items: Body[] }).items.map(
          ({ task }) => task,
        );
      await expect.poll(tasks, { timeout: 60_000 }).toEqual(['mine → sim', 'turn of mine → sim']);
    });

    test('say that a turn runs before its receipt is written', async () => {
      const id = await session();
      const { run_id: run } = json(await say(id, 'wait 60000 ms'));
      expect(json(await call(at(`/v1/receipts/${run}`)))).toMatchObject({ run_id: run, status: 'running' });
      expect((await post(at(`/v1/sessions/${id}/cancel`), {})).status).toBe(200);
      expect(json(await call(at(`/v1/receipts/${run}?wait=60`)))).toMatchObject({ run_id: run, status: 'cancelled', reason: null });
    });
  });
}

import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { branchSession } from '../../src/platform/sessions/sessions.ts';
import { answerApproval, cancelTurn, openApprovals } from '../../src/platform/turns/turns.ts';
import type { StoredSession } from '../../src/store/agent-plane/sessions.ts';
import { claimTurn, getTurn } from '../../src/store/agent-plane/turns.ts';
import { TestPlatform, type TestPlatformOptions, testTool } from '../support/platform.ts';

/** Turns on whatever database there is. */
export function turnsSuite(database: string, databaseUrl: () => Promise<string | undefined>): void {
  describe(`turns on ${database}`, () => {
    let url: string | undefined;
    const opened: TestPlatform[] = [];
    beforeEach(async () => {
      url = await databaseUrl();
    });
    afterEach(async () => {
      for (const one of opened.splice(0)) await one.close();
    });

    async function open(options: TestPlatformOptions = {}): Promise<TestPlatform> {
      const one = await TestPlatform.open({ databaseUrl: url, ...options });
      opened.push(one);
      return one;
    }

    async function answer(one: TestPlatform, session: StoredSession, approved: boolean): Promise<void> {
      const waiting = await one.until(session, ['waiting']);
      const [approval] = await openApprovals(one.service.parts, waiting);
      await answerApproval(one.service.parts, one.service.worker, waiting, { approvalId: String(approval?.id), approved });
    }

    test('number their events from one without a gap and end in turn.completed', async () => {
      const one = await open();
      const session = await one.session();
      await one.send(session, 'say "hi"');
      await one.until(session);
      expect(await one.types(session)).toEqual([
        ...['input.message', 'session.activated', 'turn.started', 'reason.started', 'output.message.started'],
        ...['llm.generation', 'output.message.completed', 'reason.completed', 'turn.completed', 'session.idled'],
      ]);
      expect((await one.events(session)).map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
      expect(await one.said(session)).toEqual([
        ['user', 'say "hi"'],
        ['agent', 'hi'],
      ]);
    });

    test('of one caller leave a place for those of another', async () => {
      const held = Promise.withResolvers<void>();
      let holding = 0;
      const hold = async (): Promise<{ output: string }> => {
        holding += 1;
        await held.promise;
        return { output: 'held' };
      };
      const one = await open({ slots: 8, tools: [testTool('hold', { execute: hold })] });
      const greedy: StoredSession[] = [];
      for (let count = 0; count < 10; count += 1) greedy.push(await one.session());
      for (const session of greedy) await one.send(session, 'call the tool hold with {}');
      await expect.poll(() => holding, { timeout: 10_000 }).toBe(6);
      const other = await one.session({ keyId: 'key_other' });
      await one.send(other, 'say "mine"');
      await one.until(other);
      expect(holding).toBe(6);
      held.resolve();
      for (const session of greedy) await one.until(session);
      expect(holding).toBe(10);
    });

    test('run the calls of one answer at the same time', async () => {
      let running = 0;
      const both = Promise.withResolvers<void>();
      const meeting = async (): Promise<{ output: number }> => {
        running += 1;
        if (running === 2) both.resolve();
        await both.promise;
        return { output: running };
      };
      const one = await open({ tools: [testTool('first', { execute: meeting }), testTool('second', { execute: meeting })] });
      const session = await one.session();
      await one.send(session, 'call the tool first with {} and call the tool second with {}');
      await one.until(session);
      expect((await one.events(session)).filter(({ type }) => type === 'tool.started').length).toBe(2);
      expect(running).toBe(2);
      expect((await one.types(session)).at(-1)).toBe('session.idled');
    });

    test('take a message that comes meanwhile into their next step', async () => {
      const release = Promise.withResolvers<void>();
      const slow = testTool('slow', { execute: async () => release.promise.then(() => ({ output: 'done' })) });
      const one = await open({ tools: [slow] });
      const session = await one.session();
      await one.send(session, 'call the tool slow with {}');
      await expect.poll(() => one.types(session)).toContain('tool.started');
      await one.send(session, 'say "second"');
      release.resolve();
      await one.until(session);
      const types = await one.types(session);
      expect(types.filter((type) => type === 'turn.started')).toEqual(['turn.started']);
      expect(types.filter((type) => type === 'turn.completed')).toEqual(['turn.completed']);
      expect((await one.said(session)).at(-1)).toEqual(['agent', 'second']);
    });

    test('answer a message that comes while the model is writing', async () => {
      const one = await open();
      const session = await one.session();
      await one.send(session, 'wait 300 ms and say "first"');
      await new Promise((resolve) => setTimeout(resolve, 50));
      await one.send(session, 'say "second"');
      await one.until(session);
      const said = await one.said(session);
      expect(said.at(-1)).toEqual(['agent', 'second']);
      expect((await one.types(session)).filter((type) => type === 'turn.completed').length).toBe(1);
      // For the model it comes after the answer that was given without it, whether remembered or read again.
      const { transcripts } = one.service.parts;
      const { sequence } = await one.current(session);
      for (let time = 0; time < 2; time += 1) {
        const { messages } = await transcripts.take(session.id, sequence);
        expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant']);
      }
    });

    test('are given up when their agent cannot be had, again and again', async () => {
      let asked = 0;
      const one = await open({
        sweepMs: 20,
        agents: async () => {
          asked += 1;
          throw new Error('something is damaged');
        },
      });
      const session = await one.session();
      await one.send(session, 'hi');
      await one.until(session);
      expect(asked).toBeGreaterThan(2);
      expect((await one.events(session)).at(-2)).toMatchObject({ type: 'turn.failed', data: { error_code: 'no_progress' } });
    });

    test('make an approved call as it stood in the question', async () => {
      const calls: unknown[][] = [];
      const pay = testTool('pay', {
        policy: 'requires_approval',
        effect: 'at_most_once',
        execute: async (input, { callId }) => {
          calls.push([callId, input]);
          return { output: 'paid' };
        },
      });
      const one = await open({ tools: [pay] });
      const session = await one.session();
      await one.send(session, 'call the tool pay with {"amount": 3}');
      await one.until(session, ['waiting']);
      expect(calls).toEqual([]);
      await answer(one, session, true);
      await one.until(session);
      const asked = (await one.events(session)).find(({ type }) => type === 'approval.requested');
      expect(calls).toEqual([[expect.stringMatching(/^call_/), { amount: 3 }]]);
      expect(asked?.data.tool_call).toMatchObject({ id: calls[0]?.[0], arguments: '{"amount": 3}' });
      expect(await one.said(session)).toContainEqual(['tool_result', 'paid']);
    });

    test('tell the model that a call was denied', async () => {
      const one = await open({ tools: [testTool('pay', { policy: 'requires_approval' })] });
      const session = await one.session();
      await one.send(session, 'call the tool pay with {}');
      await answer(one, session, false);
      await one.until(session);
      expect(await one.said(session)).toContainEqual(['tool_result', 'The call was not approved.']);
    });

    test('refuse a second answer to the same question', async () => {
      const one = await open({ tools: [testTool('pay', { policy: 'requires_approval' })] });
      const session = await one.session();
      await one.send(session, 'call the tool pay with {}');
      const waiting = await one.until(session, ['waiting']);
      const [approval] = await openApprovals(one.service.parts, waiting);
      const { parts, worker } = one.service;
      const twice = [true, false].map((approved) => answerApproval(parts, worker, waiting, { approvalId: String(approval?.id), approved }));
      const outcomes = await Promise.allSettled(twice);
      expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
      await one.until(session);
    });

    test('are cancelled at once, with a result for every open call', async () => {
      const seen = Promise.withResolvers<AbortSignal>();
      const hang = testTool('hang', {
        execute: async (_input, { signal }) => {
          seen.resolve(signal);
          return await new Promise(() => undefined);
        },
      });
      const one = await open({ tools: [hang] });
      const session = await one.session();
      await one.send(session, 'call the tool hang with {}');
      const signal = await seen.promise;
      await cancelTurn(one.service.parts, one.service.worker, await one.current(session), 'enough');
      expect((await one.current(session)).status).toBe('idle');
      expect((await one.types(session)).slice(-3)).toEqual(['tool.completed', 'turn.cancelled', 'session.idled']);
      await expect.poll(() => signal.aborted).toBe(true);
      await one.send(session, 'say "again"');
      await one.until(session);
      expect((await one.said(session)).at(-1)).toEqual(['agent', 'again']);
    });

    test('end a call that takes too long, and go on', async () => {
      const one = await open({ tools: [testTool('hang', { timeoutMs: 30, execute: () => new Promise(() => undefined) })] });
      const session = await one.session();
      await one.send(session, 'call the tool hang with {}');
      await one.until(session);
      const ended = (await one.events(session)).find(({ type }) => type === 'tool.completed');
      expect(ended?.data).toMatchObject({ status: 'timeout', error: 'The call took longer than 30 ms.' });
      expect((await one.types(session)).at(-2)).toBe('turn.completed');
    });

    test('fail with the error of the engine when it stays away', async () => {
      const one = await open();
      const session = await one.session();
      await one.send(session, 'fail with 500');
      await one.until(session);
      const events = await one.events(session);
      expect(events.filter(({ type }) => type === 'reason.retrying').length).toBe(2);
      expect(events.at(-2)).toMatchObject({ type: 'turn.failed', data: { error_code: 'engine_failed' } });
    });

    test('stop writing when somebody else has claimed them', async () => {
      const one = await open();
      const session = await one.session();
      await one.send(session, 'wait 200 ms and say "mine"');
      const { turnId } = await one.current(session);
      const turn = await getTurn(one.store, String(turnId));
      await claimTurn(one.store, { turnId: String(turnId), epoch: turn?.epoch, owner: 'worker_other', at: Date.now() });
      await new Promise((resolve) => setTimeout(resolve, 400));
      expect(await one.types(session)).not.toContain('output.message.completed');
      expect((await one.current(session)).status).toBe('active');
    });

    test('that an earlier process left are taken up where they stand, without repeating a finished call', async () => {
      const calls: string[] = [];
      const count = testTool('count', {
        execute: async (_input, { callId }) => {
          calls.push(callId);
          return { output: 'counted' };
        },
      });
      const first = await open({ tools: [count], graceMs: 0, ...(url === undefined ? {} : { slots: 1 }) });
      const session = await first.session();
      await first.send(session, 'call the tool count with {} and then wait 500 ms');
      await expect.poll(() => first.types(session)).toContain('tool.completed');
      await first.service.close();
      const second = await open({ tools: [count], home: first.home });
      await second.until(session);
      expect(calls.length).toBe(1);
      const events = await second.events(session);
      expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, at) => at + 1));
      expect(events.at(-2)?.type).toBe('turn.completed');
    });

    test('ask about a begun call of a tool that is not idempotent', async () => {
      const begun = Promise.withResolvers<void>();
      let effects = 0;
      const once = testTool('once', {
        effect: 'at_most_once',
        execute: async () => {
          effects += 1;
          begun.resolve();
          return await new Promise(() => undefined);
        },
      });
      const first = await open({ tools: [once], graceMs: 0 });
      const session = await first.session();
      await first.send(session, 'call the tool once with {}');
      await begun.promise;
      await first.service.close();
      const second = await open({ tools: [once], home: first.home });
      const waiting = await second.until(session, ['waiting']);
      expect(effects).toBe(1);
      expect(await openApprovals(second.service.parts, waiting)).toMatchObject([{ reason: 'interrupted', status: 'pending' }]);
      await answer(second, session, false);
      await second.until(session);
      expect(effects).toBe(1);
    });

    test('are forked where the session was last at rest', async () => {
      const one = await open();
      const session = await one.session();
      await one.send(session, 'say "one"');
      await one.until(session);
      await one.send(session, 'say "two"');
      const whole = await one.until(session);
      const fork = await branchSession(one.service.parts, whole, { upTo: 15, keyId: null });
      expect(fork).toMatchObject({ forkedFrom: session.id, forkedSequence: 10, sequence: 10, status: 'idle' });
      await one.send(fork, 'say "three"');
      await one.until(fork);
      expect(await one.said(fork)).toEqual([
        ['user', 'say "one"'],
        ['agent', 'one'],
        ['user', 'say "three"'],
        ['agent', 'three'],
      ]);
      expect((await one.said(session)).length).toBe(4);
    });

    test('of many sessions go on side by side, more of them than there is room for', async () => {
      const one = await open({ slots: 3 });
      const sessions = await Promise.all(Array.from({ length: 12 }, () => one.session()));
      await Promise.all(sessions.map((session) => one.send(session, 'say "hi"')));
      for (const session of sessions) {
        await one.until(session);
        expect(await one.said(session)).toContainEqual(['agent', 'hi']);
      }
    });

    test('open a receipt of their own, and one for every model call with the turn as its parent', async () => {
      const one = await open();
      const session = await one.session();
      await one.send(session, 'say "hi"');
      await one.until(session);
      await one.closed();
      const { turnId } = (await one.events(session))[0] ?? {};
      const run = String(turnId).replace('turn_', 'run_');
      const tags = [`agent:${session.agentId}`, `session:${session.id}`, `turn:${turnId}`];
      expect(one.facts.map(({ fact }) => fact)).toEqual(['open', 'open', 'close', 'close']);
      expect(one.facts[0]).toMatchObject({ run, plane: 'agent', engine: 'sim', backend: `agent:${session.agentId}`, parent: null, tags });
      expect(one.facts[1]).toMatchObject({ plane: 'agent', engine: 'sim', backend: 'engine:sim', parent: run, tags });
      expect(one.facts[2]).toMatchObject({ run: one.facts[1]?.run, status: 'completed' });
      expect(one.facts[3]).toMatchObject({ run, status: 'completed', reason: null, error: null, eventCount: 10, toolCalls: [] });
    });

    test('sum up in their receipt what their model calls used and which tools they called', async () => {
      const one = await open({ tools: [testTool('echo', { execute: async () => ({ output: { b: 1, a: 'x' } }) })] });
      const session = await one.session();
      await one.send(session, 'call the tool echo with {"n":1}');
      await one.until(session);
      await one.closed();
      const used = one.facts.flatMap((fact) => (fact.fact === 'close' && fact.run !== one.facts[0]?.run ? [fact.usage] : []));
      const [call] = (await one.events(session)).filter(({ type }) => type === 'tool.started').map(({ data }) => data.tool_call);
      expect(used.length).toBe(2);
      expect(one.facts.at(-1)).toMatchObject({
        fact: 'close',
        run: one.facts[0]?.run,
        status: 'completed',
        eventCount: (await one.events(session)).length,
        usage: {
          input_tokens: used.reduce((sum, usage) => sum + (usage?.input_tokens ?? 0), 0),
          output_tokens: used.reduce((sum, usage) => sum + (usage?.output_tokens ?? 0), 0),
        },
        cost: null,
        toolCalls: [
          {
            id: (call as { id: string }).id,
            name: 'echo',
            // Of {"n":1} and of {"b":1,"a":"x"}, as the model wrote the one and read the other.
            arguments_sha256: '2bfd14f43d17fc7cea24e0917a8879b4b2f880b8baeec1b9d90fbaad655e71bd',
            result_sha256: '7239560c8c8c6a78e1ff0b99426cca61beee0b524406431517c23f180e34b48d',
          },
        ],
      });
    });

    test('that are cancelled or fail say so in their receipt, once', async () => {
      const one = await open();
      const session = await one.session();
      await one.send(session, 'wait 60000 ms');
      const active = await one.until(session, ['active']);
      await cancelTurn(one.service.parts, one.service.worker, active, 'Enough.');
      await one.send(session, 'fail with 400');
      await one.until(session);
      await one.closed();
      const ends = one.facts.flatMap((fact) =>
        fact.fact === 'close' && fact.lastByteMs !== null && fact.attempts.length === 0 ? [fact] : [],
      );
      expect(ends.map(({ status, reason, eventCount }) => [status, reason, eventCount])).toEqual([
        ['cancelled', null, 7],
        ['failed', 'engine_failed', 8],
      ]);
      expect(ends[1]?.error?.code).toBe('engine_failed');
    });

    test('that wait for an approval keep their receipt open', async () => {
      const one = await open({ tools: [testTool('careful', { policy: 'requires_approval' })] });
      const session = await one.session();
      await one.send(session, 'call the tool careful with {}');
      await one.until(session, ['waiting']);
      const run = one.facts[0]?.run;
      expect(one.facts.filter((fact) => fact.run === run).map(({ fact }) => fact)).toEqual(['open']);
      await answer(one, session, true);
      await one.until(session);
      await one.closed();
      expect(one.facts.filter((fact) => fact.run === run).map(({ fact }) => fact)).toEqual(['open', 'open', 'close']);
      const ofRun = one.facts.filter((fact) => fact.run === run);
      expect(ofRun[1]).toEqual(ofRun[0]);
    });
  });
}

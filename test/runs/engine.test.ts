import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isRunning, processStart } from '../../src/base/process-table.ts';
import { AgentMuxError, CapabilityError } from '../../src/contract/runs/run-error.ts';
import type { AgentKnowledge } from '../../src/runtime/runs/deps.ts';
import { runsFolder } from '../../src/runtime/runs/process/run-folder.ts';
import { FAKE_CAPABILITIES, fakeAdapter } from '../support/agents/test-adapter.ts';
import { eventsOf, scene, timeInHand, types } from './harness.ts';
import { knowledge } from './paper.ts';

describe('a run', () => {
  it('gives every event with the run, the agent and what has accumulated, then its result', async () => {
    const { run } = scene();
    const handle = run(fakeAdapter('plain'), { tags: ['a'], model: 'm', collectEvents: true });
    const events = await eventsOf(handle);
    expect(types(events).filter((type) => type !== 'log')).toEqual([
      'session_start',
      'turn_start',
      'message_start',
      'text_delta',
      'text_delta',
      'message_stop',
      'tool_call_start',
      'tool_input_delta',
      'tool_input_delta',
      'tool_call_ready',
      'tool_result',
      'token_usage',
      'cost',
      'turn_end',
    ]);
    expect(events.filter(({ runId, agent }) => runId !== handle.runId || agent !== 'claude')).toEqual([]);
    expect(events.flatMap((event) => ('accumulated' in event ? [event.accumulated] : []))).toEqual(['hello ', 'hello world']);
    expect(events.flatMap((event) => ('inputAccumulated' in event ? [event.inputAccumulated] : []))).toEqual([
      '',
      '{"path":',
      '{"path":"a"}',
    ]);
    const result = await handle;
    expect(result).toMatchObject({
      runId: handle.runId,
      agent: 'claude',
      model: 'm',
      text: 'hello world',
      exitCode: 0,
      signal: null,
      exitReason: 'completed',
      tokenUsage: { input: 10, output: 5, thinking: 0, cached: 0, total: 15 },
      cost: { totalUsd: 0.25 },
      turnCount: 1,
      error: null,
      tags: ['a'],
    });
    expect(result.sessionId).toMatch(/^fake-\d+$/);
    expect(result.events).toEqual(events);
    expect(handle.state).toBe('completed');
  });

  it('can be listened to by type, once and no longer', async () => {
    const { run } = scene();
    const handle = run(fakeAdapter('plain'));
    const heard: string[] = [];
    const never = (): number => heard.push('never');
    handle.on('text_delta', ({ delta }) => heard.push(delta));
    handle.once('text_delta', () => heard.push('first'));
    handle.on('message_stop', never).off('message_stop', never);
    await handle.result();
    expect(heard).toEqual(['hello ', 'first', 'world']);
  });

  it('gives whole messages to a caller who wants no stream', async () => {
    const { run } = scene();
    const events = await eventsOf(run(fakeAdapter('plain'), { stream: false }));
    expect(events.filter(({ type }) => type.endsWith('_delta'))).toEqual([]);
    expect(events.find(({ type }) => type === 'message_stop')).toMatchObject({ text: 'hello world' });
  });

  it('says once what cannot be streamed when the engine may decide', async () => {
    const { run } = scene();
    const events = await eventsOf(run(fakeAdapter('plain'), { stream: 'auto' }));
    expect(events.filter(({ type }) => type === 'stream_fallback')).toMatchObject([
      { capability: 'thinking', reason: "Agent 'claude' does not stream thinking" },
    ]);
  });

  it('drops the oldest events of a slow reader and says how many', async () => {
    const { run } = scene();
    const handle = run(fakeAdapter('chatty'));
    const reader = handle[Symbol.asyncIterator]();
    const result = await handle.result();
    const first = await reader.next();
    expect(first.value).toMatchObject({ type: 'debug', level: 'warn', message: expect.stringMatching(/^\d+ events were dropped/) });
    let rest = 0;
    while ((await reader.next()).done !== true) rest += 1;
    expect(rest).toBe(1000);
    expect(result.text.endsWith('4999 ')).toBe(true);
  });

  it('reads lines that come byte by byte and a last one without an end', async () => {
    const { run } = scene();
    const handle = run(fakeAdapter('half-lines'));
    const events = await eventsOf(handle);
    expect(events.find(({ type }) => type === 'text_delta')).toMatchObject({ delta: 'Grüße 🌍' });
    expect(events.find(({ type }) => type === 'log')).toMatchObject({ source: 'stdout', line: 'this is no JSON' });
    expect(await handle).toMatchObject({ exitReason: 'completed' });
  });
});

describe('what is refused', () => {
  it('is refused by a throw, before anything is spawned', () => {
    const { run } = scene();
    const refusal = new CapabilityError({ agent: 'claude', capability: 'mcp' });
    const agents = {
      ...knowledge,
      check: () => {
        throw refusal;
      },
    };
    expect(() => run(fakeAdapter('plain'), {}, { agents })).toThrow(refusal);
  });

  it.each([
    ['./nowhere', 'must be the absolute path of a folder'],
    ['/no/such/folder', 'does not exist on the machine that would run the agent'],
    [process.execPath, 'is a file; the agent needs a folder to work in'],
    [`${process.execPath}/below`, 'does not exist: something on the way to it is a file'],
    [`/${'long'.repeat(2_000)}`, 'is longer than the system lets a path be'],
  ])('is refused for a folder that is none: %.40s', (cwd, fault) => {
    expect(() => scene().run(fakeAdapter('plain'), { cwd })).toThrow(`cwd: ${fault}`);
  });

  it('is checked again where the version that is found has other abilities', async () => {
    const { run, gateway } = scene();
    const older = { ...FAKE_CAPABILITIES, canFork: false };
    const agents: AgentKnowledge = {
      ...knowledge,
      detect: async () => ({ installed: true, version: '1.0.0', path: process.execPath, effective: older }),
      check: (_, effective) => {
        if (effective === older) throw new CapabilityError({ agent: 'claude', capability: 'sessionFork' });
      },
    };
    const handle = run(fakeAdapter('plain'), { forkSessionId: 'earlier' }, { agents });
    const events = await eventsOf(handle);
    expect(events).toMatchObject([{ type: 'error', code: 'CAPABILITY_ERROR' }]);
    expect(await handle).toMatchObject({ exitReason: 'failed', error: { code: 'CAPABILITY_ERROR', recoverable: false } });
    expect(gateway.facts).toMatchObject([{ task: 'run claude' }, { status: 'failed', error: { code: 'CAPABILITY_ERROR' } }]);
  });

  it('names an agent that is not installed', async () => {
    const { run } = scene();
    const agents = { ...knowledge, detect: async () => ({ installed: false, effective: fakeAdapter('plain').capabilities }) };
    expect(await run(fakeAdapter('plain'), {}, { agents })).toMatchObject({ exitReason: 'failed', error: { code: 'AGENT_NOT_INSTALLED' } });
  });

  it('names a command that cannot be started', async () => {
    const { run } = scene();
    const agents = {
      ...knowledge,
      detect: async () => ({ ...(await knowledge.detect(fakeAdapter('plain'), {})), path: '/no/such/agent' }),
    };
    expect(await run(fakeAdapter('plain'), {}, { agents })).toMatchObject({ error: { code: 'SPAWN_ERROR' } });
  });
});

describe('control', () => {
  it('aborts an agent that ignores SIGTERM, with its children, also those that left the group', async () => {
    const { run } = scene();
    const handle = run(fakeAdapter('stubborn'));
    const pids = await new Promise<number[]>((resolve) => {
      handle.on('debug', ({ message }) => {
        if (message.startsWith('pids')) resolve(message.split(' ').slice(1).map(Number));
      });
    });
    expect(pids.map((pid) => processStart(pid) !== undefined)).toEqual([true, true, true]);
    await handle.abort();
    expect(await handle).toMatchObject({ exitReason: 'aborted', error: { code: 'ABORTED' } });
    await expect.poll(() => pids.filter((pid) => processStart(pid) !== undefined)).toEqual([]);
  });

  it('interrupts with a signal where the agent takes no word', async () => {
    const { run } = scene();
    const adapter = fakeAdapter('slow');
    const handle = run({ ...adapter, dialogue: (plan) => ({ ...adapter.dialogue(plan), say: () => undefined }) });
    handle.once('text_delta', () => handle.interrupt());
    expect(types(await eventsOf(handle))).toContain('interrupted');
    expect(await handle).toMatchObject({ exitReason: 'interrupted', error: null });
  });

  it('keeps the text of an agent that is stopped in the midst of it, and estimates what it used', async () => {
    const { run, gateway } = scene();
    const handle = run(fakeAdapter('slow'));
    await new Promise<void>((resolve) => {
      handle.once('text_delta', () => resolve());
    });
    await handle.abort();
    const { text, exitReason } = await handle;
    expect(exitReason).toBe('aborted');
    expect(text).not.toBe('');
    const usage = { estimated: true, output_tokens: Math.ceil(text.length / 4), input_tokens: 1 };
    expect(gateway.facts.at(-1)).toMatchObject({ status: 'cancelled', usage });
  });

  it('stands still while it is paused, and silence does not count then', async () => {
    const { run } = scene();
    const pass = timeInHand();
    const handle = run(fakeAdapter('slow'), { inactivityTimeout: 1500 });
    const seen: string[] = [];
    for (const type of ['text_delta', 'paused', 'resumed'] as const) handle.on(type, () => seen.push(type));
    await new Promise<void>((resolve) => {
      handle.once('text_delta', () => resolve());
    });
    handle.pause();
    expect(() => handle.pause()).toThrow(AgentMuxError);
    pass(60_000);
    expect([seen.at(-1), handle.state]).toEqual(['paused', 'paused']);
    handle.resume();
    await expect.poll(() => seen.at(-1)).toBe('text_delta');
    await handle.abort();
    expect(() => handle.pause()).toThrow('The agent is not running.');
  });

  it.each([
    ['prompt', 'approve q1', []],
    ['yolo', 'approve q1', []],
    ['deny', 'deny q1', ['q1 had its answer already; this one came too late']],
  ] as const)('lets a listener answer the moment it hears the question, in %s', async (approvalMode, text, remarks) => {
    const { run } = scene();
    const handle = run(fakeAdapter('asking'), { approvalMode, collectEvents: true });
    handle.on('approval_request', ({ interactionId, action }) =>
      action === 'write' ? handle.approve(interactionId) : handle.deny(interactionId),
    );
    const result = await handle;
    expect(result).toMatchObject({ exitReason: 'completed', text });
    expect(result.events.flatMap((event) => (event.type === 'debug' ? [event.message] : []))).toEqual(remarks);
  });

  it.each([
    ['yolo', 'approve q1'],
    ['deny', 'deny q1'],
  ] as const)('answers approvals by itself in %s', async (approvalMode, text) => {
    const { run } = scene();
    expect(await run(fakeAdapter('asking'), { approvalMode })).toMatchObject({ exitReason: 'completed', text });
  });

  it('lets the caller answer, by callback or by handle, and says what was answered', async () => {
    const { run } = scene();
    const called = run(fakeAdapter('asking'), { approvalMode: 'prompt', onApprovalRequest: ({ action }) => action === 'write' });
    expect(types(await eventsOf(called))).toContain('approval_granted');
    const handle = run(fakeAdapter('asking'), { approvalMode: 'prompt' });
    handle.interaction.onPending(({ id, type, description }) => {
      expect([id, type, description]).toEqual(['q1', 'approval', 'write']);
      expect(() => handle.interaction.respond('q2', { approve: true })).toThrow('The run has no open question q2.');
      handle.send('wait');
      handle.deny(undefined, 'no');
    });
    const events = await eventsOf(handle);
    expect(events.find(({ type }) => type === 'approval_denied')).toMatchObject({ interactionId: 'q1', reason: 'no' });
    expect(await handle).toMatchObject({ text: 'message waitdeny q1' });
    expect(() => handle.approve()).toThrow('The agent is not waiting for an answer.');
  });

  it('drives an agent on a terminal of its own', async () => {
    const { run } = scene();
    expect(await run(fakeAdapter('plain', { pty: true }))).toMatchObject({ exitReason: 'completed', text: 'hello world' });
  });
});

describe('what a run leaves', () => {
  it('is one key, minted for it and dropped with it, and no folder', async () => {
    const { run, gateway, deps } = scene();
    const handle = run(fakeAdapter('plain'), { tags: ['t'] });
    await handle;
    expect(gateway.minted).toMatchObject([
      {
        runId: handle.runId,
        agent: 'claude',
        engine: 'claude',
        model: null,
        emulate: ['extended_thinking'],
        compatibility: 'best_effort',
        tags: ['t'],
      },
    ]);
    expect(gateway.dropped).toEqual([handle.runId]);
    expect(readdirSync(runsFolder(deps.homePath), { recursive: true })).toEqual(['.processes']);
  });

  it('is a receipt that says what changed, what was called and what was not honoured', async () => {
    const { run, gateway, folder } = scene();
    writeFileSync(join(folder, 'old.txt'), 'old');
    const unhonoured = [{ option: 'topK', reason: 'there is no flag for it' }];
    const adapter = fakeAdapter('plain', { spec: { unhonoured } });
    const handle = run(adapter);
    handle.once('session_start', () => writeFileSync(join(folder, 'new.txt'), 'new'));
    handle.once('session_start', () => writeFileSync(join(folder, 'old.txt'), 'changed'));
    const events = await eventsOf(handle);
    expect(events[0]).toMatchObject({ type: 'debug', message: 'topK is not honoured: there is no flag for it' });
    const [open, close] = gateway.facts;
    expect(open).toMatchObject({
      task: 'run claude → claude',
      backend: 'adapter:claude',
      engine: 'claude',
      fidelity: [{ path: 'topK', fate: 'dropped', note: 'there is no flag for it' }],
      request: { sha256: '8f434346648f6b96df89dda901c5176b10a6d83961dd3c1ac88b59b2dc327aa4', bytes: 2 },
    });
    expect(close).toMatchObject({
      status: 'completed',
      eventCount: events.length,
      usage: { input_tokens: 10, output_tokens: 5 },
      toolCalls: [{ id: 't1', name: 'write', result_sha256: expect.any(String) }],
      workspaceDelta: { added: ['new.txt'], modified: ['old.txt'], removed: [] },
      backendVersion: '1.2.3',
    });
  });

  it('is left alone with a reason when the engine has no key, and refused when the caller named it', async () => {
    const { run, gateway } = scene();
    gateway.offered = { engine: 'claude', missing: 'ANTHROPIC_API_KEY is not set' };
    const events = await eventsOf(run(fakeAdapter('plain')));
    expect(events[0]).toMatchObject({
      type: 'debug',
      message: 'model traffic does not go through the gateway: ANTHROPIC_API_KEY is not set',
    });
    expect(gateway.minted).toEqual([]);
    expect(await run(fakeAdapter('plain'), { engine: 'claude' })).toMatchObject({ exitReason: 'failed', error: { code: 'E007' } });
  });

  it('forwards a login of the agent only to an engine that speaks its dialect', async () => {
    const { run, gateway } = scene();
    const routes: unknown[] = [];
    const adapter = fakeAdapter('plain', { forwardsLogin: true, onPlan: ({ gateway: route }) => routes.push(route) });
    gateway.offered = { engine: 'claude', credential: 'caller', speaksDialect: true, needsModel: false };
    await run(adapter);
    expect(routes.at(-1)).toEqual({
      origin: 'http://127.0.0.1:1/k/abp_run_secret',
      engine: 'claude',
      key: 'abp_run_secret',
      ownLogin: true,
    });
    gateway.offered = { engine: 'gemini', credential: 'caller', speaksDialect: false, needsModel: true };
    expect(await run(adapter, { engine: 'gemini', model: 'g' })).toMatchObject({ error: { code: 'E007' } });
  });

  it('asks for a model where the engine does not know those of the agent', async () => {
    const { run, gateway } = scene();
    gateway.offered = { engine: 'gemini', credential: 'ours', speaksDialect: false, needsModel: true };
    expect(await run(fakeAdapter('plain'), { engine: 'gemini' })).toMatchObject({ error: { code: 'VALIDATION_ERROR' } });
    await run(fakeAdapter('plain'), { engine: 'gemini', model: 'gemini-2.5-pro' });
    expect(gateway.minted).toMatchObject([{ engine: 'gemini', model: 'gemini-2.5-pro' }]);
  });

  it('never outlives its identity', () => {
    expect(isRunning({ pid: process.pid, started: 'another time' })).toBe(false);
  });
});

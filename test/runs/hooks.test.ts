import { describe, expect, it, vi } from 'vitest';
import type { SpawnPlan, WaitsFor } from '../../src/adapters/adapter.ts';
import type { AgentEvent } from '../../src/contract/runs/event.ts';
import { CapabilityError, ValidationError } from '../../src/contract/runs/run-error.ts';
import type { HookAnswer, HookCall, HookType, RunHooks } from '../../src/contract/runs/run-hooks.ts';
import type { LocalRunOptions } from '../../src/runtime/runs/handle.ts';
import { type FakeOptions, fakeAdapter } from '../support/agents/test-adapter.ts';
import { eventsOf, scene, timeInHand } from './harness.ts';

const asksInPrompt = ({ options, answerable }: SpawnPlan): WaitsFor =>
  answerable && options.approvalMode === 'prompt' ? 'what-it-asks' : 'nothing';
const waitsAlways = ({ watched }: SpawnPlan): WaitsFor => (watched === true ? 'every-tool' : 'nothing');

const deny = (): HookAnswer => ({ decision: 'deny', message: 'not that' });
const modify = (): HookAnswer => ({ decision: 'modify', modifiedInput: { path: 'b' } });

function warnings(events: readonly AgentEvent[]): string[] {
  return events.flatMap((event) => (event.type === 'debug' && event.level === 'warn' ? [event.message] : []));
}

async function used(prompt: string, options: Partial<LocalRunOptions>, fake: FakeOptions = {}) {
  const { run, gateway } = scene();
  const handle = run(fakeAdapter('using', fake), { prompt, ...options });
  const events = await eventsOf(handle);
  return { events, result: await handle, opened: gateway.facts[0] };
}

describe('preToolUse', () => {
  it.each([
    ['allows', () => ({ decision: 'allow' }) as const, 'let w1'],
    ['says nothing', () => undefined, 'let w1'],
    ['denies', deny, 'stop w1 not that'],
    ['changes the input', modify, 'let w1 {"path":"b"}'],
    [
      'throws',
      () => {
        throw new Error('broken');
      },
      'stop w1 the hook preToolUse failed: broken',
    ],
    [
      'answers nonsense',
      () => ({ decision: 'maybe' }) as unknown as HookAnswer,
      'stop w1 the hook preToolUse failed: its answer has no decision: {"decision":"maybe"}',
    ],
  ])('decides where the agent waits for it: one that %s', async (_, preToolUse, text) => {
    const { result } = await used('waits', { approvalMode: 'yolo', hooks: { preToolUse } }, { waitsFor: waitsAlways, takesInput: true });
    expect(result).toMatchObject({ exitReason: 'completed', text });
  });

  it('is called once for a call that is told, waited for and asked about', async () => {
    const preToolUse = vi.fn((_: HookCall<'preToolUse'>) => undefined);
    const { result } = await used('asks', { approvalMode: 'yolo', hooks: { preToolUse } }, { waitsFor: asksInPrompt });
    expect(result.text).toBe('approve q1');
    const other = await used('asks otherwise', { approvalMode: 'yolo', hooks: { preToolUse } }, { waitsFor: asksInPrompt });
    expect(preToolUse.mock.calls.map(([{ data }]) => data)).toEqual([
      { toolCallId: 't1', toolName: 'look', input: { path: 'a' } },
      { toolCallId: 'other', toolName: 'look', input: { path: 'a' } },
    ]);
    expect(preToolUse.mock.calls[1]?.[0]).toEqual({
      agent: 'claude',
      hookType: 'preToolUse',
      runId: other.result.runId,
      sessionId: other.result.sessionId,
      timestamp: expect.any(Number),
      data: expect.any(Object),
    });
  });

  it('sees what is asked about in other words too, and a denial of either counts', async () => {
    const denied = async (when: (input: unknown) => boolean): Promise<string> => {
      const preToolUse = ({ data }: HookCall<'preToolUse'>) => (when(data.input) ? deny() : undefined);
      return (await used('asks more', { approvalMode: 'yolo', hooks: { preToolUse } }, { waitsFor: asksInPrompt })).result.text;
    };
    const hasContent = (input: unknown): boolean => JSON.stringify(input).includes('content');
    expect(await denied(() => false)).toBe('approve q1');
    expect(await denied(hasContent)).toBe('deny q1');
    expect(await denied((input) => !hasContent(input))).toBe('deny q1');
  });

  it('speaks before the callback for approvals, and what it denies is asked of nobody', async () => {
    const onApprovalRequest = vi.fn(() => true);
    const { events, result } = await used(
      'asks',
      { approvalMode: 'prompt', onApprovalRequest, hooks: { preToolUse: deny } },
      { waitsFor: asksInPrompt },
    );
    expect(result.text).toBe('deny q1');
    expect(events).toContainEqual(expect.objectContaining({ type: 'approval_denied', interactionId: 'q1', reason: 'not that' }));
    expect(onApprovalRequest).not.toHaveBeenCalled();
  });

  it('approves nothing: the callback is asked about the input that the hook leaves', async () => {
    const onApprovalRequest = vi.fn(() => false);
    const hooks: RunHooks = { preToolUse: modify };
    const fake = { waitsFor: asksInPrompt, takesInput: true } as const;
    expect((await used('asks', { approvalMode: 'prompt', onApprovalRequest, hooks }, fake)).result.text).toBe('deny q1');
    expect(onApprovalRequest).toHaveBeenCalledWith(expect.objectContaining({ detail: '{"path":"b"}' }));
    expect((await used('asks', { approvalMode: 'yolo', hooks }, fake)).result.text).toBe('approve q1 {"path":"b"}');
  });

  it('that changes an input for an agent that takes none stops the call, and says so', async () => {
    const { events, result } = await used('asks', { approvalMode: 'yolo', hooks: { preToolUse: modify } }, { waitsFor: asksInPrompt });
    expect(result.text).toBe('deny q1');
    expect(warnings(events)).toContain(
      'the hook preToolUse said modify, which is not honoured: the input of look cannot be changed for this agent; it counts as deny',
    );
  });

  it('is told where the agent waits for nobody, and a denial without effect is reported, also in the receipt', async () => {
    const { events, result, opened } = await used('unasked', { approvalMode: 'yolo', hooks: { preToolUse: deny } });
    expect(result).toMatchObject({ exitReason: 'completed', text: 'unasked' });
    expect(warnings(events)).toEqual([
      'hooks.preToolUse is not honoured: the agent does not wait for it in this run; it is only told',
      'the hook preToolUse denied look (not that), which is not honoured: the agent did not wait for it',
    ]);
    expect(opened).toMatchObject({
      fidelity: [{ path: 'hooks.preToolUse', fate: 'dropped', note: 'the agent does not wait for it in this run; it is only told' }],
    });
  });

  it('may take its time: the agent is not counted as silent, and nobody is asked meanwhile', async () => {
    const { run } = scene();
    const pass = timeInHand();
    const { promise: called, resolve: onCalled } = Promise.withResolvers<void>();
    const preToolUse = async (): Promise<undefined> => {
      onCalled();
      return await new Promise(() => undefined);
    };
    const handle = run(fakeAdapter('using', { waitsFor: asksInPrompt }), {
      prompt: 'asks',
      approvalMode: 'prompt',
      hooks: { preToolUse },
      inactivityTimeout: 1500,
    });
    await called;
    pass(60_000);
    expect(handle.state).toBe('running');
    expect(handle.interaction.pending).toEqual([]);
    await handle.abort();
    expect(await handle).toMatchObject({ exitReason: 'aborted' });
  });
});

it('a callback for approvals is asked in yolo too where the agent can ask, and without a mode it means prompt', async () => {
  const onApprovalRequest = vi.fn(() => false);
  const plans: SpawnPlan[] = [];
  const fake = { waitsFor: asksInPrompt, onPlan: (plan: SpawnPlan) => plans.push(plan) };
  expect((await used('asks', { approvalMode: 'yolo', onApprovalRequest }, fake)).result.text).toBe('deny q1');
  expect((await used('asks', { onApprovalRequest }, fake)).result.text).toBe('deny q1');
  expect(onApprovalRequest).toHaveBeenCalledTimes(2);
  expect([...new Set(plans.map(({ options }) => options.approvalMode))]).toEqual(['prompt']);
});

describe('userPromptSubmit', () => {
  const submitted = (answer: () => HookAnswer | undefined) => used('unasked', { hooks: { userPromptSubmit: answer } });

  it('leaves the prompt, or puts another one in its place', async () => {
    expect((await submitted(() => undefined)).result.text).toBe('unasked');
    const { run } = scene();
    const prompts: string[] = [];
    const hooks: RunHooks = {
      userPromptSubmit: ({ data }) => {
        prompts.push(data.prompt);
        return { decision: 'modify', modifiedInput: 'other words' };
      },
    };
    expect(await run(fakeAdapter('talking'), { prompt: ['two', 'parts'], hooks })).toMatchObject({ text: 'other words' });
    expect(prompts).toEqual(['two\n\nparts']);
  });

  it('does not keep a run that is aborted', async () => {
    const { run } = scene();
    const handle = run(fakeAdapter('plain'), { hooks: { userPromptSubmit: () => new Promise<undefined>(() => undefined) } });
    await new Promise((resolve) => setTimeout(resolve, 20));
    await handle.abort();
    expect(await handle).toMatchObject({ exitReason: 'aborted', text: '' });
  });

  it.each([
    ['denies', deny, 'The hook userPromptSubmit denied the prompt: not that'],
    [
      'throws',
      () => {
        throw new Error('broken');
      },
      'The prompt was not submitted: the hook userPromptSubmit failed: broken.',
    ],
    ['gives no text', modify, 'The hook userPromptSubmit must give another prompt as a text that is not empty.'],
  ] as const)('starts nothing when it %s', async (_, answer, message) => {
    const { events, result } = await submitted(answer);
    expect(result).toMatchObject({ exitReason: 'failed', exitCode: null, error: { code: 'ABORTED', message } });
    expect(events.map(({ type }) => type)).toEqual(['error']);
  });
});

describe('stop', () => {
  const talked = async (stop: NonNullable<RunHooks['stop']>, messages?: null) => {
    const { run } = scene();
    const handle = run(fakeAdapter('talking', { messages }), { prompt: 'one', hooks: { stop } });
    return { events: await eventsOf(handle), result: await handle };
  };

  it('makes an agent that listens go on with its words, as often as it denies', async () => {
    const seen: unknown[] = [];
    const { result } = await talked(({ data }) => {
      seen.push(data);
      return seen.length < 3 ? { decision: 'deny', message: `again ${seen.length}` } : undefined;
    });
    expect(result).toMatchObject({ exitReason: 'completed', text: 'one\n\nmessage again 1\n\nmessage again 2' });
    expect(seen).toEqual([
      { text: 'one', turnCount: 1, continued: false },
      { text: 'one\n\nmessage again 1', turnCount: 1, continued: true },
      { text: 'one\n\nmessage again 1\n\nmessage again 2', turnCount: 1, continued: true },
    ]);
  });

  it('that fails keeps nobody from ending', async () => {
    const { events, result } = await talked(() => {
      throw new Error('broken');
    });
    expect([result.exitReason, warnings(events)]).toEqual(['completed', ['the hook stop failed: broken']]);
  });

  it('is only told where the agent does not listen', async () => {
    const { events, result } = await talked(deny, null);
    expect([result.text, warnings(events)]).toEqual([
      'one',
      ['the hook stop said deny (not that), which is not honoured: it is only told'],
    ]);
  });
});

it('the other hooks are told, and their wishes are reported as without effect', async () => {
  const called: [HookType, unknown][] = [];
  const note = ({ hookType, data }: HookCall<HookType>): HookAnswer | undefined => {
    called.push([hookType, data]);
    if (hookType === 'sessionEnd') throw new Error('too late');
    return hookType === 'postToolUse' ? { decision: 'deny' } : undefined;
  };
  const hooks: RunHooks = { postToolUse: note, sessionStart: note, sessionEnd: note, stop: note };
  const { events, result } = await used('unasked', { hooks });
  expect(called).toEqual([
    ['sessionStart', { sessionId: result.sessionId, resumed: false }],
    ['postToolUse', { toolCallId: 't1', toolName: 'look', output: 'seen', durationMs: 1 }],
    ['stop', { text: 'unasked', turnCount: 1, continued: false }],
    ['sessionEnd', { turnCount: 1, exitReason: 'completed' }],
  ]);
  expect(warnings(events)).toEqual([
    'the hook postToolUse said deny, which is not honoured: it is only told',
    'the hook sessionEnd failed: too late',
  ]);
});

it('hooks that cannot be are refused before anything starts', () => {
  const { run } = scene();
  const hooks = (value: object) => ({ hooks: value as RunHooks });
  expect(() => run(fakeAdapter('using'), hooks({ preTool: deny }))).toThrow(ValidationError);
  expect(() => run(fakeAdapter('using'), hooks({ stop: 'later' }))).toThrow('hooks.stop: must be a function');
  expect(() => run(fakeAdapter('using', { untold: ['postToolUse'] }), hooks({ postToolUse: deny }))).toThrow(CapabilityError);
});

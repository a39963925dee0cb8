import { describe, expect, it } from 'vitest';
import { AgentMuxError } from '../../src/contract/runs/run-error.ts';
import type { RunHandle } from '../../src/runtime/runs/handle.ts';
import { fakeAdapter } from '../support/agents/test-adapter.ts';
import { eventsOf, scene, timeInHand, types } from './harness.ts';

async function whenSaid(handle: RunHandle): Promise<void> {
  await new Promise<void>((resolve) => {
    handle.once('session_start', () => resolve());
  });
}

function thrown(act: () => void): unknown {
  try {
    act();
  } catch (error) {
    return error;
  }
  return undefined;
}

describe('messages to a running agent', () => {
  it('that are queued are its next turns, one after the other, on the same process', async () => {
    const { run } = scene();
    const handle = run(fakeAdapter('talking'), { prompt: 'one' });
    handle.queue('two');
    handle.queue('three', { when: 'next-turn' });
    const events = await eventsOf(handle);
    expect(events.filter(({ type }) => type === 'session_start')).toHaveLength(1);
    expect(await handle).toMatchObject({ exitReason: 'completed', text: 'one\n\nmessage two\n\nmessage three' });
  });

  it('that wait for a tool are said when it has returned, those for a message when it is whole', async () => {
    const { run } = scene();
    const handle = run(fakeAdapter('talking'), { prompt: 'a tool' });
    handle.queue('after the tool', { when: 'after-tool' });
    handle.queue('after the words', { when: 'after-response' });
    expect(await handle).toMatchObject({ text: 'a tool\n\nsteer after the tool\n\nsteer after the words' });
  });

  it('that wait for what never comes are said at the end of the answer', async () => {
    const { run } = scene();
    const handle = run(fakeAdapter('talking'), { prompt: 'no instruments' });
    handle.queue('then', { when: 'after-tool' });
    expect(await handle).toMatchObject({ text: 'no instruments\n\nmessage then' });
  });

  it('that could not be said are told', async () => {
    const { run } = scene();
    const handle = run(fakeAdapter('talking'), { prompt: 'one' });
    handle.queue('quit');
    handle.queue('never');
    handle.queue('never either');
    const events = await eventsOf(handle);
    expect(events.filter(({ type }) => type === 'debug')).toMatchObject([
      { level: 'warn', message: 'the run ended before 2 queued messages could be said' },
    ]);
  });

  it('steer it at once', async () => {
    const { run } = scene();
    const handle = run(fakeAdapter('talking'), { prompt: 'wait' });
    await whenSaid(handle);
    handle.steer('left');
    expect(await handle).toMatchObject({ text: 'steer left' });
  });

  it('let it go on after an interruption that holds it, and not after any other', async () => {
    const { run } = scene();
    const pass = timeInHand();
    const handle = run(fakeAdapter('talking'), { prompt: 'wait', inactivityTimeout: 1500 });
    await whenSaid(handle);
    expect(() => handle.continue()).toThrow('The agent was not interrupted to be continued.');
    handle.interrupt({ hold: true });
    expect(handle.state).toBe('interrupted');
    // Longer than the agent may be silent: nobody expects a word of it.
    pass(60_000);
    expect(handle.state).toBe('interrupted');
    handle.continue('on');
    expect(handle.state).toBe('running');
    const events = await eventsOf(handle);
    expect(types(events).filter((type) => type === 'interrupted')).toHaveLength(1);
    expect(await handle).toMatchObject({ exitReason: 'completed', text: 'message on' });
    const other = run(fakeAdapter('talking'), { prompt: 'wait' });
    await whenSaid(other);
    other.queue('not any more');
    other.interrupt();
    expect(await other).toMatchObject({ exitReason: 'interrupted' });
    expect(thrown(() => other.queue('late'))).toMatchObject({ code: 'RUN_NOT_ACTIVE' });
  });

  it.each([
    { messages: null, call: (handle: RunHandle) => handle.queue('x'), words: 'Fake takes no messages while it runs.' },
    { messages: null, call: (handle: RunHandle) => handle.interrupt({ hold: true }), words: 'Fake takes no messages while it runs.' },
    {
      messages: { when: 'between', held: 'always' },
      call: (handle: RunHandle) => handle.steer('x'),
      words: 'Fake takes messages between its answers only.',
    },
    {
      messages: { when: 'between', held: 'always' },
      call: (handle: RunHandle) => handle.queue('x', { when: 'after-tool' }),
      words: 'Fake takes messages between its answers only.',
    },
    {
      messages: { when: 'steering', held: 'asked' },
      call: (handle: RunHandle) => handle.queue('x'),
      words: 'Fake takes messages only in a run that is started with nonInteractive: false.',
    },
  ] as const)('are refused where the agent does not listen: $words', async ({ messages, call, words }) => {
    const { run } = scene();
    const handle = run(fakeAdapter('slow', { messages }));
    await whenSaid(handle);
    const error = thrown(() => call(handle));
    expect(error).toBeInstanceOf(AgentMuxError);
    expect(error).toMatchObject({ code: 'STDIN_NOT_AVAILABLE', message: words });
    await handle.abort();
  });

  it('are refused before anything starts when the caller needs an agent that listens', () => {
    const { run } = scene();
    expect(() => run(fakeAdapter('plain', { messages: null }), { nonInteractive: false })).toThrow('Fake takes no messages while it runs.');
  });
});

import { describe, expect, it } from 'vitest';
import { fakeAdapter } from '../support/agents/test-adapter.ts';
import { eventsOf, scene, timeInHand, types } from './harness.ts';

describe('limits', () => {
  it('end a run that takes too long', async () => {
    const { run } = scene();
    const handle = run(fakeAdapter('slow'), { timeout: 400 });
    expect((await eventsOf(handle)).filter(({ type }) => type === 'timeout')).toMatchObject([{ kind: 'run' }]);
    expect(await handle).toMatchObject({ exitReason: 'timeout', error: { code: 'TIMEOUT' } });
    expect(handle.state).toBe('timed-out');
  });

  it('end a run that is silent for too long, and not one that speaks', async () => {
    const { run } = scene();
    const silent = run(fakeAdapter('silent'), { inactivityTimeout: 400 });
    expect(await silent).toMatchObject({ exitReason: 'inactivity', error: { code: 'INACTIVITY_TIMEOUT' } });
    const pass = timeInHand();
    const slow = run(fakeAdapter('slow'), { inactivityTimeout: 1000, timeout: 3000 });
    // Several words may arrive at once: all of those together are not as long as it may be silent.
    slow.on('text_delta', () => pass(60));
    expect(await slow).toMatchObject({ exitReason: 'timeout' });
  });

  it('end a run after its turns', async () => {
    const { run } = scene();
    const handle = run(fakeAdapter('turning'), { maxTurns: 3 });
    expect((await eventsOf(handle)).find(({ type }) => type === 'turn_limit')).toMatchObject({ maxTurns: 3 });
    expect(await handle).toMatchObject({ exitReason: 'turn_limit' });
  });

  it.each([
    [{ type: 'turn_limit', maxTurns: 2 }, 'turn_limit', { code: 'ABORTED', message: 'The run used all its turns.' }],
    [{ type: 'timeout', kind: 'run' }, 'timeout', { code: 'TIMEOUT' }],
    [{ type: 'timeout', kind: 'inactivity' }, 'inactivity', { code: 'INACTIVITY_TIMEOUT' }],
    [{ type: 'aborted' }, 'aborted', { code: 'ABORTED' }],
  ] as const)('that the agent tells of itself, as in %j, are the reason of the result', async (draft, exitReason, error) => {
    const { run, gateway } = scene();
    const handle = run(fakeAdapter('saying'), { prompt: JSON.stringify(draft) });
    const events = await eventsOf(handle);
    expect(events.filter(({ type }) => type === draft.type)).toHaveLength(1);
    expect(types(events)).not.toContain('crash');
    expect(await handle).toMatchObject({ exitReason, error });
    expect(gateway.facts.at(-1)).toMatchObject({ reason: exitReason });
  });

  it('refuse a budget that others can come past, unless that is accepted', async () => {
    const { run } = scene();
    expect(await run(fakeAdapter('turning'), { maxBudgetUsd: 0.3 })).toMatchObject({ error: { code: 'E005' } });
  });

  it('end a run at its budget, by what the agent says and by what the gateway billed', async () => {
    const { run, gateway } = scene();
    const spent = run(fakeAdapter('turning'), { maxBudgetUsd: 0.3, enforcement: 'advisory' });
    expect((await eventsOf(spent)).filter(({ type }) => type === 'error')).toMatchObject([{ message: 'The run used up its budget.' }]);
    expect(await spent).toMatchObject({ exitReason: 'budget' });
    gateway.spend = { ...gateway.spend, calls: 2, nanoUsd: 2e9, priceVersion: 'p' };
    expect(await run(fakeAdapter('silent'), { maxBudgetUsd: 1.5, enforcement: 'advisory' })).toMatchObject({
      exitReason: 'budget',
      cost: { totalUsd: 2 },
    });
  });
});

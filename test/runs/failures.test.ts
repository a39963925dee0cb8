import { describe, expect, it } from 'vitest';
import { fakeAdapter } from '../support/agents/test-adapter.ts';
import { eventsOf, scene, types } from './harness.ts';
import { knowledge } from './paper.ts';

describe('an agent that fails', () => {
  it('that ends without a reason is explained by its last words and by a version that nobody tried, also in its receipt', async () => {
    const { run, gateway } = scene();
    const untested = 'version 1.2.3 is older than 2.0.0, the oldest one that was tried';
    const agents = { ...knowledge, detect: async () => ({ ...(await knowledge.detect(fakeAdapter('crashing'), {})), untested }) };
    const handle = run(fakeAdapter('crashing'), {}, { agents });
    const events = await eventsOf(handle);
    // Said before the agent has a word.
    expect(events[0]).toMatchObject({ type: 'debug', level: 'warn', message: `Fake: ${untested}` });
    const message = `The agent ended with exit code 3. Its last words were: something broke. It may be the version: ${untested}.`;
    expect((await handle).error).toMatchObject({ code: 'AGENT_CRASH', message });
    expect(gateway.facts.at(-1)).toMatchObject({ error: { code: 'AGENT_CRASH', message } });
  });

  it('that explains itself on its standard output is understood as well', async () => {
    const { run } = scene();
    const result = await run(fakeAdapter('muttering'));
    expect(result.error?.message).toBe('The agent ended with exit code 4. Its last words were: Error: cannot find module x.');
  });

  it.each([true, false])('has as many events in its receipt as were told (stream: %s)', async (stream) => {
    const { run, gateway } = scene();
    const handle = run(fakeAdapter('plain'), { stream });
    const events = await eventsOf(handle);
    expect(gateway.facts.at(-1)).toMatchObject({ eventCount: events.length });
  });

  it('names its model: as asked for, else as its calls had it, else as the agent takes it by itself', async () => {
    const { run, gateway } = scene();
    const adapter = { ...fakeAdapter('plain'), defaultModelId: 'its-own' };
    expect(await run(adapter, { model: 'asked' })).toMatchObject({ model: 'asked' });
    expect(await run(adapter)).toMatchObject({ model: 'its-own' });
    expect(await run(fakeAdapter('crashing'))).toMatchObject({ model: 'default' });
    gateway.spend = { ...gateway.spend, calls: 1, fates: { upstreamModel: 'served', emulations: [], fidelity: [], answerFidelity: [] } };
    expect(await run(adapter)).toMatchObject({ model: 'served' });
    expect(await run(adapter, { model: 'asked' })).toMatchObject({ model: 'asked' });
  });

  it('is crashed when it dies, with the end of its error output', async () => {
    const { run } = scene();
    const handle = run(fakeAdapter('crashing'));
    const events = await eventsOf(handle);
    expect(events.at(-1)).toMatchObject({ type: 'crash', exitCode: 3, stderr: 'something broke\n' });
    expect(await handle).toMatchObject({
      exitReason: 'crashed',
      exitCode: 3,
      error: { code: 'AGENT_CRASH', stderr: 'something broke\n', recoverable: true },
    });
    expect(handle.state).toBe('crashed');
  });

  it('is failed by what it says, whatever its exit code', async () => {
    const { run } = scene();
    const handle = run(fakeAdapter('liar'));
    expect(await handle).toMatchObject({
      exitReason: 'failed',
      exitCode: 0,
      error: { code: 'RATE_LIMITED', message: 'the model said 429' },
    });
  });

  it('is tried again while it has not acted', async () => {
    const { run } = scene();
    const retryPolicy = { maxAttempts: 3, baseDelayMs: 1, maxDelayMs: 2, jitterFactor: 0, retryOn: ['RATE_LIMITED'] };
    const handle = run(fakeAdapter('liar'), { retryPolicy });
    const retries = (await eventsOf(handle)).filter(({ type }) => type === 'retry');
    expect(retries).toMatchObject([
      { attempt: 2, maxAttempts: 3, reason: 'RATE_LIMITED', delayMs: 1 },
      { attempt: 3, maxAttempts: 3, reason: 'RATE_LIMITED', delayMs: 2 },
    ]);
    const others = run(fakeAdapter('liar'), { retryPolicy, env: { FAKE_CODE: 'CONTEXT_EXCEEDED' } });
    expect(types(await eventsOf(others))).not.toContain('retry');
  });
});

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/base/json.ts';
import { newRunId } from '../../src/contract/run-id.ts';
import { appendRunEvents } from '../../src/store/runs/run-events.ts';
import { createRun, endRun } from '../../src/store/runs/runs.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';

const WORDS = 400;
const run = newRunId();
let server: TestGateway;

beforeAll(async () => {
  server = await startGateway();
  const { store, home } = server.gateway;
  await createRun(store, { runId: run, agent: 'claude', node: home.nodeId, keyId: null, options: {}, createdAt: Date.now() });
  const base = { runId: run, agent: 'claude', timestamp: 1 };
  const deltas = Array.from({ length: WORDS }, (_, at) => ({ ...base, type: 'text_delta', delta: `word ${at} ` }));
  const events: JsonObject[] = [
    { ...base, type: 'message_start' },
    ...deltas,
    { ...base, type: 'message_stop', text: deltas.map(({ delta }) => delta).join('') },
    { ...base, type: 'message_start' },
    { ...base, type: 'text_delta', delta: 'another' },
  ];
  await appendRunEvents(
    store,
    run,
    events.map((event, at) => ({ sequence: at + 1, event })),
  );
  await endRun(store, run, { status: 'completed', result: { exitReason: 'completed' }, at: Date.now() });
});
afterAll(() => server.close());

async function eventsAfter(after: number): Promise<{ text: string; events: { type: string; delta?: string; accumulated?: string }[] }> {
  const answer = await fetch(`${server.url}/v1/runs/${run}/events?after=${after}`, { headers: { 'x-abp-key': server.token } });
  const text = await answer.text();
  const lines = text.split('\n').filter((line) => line.startsWith('data: '));
  return { text, events: lines.map((line) => JSON.parse(line.slice('data: '.length))) };
}

describe('the events of a run', () => {
  it('grow with the text, not with its square: pieces repeat nothing, the closing event has the whole', async () => {
    const { text, events } = await eventsAfter(0);
    expect(events.filter((event) => 'accumulated' in event)).toEqual([]);
    expect(events.find(({ type }) => type === 'message_stop')).toMatchObject({
      text: expect.stringMatching(/^word 0 word 1 .* word 399 $/),
    });
    expect(text.length).toBeLessThan(WORDS * 250);
  });

  it('give a reader who comes late the text so far once', async () => {
    const { events } = await eventsAfter(3);
    const [first, second] = events;
    expect(first).toMatchObject({ delta: 'word 2 ', accumulated: 'word 0 word 1 word 2 ' });
    expect(second).toMatchObject({ delta: 'word 3 ' });
    expect(events.filter((event) => 'accumulated' in event)).toHaveLength(1);
  });
});

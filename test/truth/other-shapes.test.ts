import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type JsonObject, parseJsonObject } from '../../src/base/json.ts';
import { dialects } from '../../src/dialects/index.ts';
import { receiptOf } from '../support/receipt-of.ts';
import { meetings, ShapeScene, STRANGE, shapesFor, wordsOf } from './other-shapes.ts';
import { linesOf, newTally } from './tally.ts';

// Engines answer 200 with what is none of their answers: proxies, wrong addresses, servers that speak something else.

/** One shape in so many is tried here between each two parties; `npm run truth` tries all of them. */
const STEP = 10;

let scene: ShapeScene;
beforeAll(async () => {
  scene = await ShapeScene.open();
});
afterAll(() => scene.close());

const met = meetings().map((meeting, at) => ({ ...meeting, at }));

test.each(met)('what is no answer of $engine is an error to callers of $caller (streamed: $stream)', async ({ at, ...meeting }) => {
  const tally = newTally();
  for (const [nth, shape] of shapesFor(meeting).entries()) if ((nth + at) % STEP === 0) await scene.tryShape(meeting, shape, tally);
  expect(tally.tried).toBeGreaterThan(3);
  expect(linesOf(tally)).toEqual([]);
});

test.each(dialects.map(({ id }) => id))('callers of %s find such an error in the receipt', async (caller) => {
  for (const stream of [false, true]) {
    const engine = caller === 'gemini' ? 'openai-chat' : 'gemini';
    const { headers } = await scene.asked({ caller, engine, stream }, Buffer.from('{"error":{"message":"boom"}}'));
    expect(await receiptOf(scene.server.url, headers['x-abp-run-id'])).toMatchObject({
      ...{ status: 'failed', reason: 'engine_error', mode: 'mapped' },
      error: { code: 'engine_failed', message: 'boom' },
    });
  }
});

describe('a kind of failure that an engine names under a good status keeps its class', () => {
  const LIMITED: Readonly<Record<string, JsonObject>> = {
    claude: { type: 'error', error: { type: 'rate_limit_error', message: 'too fast' } },
    'openai-chat': { error: { message: 'too fast', type: 'requests', code: 'rate_limit_exceeded' } },
    'openai-responses': { error: { message: 'too fast', type: 'requests', code: 'rate_limit_exceeded' } },
    gemini: { error: { code: 429, message: 'too fast', status: 'RESOURCE_EXHAUSTED' } },
    kimi: { error: { message: 'too fast', type: 'rate_limit_reached_error' } },
    copilot: { error: { message: 'too fast', code: 'rate_limited' } },
  };

  test.each(met.filter(({ stream }) => !stream))('$engine → $caller', async (meeting) => {
    const { status, headers, body } = await scene.asked(meeting, Buffer.from(JSON.stringify(LIMITED[meeting.engine])));
    expect([status, headers['x-should-retry']]).toEqual([429, 'true']);
    expect(wordsOf(meeting.caller, parseJsonObject(body.toString()))).toContain('too fast');
  });
});

test.each(dialects)('callers of $id get whatever their own engine says, byte for byte', async ({ id }) => {
  for (const [name, text] of Object.entries(STRANGE))
    for (const stream of [false, true]) {
      const { status, body } = await scene.asked({ caller: id, engine: id, stream }, Buffer.from(text));
      expect([name, status, body.toString()]).toEqual([name, 200, text]);
    }
});

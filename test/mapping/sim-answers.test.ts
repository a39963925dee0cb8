import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { dialects } from '../../src/dialects/index.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { call } from '../support/http-call.ts';
import { receiptOf } from '../support/receipt-of.ts';

let server: TestGateway;
beforeAll(async () => {
  server = await startGateway();
});
afterAll(() => server.close());

const CELLS = dialects.map(({ id }) => `sim:${id}`);
const TOOL = { name: 'look', parameters: { type: 'object', properties: { n: { type: 'integer' } } } };

/** A Chat call on a cell; its answer as text. */
async function chat(cell: string, prompt: string, more: object = {}): Promise<{ status: number; text: string; run: string }> {
  const body = JSON.stringify({ model: 'sim-1', messages: [{ role: 'user', content: prompt }], ...more });
  const answer = await call(`${server.url}/e/${cell}/v1/chat/completions`, {
    method: 'POST',
    headers: ['content-type', 'application/json'],
    body,
  });
  return { status: answer.status, text: answer.body.toString(), run: String(answer.headers['x-abp-run-id']) };
}

const asTools = { tools: [{ type: 'function', function: TOOL }] };

test('the receipt says what became of everything in the answer, streamed or not', async () => {
  for (const stream of [false, true]) {
    const { run } = await chat('sim:gemini', 'show an image', { stream });
    const { answer_fidelity: fidelity = [], emulations } = await receiptOf(server.url, run);
    expect(emulations).toEqual([
      { capability: 'image_generation', strategy: { type: 'post_processing', detail: 'told as labelled text' } },
    ]);
    const path = 'candidates[*].content.parts[*]<inlineData>.inlineData<image>';
    expect(fidelity.find((entry) => entry.path === path)).toMatchObject({ fate: 'emulated', note: 'told as labelled text' });
    expect(fidelity.find((entry) => entry.path === 'candidates[*].finishReason')).toMatchObject({ fate: 'renamed' });
    expect(fidelity.find((entry) => entry.path === '(header request-id)')).toMatchObject({ fate: 'dropped' });
  }
});

describe.each(['sim', 'sim:claude'])('a stream on %s that does not tell its usage', (cell) => {
  const words = `say ${'many words '.repeat(40)}`;

  test('is estimated', async () => {
    const { run } = await chat('sim', words, { stream: true });
    const { usage } = await receiptOf(server.url, run);
    expect(usage?.estimated).toBe(true);
    expect(usage?.output_tokens).toBeGreaterThan(60);
    expect(usage?.output_tokens).toBeLessThan(400);
    expect(usage?.input_tokens).toBeGreaterThan(60);
  });

  test('is estimated when it breaks off', async () => {
    const { run } = await chat(cell, `${words}\ncut the stream`, { stream: true });
    const receipt = await receiptOf(server.url, run);
    expect(receipt.status).toBe('failed');
    expect(receipt.usage?.estimated).toBe(true);
    expect(receipt.usage?.output_tokens).toBeGreaterThan(20);
  });
});

describe.each(CELLS)('on %s a Chat caller', (cell) => {
  const own = cell === 'sim:openai-chat';

  test.each(['show an image', 'show audio', 'show a code execution', 'show a web search', 'show a document citation'])(
    'is never left without words: %s',
    async (prompt) => {
      const whole = await chat(cell, prompt);
      expect(whole.status).toBe(200);
      const streamed = await chat(cell, prompt, { stream: true });
      for (const { text } of [whole, streamed]) expect(text).toMatch(/(?:data:(?:image|audio)|"audio"|42|owls|Owls|hold )/);
    },
  );

  test('sees a failure as a failure', async () => {
    const failed = await chat(cell, 'end with status failed');
    expect(failed.text).toContain('sim was asked to end with the status failed');
    expect(failed.status).toBe(own ? 200 : 502);
    expect((await chat(cell, 'end with status failed', { stream: true })).text).toContain('sim was asked to end with the status failed');
  });

  test('is told of a page in place of an answer', async () => {
    const page = await chat(cell, 'send an HTML page');
    expect(page.text).toContain('502 Bad Gateway');
    expect(page.status).toBe(own ? 200 : 502);
  });

  test('reads that the prompt is too long in words of its own vendor', async () => {
    const { status, text } = await chat(cell, 'overflow the context');
    expect(status).toBe(400);
    expect(text).toContain('context_length_exceeded');
  });

  test('gets a compressed answer and one with a byte order mark', async () => {
    if (own) return;
    expect((await chat(cell, 'compress the answer. say hello')).text).toContain('hello');
    expect((await chat(cell, 'begin with a byte order mark. say hello')).text).toContain('hello');
    expect((await chat(cell, 'begin with a byte order mark. say hello', { stream: true })).text).toContain('hello');
  });

  test.each([true, false])('gets every digit of a large integer, streamed: %s', async (stream) => {
    const { text } = await chat(cell, 'call the tool look with {"n": 12345678901234567890}', { ...asTools, stream });
    expect(text.replaceAll(/"\}\}\]\},"logprobs.*?"arguments":"/gs, '')).toContain('12345678901234567890');
  });

  test('does not take a paused turn for a finished one', async () => {
    expect((await chat(cell, 'pause the turn. say so far')).text).toContain('"finish_reason":"length"');
  });

  test('sees a call that was cut as a limit that was reached', async () => {
    const { status, text } = await chat(cell, 'call the tool look with {"n": 1} and be cut in a tool call', asTools);
    expect([status, text.includes('"finish_reason":"length"')]).toEqual([200, true]);
  });
});

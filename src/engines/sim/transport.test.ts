import { describe, expect, test } from 'vitest';
import type { Json } from '../../base/json.ts';
import type { ExchangeSink } from '../../upstream/exchange.ts';
import { transport } from './transport.ts';

interface Told {
  readonly body: Json;
  /** Whether the engine is told what the bytes say, as by a caller in the same process. */
  readonly told: boolean;
  readonly path?: string;
  readonly dialect?: string;
}

/** The status and the whole answer of a call. */
async function answer({ body, told, path = '/v1/messages', dialect = 'claude' }: Told): Promise<{ status: number; text: string }> {
  let status = 0;
  const chunks: Buffer[] = [];
  await new Promise<void>((resolve, reject) => {
    const sink: ExchangeSink = {
      head: (given) => {
        status = given;
      },
      data: (chunk) => {
        chunks.push(chunk);
        return true;
      },
      end: () => resolve(),
      fail: ({ message }) => reject(new Error(message)),
    };
    transport(
      {
        ...{ method: 'POST', origin: '', path, headers: [], silenceMs: 1000, runHex: '0', dialect },
        body: Buffer.from(JSON.stringify(body)),
        ...(told ? { json: body } : {}),
      },
      sink,
    );
  });
  return { status, text: Buffer.concat(chunks).toString('utf8') };
}

function conversation(turns: number, last: string): Json {
  const past = Array.from({ length: turns }, (_, turn) => [
    { role: 'user', content: `say "${turn}"` },
    { role: 'assistant', content: String(turn) },
  ]).flat();
  return { model: 'sim-1', max_tokens: 100, messages: [...past, { role: 'user', content: last }] };
}

describe('the sim engine', () => {
  test('answers the same bytes whether it reads the request or is told what it says', async () => {
    const body = conversation(20, 'call the tool add with {"a":1}');
    const read = await answer({ body, told: false });
    expect(read.status).toBe(200);
    expect(await answer({ body, told: true })).toEqual(read);
  });

  test('gives the answers of a long conversation ids that do not repeat, and repeats them for the same conversation', async () => {
    const texts = await Promise.all([10, 11, 10].map((turns) => answer({ body: conversation(turns, 'say "hello"'), told: true })));
    const ids = texts.map(({ text }) => /"id":"(msg_\w+)"/.exec(text)?.[1]);
    expect(ids[0]).toMatch(/^msg_[0-9a-f]{24}$/);
    expect(ids[2]).toBe(ids[0]);
    expect(ids[1]).not.toBe(ids[0]);
  });

  test('names the place of what it refuses', async () => {
    const body = { model: 'sim-1', max_tokens: 1, messages: [{ role: 'user', content: [{ type: 'text' }] }] };
    const { status, text } = await answer({ body, told: true });
    expect(status).toBe(400);
    expect(text).toContain('messages[0].content[0]');
  });
});

test('an answer repeats of its request what the vendor repeats, and is in the form that the request asks for', async () => {
  const asked = { model: 'm', input: 'hi', instructions: 'be brief', temperature: 0.5, metadata: { k: 'v' } };
  const { text } = await answer({ body: asked, told: false, path: '/v1/responses', dialect: 'openai-responses' });
  expect(JSON.parse(text)).toMatchObject({ instructions: 'be brief', temperature: 0.5, metadata: { k: 'v' } });
  const messages = [{ role: 'user', content: 'Call the tool f with {"a":1}.' }];
  const legacy = { model: 'm', messages, functions: [{ name: 'f', parameters: { type: 'object' } }] };
  const called = await answer({ body: legacy, told: false, path: '/v1/chat/completions', dialect: 'openai-chat' });
  expect(JSON.parse(called.text)).toMatchObject({
    choices: [{ message: { function_call: { name: 'f', arguments: '{"a":1}' } }, finish_reason: 'function_call' }],
  });
});

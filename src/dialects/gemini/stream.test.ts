import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { GoogleGenAI } from '@google/genai';
import { describe, expect, onTestFinished, test } from 'vitest';
import { decodeSse, SseFrames } from '../../base/sse.ts';
import type { IrEvent } from '../../ir/event.ts';
import { Fold } from '../../ir/fold.ts';
import { Ledger } from '../../ir/ledger.ts';
import { NO_USAGE } from '../../ir/usage.ts';
import type { AnswerContext } from '../dialect.ts';
import { liftRequest } from './lift.ts';
import { observeBody } from './observe.ts';
import { emitter, stepper } from './stream.ts';

const usage = { ...NO_USAGE, inputTokens: 10, outputTokens: 7, thinkingTokens: 2 };

/** An answer as another engine gives it: signed reasoning, text, and two calls whose arguments come interleaved. */
const foreign: IrEvent[] = [
  { type: 'message-start', id: 'msg_1', model: 'claude-sonnet-4-5', usage: { ...NO_USAGE, inputTokens: 10 } },
  { type: 'part-start', index: 0, part: { kind: 'thinking' } },
  { type: 'part-delta', index: 0, text: 'Let me ' },
  { type: 'part-delta', index: 0, text: 'see.' },
  { type: 'part-end', index: 0, meta: { claude: { signature: 'c2ln' } } },
  { type: 'part-start', index: 1, part: { kind: 'thinking', redacted: true, meta: { claude: { data: 'ZGF0YQ==' } } } },
  { type: 'part-end', index: 1 },
  { type: 'keep-alive' },
  { type: 'part-start', index: 2, part: { kind: 'text' } },
  { type: 'part-delta', index: 2, text: 'Both “at” once.' },
  { type: 'part-end', index: 2 },
  { type: 'part-start', index: 3, part: { kind: 'tool-call', id: 'toolu_a', name: 'look' } },
  { type: 'part-start', index: 4, part: { kind: 'tool-call', id: 'toolu_b', name: 'look', meta: { 'openai-responses': { id: 'rs_1' } } } },
  { type: 'part-delta', index: 3, text: '{"at":' },
  { type: 'part-delta', index: 4, text: '{}' },
  { type: 'part-delta', index: 3, text: '"Rome"}' },
  { type: 'part-end', index: 4 },
  { type: 'part-end', index: 3 },
  { type: 'message-end', finish: 'tool-calls', usage },
];

function context(query: string): AnswerContext {
  return { runHex: 'ab'.repeat(16), createdAtMs: 0, model: 'gemini-2.5-flash', includeUsage: true, query };
}

function write(events: readonly IrEvent[], query = '?alt=sse'): string {
  const out = emitter(context(query));
  return events.map((event) => out.emit(event)).join('');
}

interface Chunk {
  readonly candidates: { readonly content: { readonly parts: Record<string, unknown>[] }; readonly finishReason?: string }[];
  readonly usageMetadata?: unknown;
}

function partsOf(chunks: readonly Chunk[]): Record<string, unknown>[] {
  return chunks.flatMap((chunk) => chunk.candidates[0]?.content.parts ?? []);
}

describe('a written stream', () => {
  test('is CRLF frames with alt=sse, and a JSON array without', () => {
    const sse = write(foreign);
    expect(emitter(context('?alt=sse&key=x')).contentType).toBe('text/event-stream');
    expect(
      sse
        .split('\r\n\r\n')
        .filter(Boolean)
        .every((frame) => /^data: \{[^\n]*\}$/.test(frame)),
    ).toBe(true);
    const array = write(foreign, '?key=x');
    expect(emitter(context('')).contentType).toBe('application/json; charset=UTF-8');
    const chunks: Chunk[] = JSON.parse(array);
    expect(partsOf(chunks)).toEqual(
      partsOf(
        sse
          .split('\r\n\r\n')
          .filter(Boolean)
          .map((frame) => JSON.parse(frame.slice(6))),
      ),
    );
    expect(chunks.filter((chunk) => chunk.candidates[0]?.finishReason !== undefined)).toHaveLength(1);
    expect(chunks.at(-1)).toMatchObject({
      candidates: [{ finishReason: 'STOP', index: 0 }],
      usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 5, thoughtsTokenCount: 2, totalTokenCount: 17 },
      modelVersion: 'gemini-2.5-flash',
      responseId: 'msg_1',
    });
  });

  test('has calls whole, and the state of other engines in signatures that come back', () => {
    const parts = partsOf(JSON.parse(write(foreign, '')));
    expect(parts.filter((part) => part.functionCall !== undefined)).toMatchObject([
      { functionCall: { id: 'toolu_b', name: 'look', args: {} } },
      { functionCall: { id: 'toolu_a', name: 'look', args: { at: 'Rome' } } },
    ]);
    const { messages } = liftRequest({ contents: [{ role: 'model', parts }] } as never, { ledger: new Ledger(), model: 'm' }); // JSON
    const [message] = messages;
    expect(message?.parts.map(({ kind, meta }) => [kind, meta])).toEqual([
      ['thinking', { claude: { signature: 'c2ln' } }],
      ['thinking', { claude: { data: 'ZGF0YQ==' } }],
      ['text', undefined],
      ['tool-call', { 'openai-responses': { id: 'rs_1' } }],
      ['tool-call', undefined],
    ]);
    expect(message?.parts[0]).toMatchObject({ text: 'Let me see.' });
    expect(message?.parts[1]).toMatchObject({ redacted: true });
  });

  test('ends with a malformed call where arguments are not JSON', () => {
    const events: IrEvent[] = [
      { type: 'part-start', index: 0, part: { kind: 'tool-call', id: 'a', name: 'f' } },
      { type: 'part-delta', index: 0, text: '{"cut' },
      { type: 'part-end', index: 0 },
    ];
    const end = (finish: 'tool-calls' | 'length'): unknown =>
      JSON.parse(write([...events, { type: 'message-end', finish, usage: NO_USAGE }], ''))[0].candidates[0].finishReason;
    expect(end('tool-calls')).toBe('MALFORMED_FUNCTION_CALL');
    expect(end('length')).toBe('MAX_TOKENS');
  });

  test('that fails ends with the error in its framing', () => {
    const failed: IrEvent[] = [{ type: 'error', error: { kind: 'server', message: 'oops', status: 500 } }];
    expect(write(failed)).toBe('data: {"error":{"code":500,"message":"oops","status":"INTERNAL"}}\r\n\r\n');
    expect(write(failed, '')).toBe('[{"error":{"code":500,"message":"oops","status":"INTERNAL"}}]');
  });
});

describe('a stream that is read', () => {
  const step = (...chunks: readonly unknown[]): IrEvent[] => {
    const reader = stepper();
    return [...chunks.flatMap((chunk) => reader.step({ event: '', data: JSON.stringify(chunk) })), ...reader.end(), ...reader.end()];
  };
  const say = (text: string): object => ({ candidates: [{ content: { parts: [{ text }] } }] });

  test('that was cut is one error, with what had arrived', () => {
    expect(step(say('Par')).map(({ type }) => type)).toEqual(['message-start', 'part-start', 'part-delta', 'error']);
  });

  test('skips what it does not know', () => {
    const reader = stepper();
    expect([...reader.step({ event: '', data: 'no json' }), ...reader.step({ event: '', data: '7' })]).toEqual([]);
  });

  test('takes usage from wherever it comes, once', () => {
    const events = step(
      say('a'),
      { candidates: [{ finishReason: 'STOP' }], usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 1 } },
      { usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 2, thoughtsTokenCount: 5 } },
    );
    expect(events.at(-1)).toMatchObject({ type: 'message-end', usage: { inputTokens: 3, outputTokens: 7, thinkingTokens: 5 } });
  });

  test('puts arguments together that arrive value by value', () => {
    const call = (functionCall: object): object => ({ candidates: [{ content: { parts: [{ functionCall }] } }] });
    const partial = (jsonPath: string, value: object): object => call({ partialArgs: [{ jsonPath, ...value }], willContinue: true });
    const events = step(
      call({ name: 'book', willContinue: true }),
      partial('$.guests[0].name', { stringValue: 'A' }),
      partial('$.guests[0].name', { stringValue: 'da' }),
      partial('$.guests[1].age', { numberValue: 36 }),
      partial("$['two words']", { boolValue: false }),
      partial('$.__proto__.x', { nullValue: 'NULL_VALUE' }),
      partial('$.guests[99999999]', { numberValue: 1 }),
      call({}),
      { candidates: [{ finishReason: 'STOP' }] },
    );
    expect(events.find((event) => event.type === 'part-delta')).toMatchObject({
      text: '{"guests":[{"name":"Ada"},{"age":36}],"two words":false,"__proto__":{"x":null}}',
    });
    expect(({} as { x?: unknown }).x).toBeUndefined();
  });

  test('without SSE is one body, observed as a whole', () => {
    const seen = observeBody(write(foreign, ''));
    expect(seen.usage).toEqual(usage);
    expect(seen.finish).toBe('tool-calls');
    expect(seen.toolCalls.map(({ arguments: text }) => text)).toEqual(['{}', '{"at":"Rome"}']);
    expect(observeBody('{"error":{"code":503,"message":"busy","status":"UNAVAILABLE"}}')).toEqual({ toolCalls: [], error: 'busy' });
  });
});

describe("Google's own SDK", () => {
  async function serve(status: number, type: string, body: string): Promise<GoogleGenAI> {
    const server = createServer((_request, response) => response.writeHead(status, { 'content-type': type }).end(body));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => {
      server.close();
    });
    // A server that listens on TCP has such an address.
    const { port } = server.address() as AddressInfo;
    return new GoogleGenAI({ apiKey: 'x', httpOptions: { baseUrl: `http://127.0.0.1:${port}` } });
  }

  test('reads a written stream, and its chat keeps the whole turn', async () => {
    const ai = await serve(200, 'text/event-stream', write(foreign));
    const chat = ai.chats.create({ model: 'gemini-2.5-flash' });
    let text = '';
    const calls: unknown[] = [];
    for await (const chunk of await chat.sendMessageStream({ message: 'go' })) {
      for (const part of chunk.candidates?.[0]?.content?.parts ?? []) text += part.thought === true ? '' : (part.text ?? '');
      calls.push(...(chunk.functionCalls ?? []));
    }
    expect(text).toBe('Both “at” once.');
    expect(calls).toEqual([
      { id: 'toolu_b', name: 'look', args: {} },
      { id: 'toolu_a', name: 'look', args: { at: 'Rome' } },
    ]);
    const kept = JSON.stringify(chat.getHistory());
    expect(kept).toContain('Let me ');
    expect(kept).toContain('thoughtSignature');
  });

  test('throws its own error for a failure in a stream', async () => {
    const ai = await serve(
      200,
      'text/event-stream',
      write([...foreign.slice(0, 4), { type: 'error', error: { kind: 'overloaded', message: 'busy', status: 529 } }]),
    );
    const stream = await ai.models.generateContentStream({ model: 'gemini-2.5-flash', contents: 'go' });
    await expect(
      (async () => {
        for await (const _chunk of stream);
      })(),
    ).rejects.toMatchObject({ status: 503 });
  });
});

test('a stream read and folded equals what was written', () => {
  const frames = new SseFrames();
  const reader = stepper();
  const fold = new Fold();
  for (const frame of frames.push(Buffer.from(write(foreign)))) for (const event of reader.step(decodeSse(frame))) fold.push(event);
  for (const event of reader.end()) fold.push(event);
  expect(fold.response()?.usage).toEqual(usage);
  expect(fold.response()?.parts.map(({ kind }) => kind)).toEqual(['thinking', 'thinking', 'text', 'tool-call', 'tool-call']);
});

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { encodeSse } from '../../src/base/sse.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { readyHome } from '../support/ready-home.ts';
import { receiptOf } from '../support/receipt-of.ts';
import { chunk, chunkedHead, lastChunk, type RecordingUpstream, startUpstream, whole } from '../support/recording-upstream.ts';

let upstream: RecordingUpstream;
let server: TestGateway;
beforeAll(async () => {
  upstream = await startUpstream();
  server = await startOn();
});
afterAll(async () => {
  await server.close();
  await upstream.close();
});

async function startOn(home?: string): Promise<TestGateway> {
  const engine = { url: upstream.url, key: 'k' };
  return await startGateway({ engines: { openai: engine, claude: engine, gemini: engine }, ...(home === undefined ? {} : { home }) });
}

function answer(body: string | Buffer | object, ...headers: string[]): void {
  const bytes = typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body);
  upstream.answer((socket) => {
    socket.write(whole(bytes, { headers: ['content-type: application/json', ...headers] }));
  });
}

/** Tokens read and written, the tier and the cost that the receipt of a call tells. */
async function told(path: string, init: RequestInit = {}, at = server): Promise<unknown> {
  const response = await fetch(`${at.url}/e/${path}`, init);
  await response.arrayBuffer().catch(() => undefined);
  const { usage, cost } = await receiptOf(at.url, response.headers.get('x-abp-run-id') ?? '');
  return usage === null ? null : [usage.input_tokens, usage.output_tokens, usage.details?.tier ?? null, cost?.nano_usd ?? null];
}

const post = (body: object): RequestInit => ({ method: 'POST', body: JSON.stringify(body) });
const usage = { prompt_tokens: 1000, completion_tokens: 100, total_tokens: 1100 };
const choices = [{ index: 0, message: { role: 'assistant', content: 'x' }, finish_reason: 'stop' }];
const row = (id: number, body: object, status = 200) =>
  JSON.stringify({
    id: `batch_req_${id}`,
    custom_id: `c${id}`,
    response: { status_code: status, request_id: `r${id}`, body },
    error: null,
  });
const chatRow = (id: number) => row(id, { id: `chatcmpl-${id}`, object: 'chat.completion', model: 'gpt-4o', choices, usage });
const rows = (...ids: number[]) => `${ids.map(chatRow).join('\n')}\n`;

/** By hand: half of 1000×2.50 + 100×10, for each row. */
const ROW = 1_750_000;

test('the output of a batch counts when it is read first, also compressed, and never again', async () => {
  const output = `${rows(1, 2)}${row(3, { error: { message: 'no' } }, 400)}\n`;
  answer(gzipSync(output), 'content-encoding: gzip');
  expect(await told('openai/v1/files/file-a/content')).toEqual([2000, 200, 'batch', 2 * ROW]);
  answer(output);
  for (const _again of [1, 2]) expect(await told('openai/v1/files/file-a/content')).toBeNull();
});

test('answers of every kind count in a batch', async () => {
  const response = { id: 'resp_1', object: 'response', model: 'gpt-4o', status: 'completed', output: [] };
  const lines = [
    row(1, { ...response, usage: { input_tokens: 1000, output_tokens: 100 } }),
    row(2, {
      object: 'list',
      model: 'text-embedding-3-small',
      data: [{ embedding: [1, 2] }],
      usage: { prompt_tokens: 1000, total_tokens: 1000 },
    }),
  ];
  answer(lines.join('\n'));
  // The embedding costs half of 1000×0.02.
  expect(await told('openai/v1/files/file-kinds/content')).toEqual([1000, 100, 'batch', ROW + 10_000]);
});

test('a reading that breaks off counts what it had, and the next one the rest', async () => {
  const length = Buffer.byteLength(rows(1, 2, 3, 4));
  upstream.answer((socket) => {
    socket.write(`HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n\r\n${rows(1, 2, 3)}`);
    socket.end();
  });
  expect(await told('openai/v1/files/file-cut/content')).toEqual([3000, 300, 'batch', 3 * ROW]);
  answer(rows(1, 2, 3, 4));
  expect(await told('openai/v1/files/file-cut/content')).toEqual([1000, 100, 'batch', ROW]);
  expect(await told('openai/v1/files/file-cut/content')).toBeNull();
});

test('two readers at once count a result once', async () => {
  answer(rows(1, 2));
  const both = await Promise.all([told('openai/v1/files/file-two/content'), told('openai/v1/files/file-two/content')]);
  expect(both.sort()).toEqual([[2000, 200, 'batch', 2 * ROW], null]);
});

test('what was counted is known to the next process on the home', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'abp-counted-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const home = readyHome(join(folder, 'home')).path;
  answer(rows(1));
  const first = await startOn(home);
  expect(await told('openai/v1/files/file-b/content', {}, first)).toEqual([1000, 100, 'batch', ROW]);
  await first.close();
  const second = await startOn(home);
  onTestFinished(second.close);
  expect(await told('openai/v1/files/file-b/content', {}, second)).toBeNull();
});

test('a part of a file, and a file of something else, count nothing', async () => {
  upstream.answer((socket) => {
    socket.write(
      whole(rows(1), { status: '206 Partial Content', headers: ['content-type: application/json', 'content-range: bytes 0-9/99'] }),
    );
  });
  expect(await told('openai/v1/files/file-c/content')).toBeNull();
  answer('{"messages":[]}\nnot json\n\u0000\u0001');
  expect(await told('openai/v1/files/file-d/content')).toBeNull();
});

test('Claude’s results go by the length of each, not of all together', async () => {
  const message = { id: 'msg', type: 'message', role: 'assistant', model: 'claude-sonnet-4-5', content: [], stop_reason: 'end_turn' };
  const line = (id: number) =>
    JSON.stringify({
      custom_id: `c${id}`,
      result: { type: 'succeeded', message: { ...message, usage: { input_tokens: 100_000, output_tokens: 100, service_tier: 'batch' } } },
    });
  const errored = JSON.stringify({ custom_id: 'c4', result: { type: 'errored', error: { type: 'error' } } });
  answer([line(1), line(2), line(3), errored].join('\n'));
  // Half of 300000×3 + 300×15.
  expect(await told('claude/v1/messages/batches/msgbatch_1/results')).toEqual([300_000, 300, 'batch', 452_250_000]);
  expect(await told('claude/v1/messages/batches/msgbatch_1/results')).toBeNull();
});

test('Gemini’s batches count when they are first seen to be done, and so do their files', async () => {
  answer({ name: 'batches/b', metadata: { state: 'BATCH_STATE_RUNNING' } });
  expect(await told('gemini/v1beta/batches/b')).toBeNull();
  const response = {
    candidates: [{ content: { parts: [{ text: 'x' }] }, finishReason: 'STOP' }],
    usageMetadata: { promptTokenCount: 1000, candidatesTokenCount: 100 },
    modelVersion: 'gemini-2.5-flash',
  };
  answer({
    name: 'batches/b',
    done: true,
    metadata: { model: 'models/gemini-2.5-flash', state: 'BATCH_STATE_SUCCEEDED' },
    response: { inlinedResponses: { inlinedResponses: [{ response }, { error: { code: 3 } }, { response }] } },
  });
  // Half of 2 × (1000×0.30 + 100×2.50).
  expect(await told('gemini/v1beta/batches/b')).toEqual([2000, 200, 'batch', 550_000]);
  expect(await told('gemini/v1beta/batches/b')).toBeNull();
  answer(`${JSON.stringify({ key: 'a', response })}\n${JSON.stringify({ key: 'b', error: {} })}\n`);
  expect(await told('gemini/download/v1beta/files/f:download?alt=media')).toEqual([1000, 100, 'batch', 275_000]);
  expect(await told('gemini/download/v1beta/files/f:download?alt=media')).toBeNull();
});

const begun = { id: 'resp_b', object: 'response', model: 'gpt-5', background: true, status: 'queued', output: [], usage: null };
const ended = { ...begun, status: 'completed', usage: { input_tokens: 1000, output_tokens: 100 } };

test('a response in the background counts when its end is first asked for', async () => {
  answer(begun);
  expect(await told('openai/v1/responses', post({ model: 'gpt-5', input: 'hi', background: true }))).toBeNull();
  expect(await told('openai/v1/responses/resp_b')).toBeNull();
  answer(ended);
  expect(await told('openai/v1/responses/resp_b')).toEqual([1000, 100, null, 2_250_000]);
  expect(await told('openai/v1/responses/resp_b')).toBeNull();
});

function stream(...events: object[]): void {
  upstream.answer((socket) => {
    const frames = events.map((event) => encodeSse({ event: String(Reflect.get(event, 'type')), data: JSON.stringify(event) }));
    socket.write(chunkedHead());
    for (const frame of frames) socket.write(chunk(frame));
    socket.write(lastChunk());
  });
}

test('a stream in the background counts once: at its end, or with whoever asks for it after it broke off', async () => {
  const asks = post({ model: 'gpt-5', input: 'hi', background: true, stream: true });
  stream(
    { type: 'response.created', response: { ...begun, id: 'resp_s' } },
    { type: 'response.completed', response: { ...ended, id: 'resp_s' } },
  );
  expect(await told('openai/v1/responses', asks)).toEqual([1000, 100, null, 2_250_000]);
  answer({ ...ended, id: 'resp_s' });
  expect(await told('openai/v1/responses/resp_s')).toBeNull();
  stream(
    { type: 'response.created', response: { ...begun, id: 'resp_t' } },
    { type: 'response.output_text.delta', delta: 'words and more words' },
  );
  expect(await told('openai/v1/responses', asks)).toBeNull();
  answer({ ...ended, id: 'resp_t' });
  expect(await told('openai/v1/responses/resp_t')).toEqual([1000, 100, null, 2_250_000]);
});

test('an interaction counts with its answer, or with its end where it was worked on in the background', async () => {
  const done = { id: 'i1', model: 'gemini-2.5-flash', status: 'completed', usage: { total_input_tokens: 1000, total_output_tokens: 100 } };
  answer(done);
  expect(await told('gemini/v1beta/interactions', post({ input: 'hi' }))).toEqual([1000, 100, null, 550_000]);
  expect(await told('gemini/v1beta/interactions/i1')).toBeNull();
  answer({ id: 'i2', status: 'in_progress' });
  expect(await told('gemini/v1beta/interactions', post({ input: 'hi', background: true }))).toBeNull();
  answer({ ...done, id: 'i2' });
  expect(await told('gemini/v1beta/interactions/i2')).toEqual([1000, 100, null, 550_000]);
  expect(await told('gemini/v1beta/interactions/i2')).toBeNull();
});

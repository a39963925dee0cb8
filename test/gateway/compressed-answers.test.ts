import { brotliCompressSync, createGzip, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { post } from '../support/http-call.ts';
import { receiptOf } from '../support/receipt-of.ts';
import { chunk, chunkedHead, lastChunk, type RecordingUpstream, startUpstream, whole } from '../support/recording-upstream.ts';

let server: TestGateway;
let upstream: RecordingUpstream;

beforeAll(async () => {
  upstream = await startUpstream();
  server = await startGateway({ engines: { claude: { url: upstream.url, key: 'sk-test' } } });
});
afterAll(async () => {
  await server.close();
  await upstream.close();
});

const ask = { model: 'claude/m', messages: [{ role: 'user', content: 'x' }] };
const message = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'm',
  content: [{ type: 'text', text: 'hello' }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 3, output_tokens: 1 },
};

const ENCODERS = { gzip: gzipSync, br: brotliCompressSync, deflate: deflateSync, zstd: zstdCompressSync };
const EVENTS = [
  { type: 'message_start', message: { ...message, content: [], stop_reason: null } },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'hello' } },
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 9 } },
  { type: 'message_stop' },
]
  .map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
  .join('');

function compressed(status: string, body: Buffer, more = ''): void {
  upstream.answer((socket) => {
    const head = `HTTP/1.1 ${status}\r\ncontent-type: application/json\r\ncontent-encoding: gzip\r\n${more}content-length: ${body.length}\r\n\r\n`;
    socket.write(Buffer.concat([Buffer.from(head), body]));
  });
}

describe('an engine that compresses its answer to a translated request', () => {
  it('was asked not to, and is read all the same', async () => {
    compressed('200 OK', gzipSync(JSON.stringify(message)));
    const answer = await post(`${server.url}/v1/chat/completions`, ask);
    expect(JSON.parse(answer.body.toString()).choices[0].message.content).toBe('hello');
    expect(upstream.requests.at(-1)?.headers).toEqual(expect.arrayContaining([['accept-encoding', 'identity']]));
  });

  it('is read when it reports an error, with when to come back', async () => {
    const error = { type: 'error', error: { type: 'rate_limit_error', message: 'slow down' } };
    compressed('429 Too Many Requests', gzipSync(JSON.stringify(error)), 'retry-after: 7\r\n');
    const answer = await post(`${server.url}/v1/chat/completions`, ask);
    expect([answer.status, answer.headers['retry-after'], JSON.parse(answer.body.toString()).error.message]).toEqual([
      429,
      '7',
      'Rate limit reached (slow down)',
    ]);
  });

  it('is reported when its answer cannot be decompressed', async () => {
    compressed('200 OK', Buffer.from('not gzip'));
    const garbled = await post(`${server.url}/v1/chat/completions`, ask);
    expect([garbled.status, garbled.body.toString()]).toEqual([502, expect.stringContaining('cannot be decompressed')]);
  });

  it.each(Object.entries(ENCODERS))('is read event by event while it streams through %s', async (encoding, encode) => {
    const bytes = encode(Buffer.from(EVENTS));
    const half = Math.floor(bytes.length / 2);
    upstream.answer((socket) => {
      socket.write(chunkedHead(['content-type: text/event-stream', `content-encoding: ${encoding}`]));
      socket.write(chunk(bytes.subarray(0, half)));
      socket.write(chunk(bytes.subarray(half)));
      socket.write(lastChunk());
    });
    const answer = await post(`${server.url}/v1/chat/completions`, { ...ask, stream: true, stream_options: { include_usage: true } });
    const text = answer.body.toString();
    expect([answer.status, text.includes('"content":"hello"'), text.endsWith('data: [DONE]\n\n')]).toEqual([200, true, true]);
    expect(await receiptOf(server.url, answer.headers['x-abp-run-id'])).toMatchObject({
      status: 'completed',
      usage: { input_tokens: 3, output_tokens: 9 },
      response: { bytes: bytes.length },
    });
  });

  it('passes on each event as soon as its bytes have come', async () => {
    const gzip = createGzip();
    const packed: Buffer[] = [];
    gzip.on('data', (bytes: Buffer) => packed.push(bytes));
    const flushed = async (text: string): Promise<Buffer> => {
      gzip.write(text);
      await new Promise<void>((resolve) => gzip.flush(() => resolve()));
      return Buffer.concat(packed.splice(0));
    };
    const at = EVENTS.indexOf('event: content_block_stop');
    const first = await flushed(EVENTS.slice(0, at));
    const second = Promise.withResolvers<void>();
    upstream.answer(async (socket) => {
      socket.write(chunkedHead(['content-type: text/event-stream', 'content-encoding: gzip']));
      socket.write(chunk(first));
      await second.promise;
      socket.write(chunk(await flushed(EVENTS.slice(at))));
      socket.write(lastChunk());
    });
    const answer = await fetch(`${server.url}/v1/chat/completions`, { method: 'POST', body: JSON.stringify({ ...ask, stream: true }) });
    const reader = answer.body?.getReader();
    let text = '';
    while (!text.includes('hello')) text += Buffer.from((await reader?.read())?.value ?? '').toString();
    second.resolve();
    for (let piece = await reader?.read(); piece?.done === false; piece = await reader?.read()) text += Buffer.from(piece.value).toString();
    expect(text).toContain('[DONE]');
  });

  it('is an error event when a stream cannot be decompressed on, and 502 where nobody knows how', async () => {
    upstream.answer((socket) => {
      const bytes = gzipSync(EVENTS.slice(0, EVENTS.indexOf('event: content_block_stop')));
      socket.write(chunkedHead(['content-type: text/event-stream', 'content-encoding: gzip']));
      socket.write(chunk(Buffer.concat([bytes.subarray(0, bytes.length - 12), Buffer.from('these are no compressed bytes at all')])));
      socket.write(lastChunk());
    });
    const spoiled = await post(`${server.url}/v1/chat/completions`, { ...ask, stream: true });
    expect([spoiled.status, spoiled.body.toString()]).toEqual([200, expect.stringContaining('cannot be decompressed')]);
    expect(await receiptOf(server.url, spoiled.headers['x-abp-run-id'])).toMatchObject({ status: 'failed', reason: 'engine_error' });
    upstream.answer(
      (socket) => void socket.write(whole('x', { headers: ['content-type: text/event-stream', 'content-encoding: snappy'] })),
    );
    const unknown = await post(`${server.url}/v1/chat/completions`, { ...ask, stream: true });
    expect([unknown.status, unknown.body.toString()]).toEqual([502, expect.stringContaining('it is compressed (snappy)')]);
    expect(await receiptOf(server.url, unknown.headers['x-abp-run-id'])).toMatchObject({ status: 'failed', reason: 'untranslatable' });
  });
});

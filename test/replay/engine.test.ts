import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { call, post, rawCall, send, type WireAnswer } from '../support/http-call.ts';
import { receiptOf } from '../support/receipt-of.ts';
import { chunk, chunkedHead, lastChunk, type RecordingUpstream, startUpstream, whole } from '../support/recording-upstream.ts';

let server: TestGateway;
let upstream: RecordingUpstream;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'abp-replay-'));
  upstream = await startUpstream();
  server = await startGateway({ engines: { claude: { url: upstream.url }, openai: { url: upstream.url, key: 'k' } } });
});
afterAll(async () => {
  await server.close();
  await upstream.close();
  rmSync(folder, { recursive: true, force: true });
});

const say = 'say "the quick brown fox — naïve 😀"';
const chat = { model: 'sim-1', messages: [{ role: 'user', content: say }] };
const gemini = { contents: [{ role: 'user', parts: [{ text: say }] }] };
const claude = { model: 'sim-1', max_tokens: 100, messages: [{ role: 'user', content: say }] };

/** A request of each dialect, whole and streamed. */
const REQUESTS: readonly (readonly [dialect: string, path: string, body: object])[] = [
  ['claude', '/v1/messages', claude],
  ['claude', '/v1/messages?beta=true', { ...claude, stream: true }],
  ['claude', '/v1/messages/count_tokens', claude],
  ['openai-chat', '/v1/chat/completions', chat],
  ['openai-chat', '/v1/chat/completions', { ...chat, stream: true, stream_options: { include_usage: true } }],
  ['openai-responses', '/v1/responses', { model: 'sim-1', input: say }],
  ['openai-responses', '/v1/responses', { model: 'sim-1', input: say, stream: true }],
  ['gemini', '/v1beta/models/sim-1:generateContent', gemini],
  ['gemini', '/v1beta/models/sim-1:streamGenerateContent?alt=sse', gemini],
  ['gemini', '/v1beta/models/sim-1:streamGenerateContent', gemini],
  ['kimi', '/kimi/v1/chat/completions', chat],
  ['kimi', '/kimi/v1/chat/completions', { ...chat, stream: true }],
  ['copilot', '/copilot/chat/completions', { ...chat, stream: true }],
];

/** The answer's bytes on the connection, framing included, without what belongs to this run or moment. */
async function onTheWire(url: string, body: string): Promise<string> {
  const { host, pathname, search } = new URL(url);
  const head = `POST ${pathname}${search} HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n`;
  const raw = await rawCall(url, Buffer.from(head + body));
  return raw.replace(/^(?:x-abp-[a-z-]+|date): .*\r\n/gim, '');
}

const settled = (of: WireAnswer): ReturnType<typeof receiptOf> => receiptOf(server.url, of.headers['x-abp-run-id']);
describe('a recorded run is served again byte for byte, chunk by chunk', () => {
  it.each(REQUESTS)('in %s at %s', async (_, path, request) => {
    const body = JSON.stringify(request);
    const original = await onTheWire(`${server.url}/e/sim${path}`, body);
    expect(original).toContain('HTTP/1.1 200');
    expect(await onTheWire(`${server.url}/e/replay${path}`, body)).toBe(original);
  });

  it('also when it was mapped', async () => {
    for (const stream of [false, true]) {
      const body = JSON.stringify({ ...claude, stream });
      const original = await onTheWire(`${server.url}/e/sim:gemini/v1/messages`, body);
      expect(await onTheWire(`${server.url}/e/replay/v1/messages`, body)).toBe(original);
    }
  });

  it('also when it is a token count that we estimated', async () => {
    const body = JSON.stringify({ ...claude, max_tokens: 77 });
    const original = await onTheWire(`${server.url}/e/sim:openai-chat/v1/messages/count_tokens`, body);
    expect(original).toContain('input_tokens');
    expect(await onTheWire(`${server.url}/e/replay/v1/messages/count_tokens`, body)).toBe(original);
  });

  it('also when its bodies are compressed, its answer is an error, or it has trailers', async () => {
    const answers: [Buffer, readonly string[], string][] = [
      [gzipSync('{"id":"msg_1"}'), ['content-type: application/json', 'content-encoding: gzip'], '200 OK'],
      [brotliCompressSync('data: {}\n\n'), ['content-type: text/event-stream', 'content-encoding: br'], '200 OK'],
      [
        Buffer.from('{"type":"error","error":{"type":"overloaded_error"}}'),
        ['content-type: application/json', 'retry-after: 7'],
        '529 Overloaded',
      ],
    ];
    for (const [at, [bytes, headers, status]] of answers.entries()) {
      upstream.answer((socket) => void socket.write(whole(bytes, { headers, status })));
      const request = gzipSync(JSON.stringify({ ...claude, max_tokens: 200 + at }));
      const original = await post(`${server.url}/v1/messages`, request, ['content-encoding', 'gzip']);
      await settled(original);
      const again = await post(`${server.url}/e/replay/v1/messages`, request, ['content-encoding', 'gzip']);
      expect(again.status).toBe(original.status);
      expect(again.body.equals(bytes)).toBe(true);
      for (const name of ['content-type', 'content-encoding', 'retry-after']) expect(again.headers[name]).toBe(original.headers[name]);
    }
    upstream.answer(
      (socket) => void socket.write(`${chunkedHead(['content-type: text/event-stream'])}${chunk('data: 1\n\n')}${lastChunk(['x-sum: 9'])}`),
    );
    const body = JSON.stringify({ ...claude, max_tokens: 300, stream: true });
    await settled(await post(`${server.url}/v1/messages`, body));
    expect((await post(`${server.url}/e/replay/v1/messages`, body)).rawTrailers).toEqual(['x-sum', '9']);
  });

  it('twice with the same receipt hash, labelled, and naming the run it came from', async () => {
    const body = JSON.stringify({ ...claude, max_tokens: 400 });
    const original = await settled(await post(`${server.url}/e/sim/v1/messages`, body));
    const first = await settled(await post(`${server.url}/e/replay/v1/messages`, body));
    const second = await settled(await post(`${server.url}/e/replay/v1/messages`, body));
    expect(first).toMatchObject({
      engine: 'replay',
      status: 'completed',
      reason: 'replayed_exact',
      backend: { id: 'engine:replay', version: original.run_id },
      mode: 'passthrough',
      usage: original.usage,
      response: original.response,
    });
    expect(first.receipt_sha256).toBe(second.receipt_sha256);
  });
});

describe('timing', () => {
  it('is kept where the caller asks for it, else chunks come at once', async () => {
    const body = JSON.stringify({
      ...claude,
      stream: true,
      messages: [{ role: 'user', content: 'wait 200 ms between words and say "a b c d"' }],
    });
    await settled(await post(`${server.url}/e/sim/v1/messages`, body));
    const took = async (headers: readonly string[]): Promise<number> => {
      const start = performance.now();
      await post(`${server.url}/e/replay/v1/messages`, body, headers);
      return performance.now() - start;
    };
    const original = await took(['X-ABP-Replay-Timing', 'original']);
    expect(original).toBeGreaterThan(550);
    expect(await took([])).toBeLessThan(original);
  });

  it('does not hold a caller that leaves', async () => {
    const body = JSON.stringify({
      ...claude,
      stream: true,
      messages: [{ role: 'user', content: 'wait 200 ms between words and say "a b c d"' }],
    });
    const response = await send(`${server.url}/e/replay/v1/messages`, {
      method: 'POST',
      headers: ['X-ABP-Replay-Timing', 'original'],
      body,
    });
    const run = response.headers['x-abp-run-id'];
    response.destroy();
    expect(await receiptOf(server.url, run)).toMatchObject({ status: 'cancelled', reason: 'client_closed' });
  });
});

describe('a request that differs', () => {
  const session = (id: string, more: object = {}): string =>
    JSON.stringify({ ...claude, max_tokens: 500, metadata: { user_id: id }, ...more });

  it('is a miss that names the nearest recording and what differs', async () => {
    const { run_id } = await settled(await post(`${server.url}/e/sim/v1/messages`, session('session-1')));
    const miss = await post(`${server.url}/e/replay/v1/messages`, session('session-2', { temperature: 1 }));
    expect(miss.status).toBe(404);
    expect(miss.headers['x-should-retry']).toBe('false');
    const { type, error } = JSON.parse(miss.body.toString());
    expect(type).toBe('error');
    expect(error).toMatchObject({
      code: 'replay_miss',
      details: { nearest_run_id: run_id, differs: ['/metadata/user_id', '/temperature'] },
    });
    expect(error.message).toContain(`The nearest, ${run_id}`);
    expect(await settled(miss)).toMatchObject({ status: 'failed', reason: 'refused', error: { code: 'replay_miss' } });
  });

  it('only in what may differ is served, and the receipt says so', async () => {
    for (const ignore of ['/metadata/user_id', 'claude']) {
      const answer = await post(`${server.url}/e/replay/v1/messages`, session('session-3'), ['X-ABP-Replay-Ignore', ignore]);
      expect(answer.status).toBe(200);
      expect(await settled(answer)).toMatchObject({ reason: 'replayed_ignoring /metadata/user_id' });
    }
    const other = await post(`${server.url}/e/replay/v1/messages`, session('session-3', { top_k: 1 }), ['X-ABP-Replay-Ignore', 'claude']);
    expect(JSON.parse(other.body.toString()).error.details.differs).toEqual(['/top_k']);
    const unknown = await post(`${server.url}/e/replay/v1/messages`, session('session-3'), ['X-ABP-Replay-Ignore', 'nobody']);
    expect(unknown.status).toBe(400);
  });

  it('in its address is a miss too', async () => {
    const body = JSON.stringify({ contents: [{ role: 'user', parts: [{ text: 'address' }] }] });
    await settled(await post(`${server.url}/e/sim/v1beta/models/sim-1:generateContent`, body));
    const miss = await post(`${server.url}/e/replay/v1beta/models/sim-2:generateContent`, body);
    expect(JSON.parse(miss.body.toString()).error.message).toContain('the address POST /v1beta/models/sim-1:generateContent');
  });
});

describe('whose recordings', () => {
  it('are the caller’s own: another key does not find them', async () => {
    const key = async (name: string): Promise<string> => {
      const made = await post(`${server.url}/v1/keys`, { name, recording: 'full' }, ['authorization', `Bearer ${server.token}`]);
      return JSON.parse(made.body.toString()).secret;
    };
    const [mine, theirs] = [await key('mine'), await key('theirs')];
    const body = JSON.stringify({ ...claude, max_tokens: 600 });
    const run = await post(`${server.url}/e/sim/v1/messages`, body, ['X-ABP-Key', mine]);
    await receiptOf(server.url, run.headers['x-abp-run-id'], ['X-ABP-Key', mine]);
    const status = async (headers: readonly string[]): Promise<number> =>
      (await post(`${server.url}/e/replay/v1/messages`, body, headers)).status;
    expect(await status(['X-ABP-Key', mine])).toBe(200);
    expect(await status(['X-ABP-Key', theirs])).toBe(404);
    expect(await status([])).toBe(404);
    const bytes = async (headers: readonly string[]): Promise<number> =>
      (await call(`${server.url}/v1/receipts/${run.headers['x-abp-run-id']}/response`, { headers })).status;
    expect([await bytes(['X-ABP-Key', mine]), await bytes(['X-ABP-Key', theirs]), await bytes([])]).toEqual([200, 404, 404]);
  });
});

describe('a file of recordings', () => {
  it('serves an application with nothing else there', async () => {
    const lines: string[] = [];
    const originals: string[] = [];
    for (const [, path, request] of REQUESTS) {
      const run = await post(`${server.url}/e/sim${path}`, { ...request, tag: 'file' });
      await settled(run);
      originals.push(run.body.toString('latin1'));
      lines.push((await call(`${server.url}/v1/recordings/${run.headers['x-abp-run-id']}`)).body.toString());
    }
    const file = join(folder, 'recorded.jsonl');
    writeFileSync(file, `${lines.join('\n')}\n`);
    const offline = await startGateway({ engines: { replay: { file } } });
    try {
      const again: string[] = [];
      for (const [, path, request] of REQUESTS) {
        again.push((await post(`${offline.url}/e/replay${path}`, { ...request, tag: 'file' })).body.toString('latin1'));
      }
      expect(again).toEqual(originals);
    } finally {
      await offline.close();
    }
  });

  it('that is missing or damaged is a clear error', async () => {
    const damaged = join(folder, 'damaged.jsonl');
    writeFileSync(damaged, '{"format":"abp-recording/1"}\n');
    const missing = join(folder, 'nowhere.jsonl');
    await expect(startGateway({ engines: { replay: { file: missing } } })).rejects.toThrow(
      `engines.replay.file: there is no file ${missing}.`,
    );
    const offline = await startGateway({ engines: { replay: { file: damaged } } });
    try {
      const { error } = JSON.parse((await post(`${offline.url}/e/replay/v1/messages`, claude)).body.toString());
      expect(error).toMatchObject({ code: 'invalid_request', message: expect.stringContaining('line 1') });
    } finally {
      await offline.close();
    }
  });
});

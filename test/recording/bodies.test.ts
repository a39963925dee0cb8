import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RecordingLine } from '../../src/contract/receipts/recording.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { call, post, type WireAnswer } from '../support/http-call.ts';
import { receiptOf } from '../support/receipt-of.ts';
import { chunk, chunkedHead, lastChunk, type RecordingUpstream, startUpstream, whole } from '../support/recording-upstream.ts';

let server: TestGateway;
let upstream: RecordingUpstream;

beforeAll(async () => {
  upstream = await startUpstream();
  server = await startGateway({
    engines: { claude: { url: upstream.url }, gemini: { url: upstream.url, key: 'k' } },
    config: { recording: { redact: ['CUSTOMER-\\d+'] }, routes: [{ match: 'quiet-*', to: 'claude', recording: 'off' }] },
  });
});
afterAll(async () => {
  await server.close();
  await upstream.close();
});

const body = (of: WireAnswer, which: string): Promise<WireAnswer> =>
  call(`${server.url}/v1/receipts/${of.headers['x-abp-run-id']}/${which}`);
const settled = (of: WireAnswer): ReturnType<typeof receiptOf> => receiptOf(server.url, of.headers['x-abp-run-id']);
const ask = (content: string, more: object = {}): string =>
  JSON.stringify({ model: 'm', max_tokens: 10, messages: [{ role: 'user', content }], ...more });
const claudeAnswer =
  '{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],"usage":{"input_tokens":1,"output_tokens":1}}';

/** An engine that answers a stream in these pieces. */
function streamed(pieces: readonly (string | Buffer)[], headers: readonly string[] = ['content-type: text/event-stream']): void {
  upstream.answer(async (socket) => {
    socket.write(chunkedHead(headers));
    for (const piece of pieces) {
      socket.write(chunk(piece));
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    socket.write(lastChunk(['x-checksum: 1']));
  });
}

describe('a run recorded in full', () => {
  it('gives its bodies back byte for byte, and says that it can be replayed', async () => {
    const answer = Buffer.from(`${claudeAnswer}\r\n\n`);
    upstream.answer((socket) => void socket.write(whole(answer)));
    const request = ' {"model":"m","n":1.0,"messages":[]}\r\n';
    const run = await post(`${server.url}/v1/messages`, request);
    expect(await settled(run)).toMatchObject({ recording: 'full', replayable: true });
    const [sent, received] = [await body(run, 'request'), await body(run, 'response')];
    expect(sent.body.toString()).toBe(request);
    expect(received.body.equals(answer)).toBe(true);
    expect(received.headers['content-type']).toBe('application/json');
    expect((await body(run, 'request?side=engine')).body.toString()).toBe(request);
  });

  it('keeps the pieces in which a stream came, when each came, and its trailers', async () => {
    const pieces = ['event: a\ndata: {"x":"é', Buffer.from([0xc3]), Buffer.from([0xa9, 0x22]), '}\n\n', 'data: [DONE]\n\n'];
    streamed(pieces);
    const run = await post(`${server.url}/v1/messages`, ask('stream', { stream: true }));
    await settled(run);
    const line = RecordingLine.parse(
      JSON.parse((await call(`${server.url}/v1/recordings/${run.headers['x-abp-run-id']}`)).body.toString()),
    );
    const chunks = line.response!.chunks.map((one) => ('text' in one ? Buffer.from(one.text) : Buffer.from(one.base64, 'base64')));
    expect(chunks).toEqual(pieces.map((piece) => Buffer.from(piece)));
    const times = line.response!.chunks.map((one) => one.at_us);
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    expect(times.at(-1)! - times[0]!).toBeGreaterThan(50_000);
    expect(line.response).toMatchObject({ status: 200, complete: true, trailers: [['x-checksum', '1']] });
    expect(line.request).toMatchObject({ dialect: 'claude', method: 'POST', path: '/v1/messages' });
  });

  it('keeps both sides of a mapped run', async () => {
    const gemini = '{"candidates":[{"content":{"role":"model","parts":[{"text":"hi"}]},"finishReason":"STOP"}],"modelVersion":"g"}';
    upstream.answer((socket) => void socket.write(whole(gemini)));
    const request = ask('hello');
    const run = await post(`${server.url}/e/gemini/v1/messages`, request);
    expect(run.status).toBe(200);
    expect(await settled(run)).toMatchObject({ mode: 'mapped', replayable: true });
    expect((await body(run, 'request')).body.toString()).toBe(request);
    expect((await body(run, 'request?side=engine')).body.equals(upstream.requests.at(-1)!.body)).toBe(true);
    expect((await body(run, 'response')).body.toString()).toBe(gemini);
    expect((await body(run, 'response?side=caller')).body.equals(run.body)).toBe(true);
  });

  it('has its bodies at once, before its receipt is written', async () => {
    upstream.answer((socket) => void socket.write(whole(claudeAnswer)));
    const run = await post(`${server.url}/v1/messages`, ask('in a hurry'));
    expect((await body(run, 'response')).body.toString()).toBe(claudeAnswer);
  });

  it('keeps compressed bodies as they were', async () => {
    const answer = gzipSync(claudeAnswer);
    upstream.answer(
      (socket) => void socket.write(whole(answer, { headers: ['content-type: application/json', 'content-encoding: gzip'] })),
    );
    const request = gzipSync('{"model":"packed","messages":[]}');
    const run = await post(`${server.url}/v1/messages`, request, ['content-encoding', 'gzip']);
    expect(await settled(run)).toMatchObject({ replayable: true });
    expect((await body(run, 'request')).body.equals(request)).toBe(true);
    const received = await body(run, 'response');
    expect(received.body.equals(answer)).toBe(true);
    expect(received.headers['content-encoding']).toBe('gzip');
  });

  it('has the request of a refused call too, and no answer', async () => {
    const run = await post(`${server.url}/v1/messages`, ask('no'), ['X-ABP-Require', 'logprobs=native']);
    expect(await settled(run)).toMatchObject({ status: 'failed', replayable: false });
    expect((await body(run, 'request')).body.toString()).toBe(ask('no'));
    expect((await body(run, 'response')).status).toBe(404);
  });

  it('whose answer broke off has what came, and cannot be replayed', async () => {
    upstream.answer(async (socket) => {
      socket.write(chunkedHead());
      socket.write(chunk('data: 1\n\n'));
      await new Promise((resolve) => setTimeout(resolve, 50));
      socket.destroy();
    });
    const run = await post(`${server.url}/v1/messages`, ask('break', { stream: true }));
    expect(run.complete).toBe(false);
    expect(await settled(run)).toMatchObject({ status: 'failed', replayable: false });
    expect((await body(run, 'response')).body.toString()).toBe('data: 1\n\n');
  });

  it('stores equal bodies once', async () => {
    upstream.answer((socket) => void socket.write(whole(claudeAnswer)));
    const runs = await Promise.all(Array.from({ length: 20 }, () => post(`${server.url}/v1/messages`, ask('always the same'))));
    for (const run of runs) expect(await settled(run)).toMatchObject({ replayable: true });
    const { shelf } = server.gateway;
    const stored = [...shelf.blocks().keys()].flatMap((block) => shelf.bodiesIn(block));
    const rows = stored.filter(({ bytes }) => bytes === Buffer.byteLength(ask('always the same')));
    expect(rows).toHaveLength(1);
  });
});

describe('a secret', () => {
  const key = `sk-ant-api03-${'Ab1'.repeat(30)}`;

  it('in a body is removed before it is stored, and the run cannot be replayed', async () => {
    upstream.answer((socket) => void socket.write(whole(claudeAnswer)));
    const run = await post(`${server.url}/v1/messages`, ask(`my key is\n${key}`));
    expect(await settled(run)).toMatchObject({ recording: 'full', replayable: false });
    expect((await body(run, 'request')).body.toString()).toBe(ask('my key is\n[redacted]'));
    const own = await post(`${server.url}/v1/messages`, ask('CUSTOMER-4711'));
    expect(await settled(own)).toMatchObject({ replayable: false });
    expect((await body(own, 'request')).body.toString()).toBe(ask('[redacted]'));
  });

  it('in a compressed body is found', async () => {
    upstream.answer((socket) => void socket.write(whole(claudeAnswer)));
    const run = await post(`${server.url}/v1/messages`, gzipSync(ask(key)), ['content-encoding', 'gzip']);
    expect(await settled(run)).toMatchObject({ replayable: false });
    const stored = await body(run, 'request');
    expect(stored.body.toString()).toBe(ask('[redacted]'));
    expect(stored.headers['content-encoding']).toBeUndefined();
  });

  it('that an engine names in an error, or a caller in a model, stands neither in the receipt nor in a journal', async () => {
    const secret = `sk-ant-api03-${'e'.repeat(24)}`;
    const refusal = JSON.stringify({ type: 'error', error: { type: 'authentication_error', message: `invalid key: ${secret}` } });
    upstream.answer((socket) => void socket.write(whole(refusal, { status: '401 Unauthorized' })));
    const run = await post(`${server.url}/v1/messages`, ask('hi', { model: secret }));
    expect(run.body.toString()).toBe(refusal);
    const receipt = await settled(run);
    expect(receipt).toMatchObject({
      model: { requested: '[redacted]', upstream: '[redacted]' },
      error: { code: 'engine_failed', message: 'invalid key: [redacted]' },
      attempts: [{ error: 'invalid key: [redacted]' }],
    });
    expect((await body(run, 'verify')).body.toString()).toContain('"ok":true');
    const facts = readdirSync(join(server.home, 'journal')).filter((name) => name.endsWith('.facts'));
    expect(facts.map((name) => readFileSync(join(server.home, 'journal', name), 'utf8')).join('')).not.toContain(secret);
  });

  it('that a caller shows to be let in is recorded nowhere', async () => {
    upstream.answer(
      (socket) => void socket.write(whole(claudeAnswer, { headers: ['content-type: application/json', `set-cookie: s=${key}`] })),
    );
    const run = await post(`${server.url}/v1/messages?key=short-secret&beta=true`, ask('hello'), [
      ...['x-api-key', 'sk-mine', 'Authorization', 'Bearer mine-too', 'anthropic-version', '2023-06-01'],
    ]);
    await settled(run);
    const { body: text } = await call(`${server.url}/v1/recordings/${run.headers['x-abp-run-id']}`);
    for (const secret of ['short-secret', 'sk-mine', 'mine-too', 'sk-ant']) expect(text.toString()).not.toContain(secret);
    expect(JSON.parse(text.toString()).request).toMatchObject({
      path: '/v1/messages?beta=true',
      headers: expect.arrayContaining([['anthropic-version', '2023-06-01']]),
    });
    const journal = join(server.home, 'journal');
    for (const name of readdirSync(journal)) expect(readFileSync(join(journal, name), 'latin1')).not.toContain('short-secret');
  });
});

describe('how much is recorded', () => {
  it('is digests at most where bytes pass unread', async () => {
    upstream.answer((socket) => void socket.write(whole('{"id":"file_1"}')));
    const run = await post(`${server.url}/e/claude/v1/files`, 'any bytes', ['x-api-key', 'sk-mine']);
    expect(run.status).toBe(200);
    expect(await settled(run)).toMatchObject({ recording: 'digest', replayable: false });
  });

  it('is the route’s to say; off drops bodies only', async () => {
    upstream.answer((socket) => void socket.write(whole(claudeAnswer)));
    const run = await post(`${server.url}/v1/messages`, ask('hush').replace('"m"', '"quiet-1"'));
    expect(await settled(run)).toMatchObject({ recording: 'off', replayable: false, request: { bytes: 81 }, response: { status: 200 } });
    expect((await body(run, 'request')).status).toBe(404);
  });

  it('is the key’s to say; of key and route the lesser counts', async () => {
    const token = ['authorization', `Bearer ${server.token}`];
    const made = await post(`${server.url}/v1/keys`, { name: 'k', recording: 'digest' }, token);
    const { secret } = JSON.parse(made.body.toString());
    const run = await post(`${server.url}/v1/messages`, ask('digest me'), ['X-ABP-Key', secret]);
    const receipt = await receiptOf(server.url, run.headers['x-abp-run-id'], token);
    expect(receipt).toMatchObject({ recording: 'digest', replayable: false });
    const quiet = await post(`${server.url}/v1/messages`, ask('x').replace('"m"', '"quiet-1"'), ['X-ABP-Key', secret]);
    expect(await receiptOf(server.url, quiet.headers['x-abp-run-id'], token)).toMatchObject({ recording: 'off' });
  });
});

it('left nothing in the log', () => {
  expect(server.faults()).toBe('');
});

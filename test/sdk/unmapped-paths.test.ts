import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createGoogleGenerativeAI } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import Anthropic, { toFile } from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import { embed, embedMany } from 'ai';
import OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { listReceipts } from '../../src/store/receipts/receipts.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';

// Files, batches and embeddings have no form in another dialect: they pass. The vendors' SDKs must not notice that we are there.

interface Arrived {
  readonly line: string;
  readonly type: string;
  readonly key: string;
  readonly body: string;
}

type Answers = Readonly<Record<string, (request: IncomingMessage, response: ServerResponse) => void>>;

const arrived: Arrived[] = [];
let upstream: Server;
let server: TestGateway;

const say = (value: unknown) => (_request: IncomingMessage, response: ServerResponse) =>
  void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));
const VECTOR = [0.25, -1.5, 3];
/** As OpenAI's SDK asks for it, unless told otherwise. */
const PACKED = Buffer.from(new Float32Array(VECTOR).buffer).toString('base64');
const FILE = { id: 'file_1', object: 'file', bytes: 5, created_at: 1, filename: 'ü.jsonl', purpose: 'batch', status: 'processed' };
const BATCH = { id: 'batch_1', object: 'batch', endpoint: '/v1/chat/completions', status: 'validating', input_file_id: 'file_1' };
const LINES = ['{"custom_id":"a","result":{"type":"canceled"}}', '{"custom_id":"b","result":{"type":"expired"}}'];

/** What the vendors answer, by method and path. */
const ANSWERS: Answers = {
  'POST /v1/files': say(FILE),
  'GET /v1/files': say({ object: 'list', data: [FILE], has_more: false }),
  'GET /v1/files/file_1/content': (_, response) =>
    void response.writeHead(200, { 'content-type': 'application/octet-stream' }).end('a\u0000\r\nb'),
  'DELETE /v1/files/file_1': say({ id: 'file_1', object: 'file', deleted: true }),
  'POST /v1/batches': say(BATCH),
  'GET /v1/batches/batch_1': say({ ...BATCH, status: 'completed' }),
  'POST /v1/embeddings': (request, response) =>
    say({
      object: 'list',
      model: 'text-embedding-3-small',
      data: [{ object: 'embedding', index: 0, embedding: /"encoding_format":\s*"base64"/.test(bodyOf(request)) ? PACKED : VECTOR }],
      usage: { prompt_tokens: 4, total_tokens: 4 },
    })(request, response),
  'POST /v1/messages/batches': say({ id: 'msgbatch_1', type: 'message_batch', processing_status: 'in_progress' }),
  'GET /v1/messages/batches/msgbatch_1': (request, response) =>
    // The address of the results is the vendor's own; the SDK asks for it through the address that it was given.
    say({
      id: 'msgbatch_1',
      type: 'message_batch',
      processing_status: 'ended',
      results_url: `http://${request.headers.host}/v1/messages/batches/msgbatch_1/results`,
    })(request, response),
  'GET /v1/messages/batches/msgbatch_1/results': (_, response) =>
    void response.writeHead(200, { 'content-type': 'application/x-jsonl' }).end(`${LINES.join('\n')}\n`),
  'POST /v1beta/models/gemini-embedding-001:batchEmbedContents': say({ embeddings: [{ values: VECTOR }] }),
  'POST /v1beta/models/gemini-embedding-001:embedContent': say({ embedding: { values: VECTOR } }),
  'GET /v1beta/files/f1': say({ name: 'files/f1', mimeType: 'text/plain', state: 'ACTIVE' }),
  'POST /upload/v1beta/files': (request, response) => {
    // The SDK goes on at the address that it is told, with our host in it.
    const next = `http://${request.headers.host}/upload/v1beta/files?upload_id=u&upload_protocol=resumable`;
    if (!request.url?.includes('upload_id=')) response.writeHead(200, { 'x-goog-upload-url': next, 'content-length': '0' }).end();
    else
      response
        .writeHead(200, { 'content-type': 'application/json', 'x-goog-upload-status': 'final' })
        .end(JSON.stringify({ file: { name: 'files/f1', mimeType: 'text/plain', state: 'ACTIVE' } }));
  },
};

const bodies = new WeakMap<IncomingMessage, string>();
const bodyOf = (request: IncomingMessage): string => bodies.get(request) ?? '';

async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  let body = '';
  for await (const chunk of request) body += String(chunk);
  bodies.set(request, body);
  const { headers, method, url = '' } = request;
  const path = url.replace(/\?.*$/, '');
  const key = headers.authorization ?? headers['x-api-key'] ?? headers['x-goog-api-key'] ?? '';
  arrived.push({ line: `${method} ${url}`, type: headers['content-type'] ?? '', key: String(key), body });
  const answer = ANSWERS[`${method} ${path}`];
  if (answer === undefined) response.writeHead(404, { 'content-type': 'application/json' }).end('{"error":{"message":"nothing here"}}');
  else answer(request, response);
}

beforeAll(async () => {
  upstream = createServer((request, response) => void serve(request, response));
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`; // a TCP server that listens has one
  server = await startGateway({ engines: { openai: { url, key: 'ours' }, claude: { url, key: 'ours' }, gemini: { url, key: 'ours' } } });
});
afterAll(async () => {
  await server.close();
  upstream.closeAllConnections();
  upstream.close();
});
beforeEach(() => arrived.splice(0));

const openai = (): OpenAI => new OpenAI({ baseURL: `${server.url}/e/openai/v1`, apiKey: 'theirs', maxRetries: 0 });
const claude = (): Anthropic => new Anthropic({ baseURL: `${server.url}/e/claude`, apiKey: 'theirs', maxRetries: 0 });
const gemini = (): GoogleGenAI => new GoogleGenAI({ apiKey: 'theirs', httpOptions: { baseUrl: `${server.url}/e/gemini` } });
const lastReceipt = async (): Promise<Record<string, unknown> | undefined> => {
  await server.gateway.keeper.settled();
  return (await listReceipts(server.gateway.store, { limit: 1 })).items[0]?.document;
};

describe('openai', () => {
  it('uploads, lists, reads and deletes files', async () => {
    const made = await openai().files.create({ file: new File(['{"a":1}'], 'ü.jsonl'), purpose: 'batch' });
    expect(made).toMatchObject(FILE);
    expect(arrived[0]).toMatchObject({
      line: 'POST /v1/files',
      key: 'Bearer ours',
      type: expect.stringMatching(/^multipart\/form-data; boundary=/),
    });
    expect(arrived[0]?.body).toContain('{"a":1}');
    const listed = await Array.fromAsync(openai().files.list());
    expect(listed).toMatchObject([FILE]);
    expect(await (await openai().files.content('file_1')).text()).toBe('a\u0000\r\nb');
    expect(await openai().files.delete('file_1')).toMatchObject({ deleted: true });
    expect(await lastReceipt()).toMatchObject({ plane: 'gateway', mode: 'passthrough', status: 'completed', engine: 'openai' });
  });

  it('makes a batch and asks for it', async () => {
    const made = await openai().batches.create({ input_file_id: 'file_1', endpoint: '/v1/chat/completions', completion_window: '24h' });
    expect(made).toMatchObject(BATCH);
    expect(await openai().batches.retrieve('batch_1')).toMatchObject({ status: 'completed' });
  });

  it('embeds, packed and plain, and the receipt tells what it used and cost', async () => {
    const ask = { model: 'text-embedding-3-small', input: 'grüße' };
    expect((await openai().embeddings.create(ask)).data[0]?.embedding).toEqual(VECTOR);
    expect((await openai().embeddings.create({ ...ask, encoding_format: 'float' })).data[0]?.embedding).toEqual(VECTOR);
    // 4 tokens at $0.02 a million.
    expect(await lastReceipt()).toMatchObject({ usage: { input_tokens: 4, output_tokens: 0 }, cost: { nano_usd: 80 } });
  });

  it('gets the vendor’s own refusal of a path that is not there', async () => {
    await expect(openai().batches.retrieve('none')).rejects.toThrow(OpenAI.NotFoundError);
  });
});

describe('anthropic', () => {
  it('makes a batch, asks for it and reads its results line by line', async () => {
    const requests = [
      { custom_id: 'a', params: { model: 'claude-sonnet-4-5', max_tokens: 5, messages: [{ role: 'user' as const, content: 'hi' }] } },
    ];
    expect(await claude().messages.batches.create({ requests })).toMatchObject({ id: 'msgbatch_1' });
    expect(arrived[0]).toMatchObject({ line: 'POST /v1/messages/batches', key: 'ours' });
    expect(await claude().messages.batches.retrieve('msgbatch_1')).toMatchObject({ processing_status: 'ended' });
    const results = await Array.fromAsync(await claude().messages.batches.results('msgbatch_1'));
    expect(results.map((line) => JSON.stringify(line))).toEqual(LINES);
  });

  it('uploads a file', async () => {
    await claude().beta.files.upload({ file: await toFile(Buffer.from('hello'), 'a.txt', { type: 'text/plain' }) });
    expect(arrived[0]).toMatchObject({ line: expect.stringMatching(/^POST \/v1\/files/), key: 'ours' });
    expect(arrived[0]?.body).toContain('hello');
  });
});

describe('google', () => {
  it('embeds', async () => {
    const { embeddings } = await gemini().models.embedContent({ model: 'gemini-embedding-001', contents: 'hi' });
    expect(embeddings?.[0]?.values).toEqual(VECTOR);
  });

  it('uploads a file to the address that the vendor names, and asks for it', async () => {
    const file = await gemini().files.upload({ file: new Blob(['hello'], { type: 'text/plain' }) });
    expect(file.name).toBe('files/f1');
    expect(arrived.map(({ line, key, body }) => [line.replace(/\?.*$/, ''), key, body])).toEqual([
      ['POST /upload/v1beta/files', 'ours', expect.any(String)],
      ['POST /upload/v1beta/files', 'ours', 'hello'],
    ]);
    expect((await gemini().files.get({ name: 'files/f1' })).state).toBe('ACTIVE');
  });
});

describe('ai', () => {
  it('embeds with OpenAI and Google', async () => {
    const ours = createOpenAI({ baseURL: `${server.url}/e/openai/v1`, apiKey: 'theirs' });
    expect((await embed({ model: ours.embeddingModel('text-embedding-3-small'), value: 'hi' })).embedding).toEqual(VECTOR);
    const theirs = createGoogleGenerativeAI({ baseURL: `${server.url}/e/gemini/v1beta`, apiKey: 'theirs' });
    expect((await embedMany({ model: theirs.embeddingModel('gemini-embedding-001'), values: ['hi'] })).embeddings).toEqual([VECTOR]);
  });
});

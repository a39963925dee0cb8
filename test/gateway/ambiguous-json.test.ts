import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { dialects } from '../../src/dialects/index.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { call, post } from '../support/http-call.ts';
import { receiptOf } from '../support/receipt-of.ts';
import { type RecordingUpstream, startUpstream, whole } from '../support/recording-upstream.ts';

// JSON that two readers could read differently: members that are there twice, bytes that are no UTF-8, halves of surrogate pairs.

let upstream: RecordingUpstream;
let server: TestGateway;

beforeAll(async () => {
  upstream = await startUpstream();
  const engine = { url: upstream.url, key: 'k' };
  server = await startGateway({ engines: { claude: engine, openai: engine } });
});
afterAll(async () => {
  await server.close();
  await upstream.close();
});

const CHAT = {
  id: 'x',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
};
const says = (body: string, type = 'application/json'): void =>
  upstream.answer((socket) => void socket.write(whole(body, { headers: [`content-type: ${type}`] })));
const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');
const messages = (body: string | Buffer, engine = 'openai:openai-chat', headers: string[] = []): ReturnType<typeof call> =>
  call(`${server.url}/v1/messages`, {
    method: 'POST',
    headers: ['content-type', 'application/json', 'x-abp-engine', engine, ...headers],
    body,
  });

const TWICE = '{"model":"m","max_tokens":5,"messages":[{"role":"user","content":"one","content":"two"}]}';
const BYTES = Buffer.concat([
  Buffer.from('{"model":"m","max_tokens":5,"messages":[{"role":"user","content":"'),
  Buffer.from([0xff, 0xfe, 0x80]),
  Buffer.from('"}]}'),
]);

describe('a member that an object has twice', () => {
  it('passes where bytes pass, and the receipt is that of the bytes', async () => {
    says('{"type":"message","content":[]}');
    for (const body of [Buffer.from(TWICE), BYTES]) {
      const answer = await messages(body, 'claude');
      expect(answer.status).toBe(200);
      expect(upstream.requests.at(-1)?.body.equals(body)).toBe(true);
      expect((await receiptOf(server.url, answer.headers['x-abp-run-id'])).request?.sha256).toBe(sha256(body));
    }
  });

  it('is refused by name where it would be read', async () => {
    const before = upstream.requests.length;
    const answer = await messages(TWICE);
    expect([answer.status, JSON.parse(answer.body.toString()).error]).toMatchObject([
      400,
      { code: 'invalid_request', message: 'The request body is not valid JSON: the member "content" is repeated.' },
    ]);
    expect(upstream.requests.length).toBe(before);
    const explained = await post(`${server.url}/v1/explain`, `{"from":"claude","to":"openai","request":${TWICE}}`);
    expect([explained.status, explained.body.toString()]).toEqual([400, expect.stringContaining('\\"content\\" is repeated')]);
  });

  it('does not get a denied tool past a rule', async () => {
    const offer =
      '{"model":"m","max_tokens":5,"messages":[{"role":"user","content":"hi"}],"tools":[{"name":"Bash","name":"Read","input_schema":{}}]}';
    const engine = { url: upstream.url, key: 'k' };
    const strict = await startGateway({ engines: { claude: engine, openai: engine }, config: { policy: { disallowed_tools: ['Bash'] } } });
    onTestFinished(() => strict.close());
    for (const engine of ['claude', 'openai']) {
      const answer = await post(`${strict.url}/v1/messages`, offer, ['x-abp-engine', engine]);
      expect([answer.status, answer.body.toString()]).toEqual([400, expect.stringContaining('is repeated')]);
    }
  });

  it('of an answer counts as SDKs count it, by its last', async () => {
    const body = JSON.stringify(CHAT).replace('"content":"hi"', '"content":"first","content":"last"');
    says(body);
    const answer = await messages('{"model":"m","max_tokens":5,"messages":[{"role":"user","content":"hi"}]}');
    expect(JSON.parse(answer.body.toString()).content).toEqual([expect.objectContaining({ type: 'text', text: 'last' })]);
    const receipt = await receiptOf(server.url, answer.headers['x-abp-run-id']);
    expect(receipt.response).toMatchObject({ sha256: sha256(Buffer.from(body)), bytes: Buffer.byteLength(body) });
  });
});

describe('bytes that are no UTF-8', () => {
  it('are refused where they would be replaced', async () => {
    const answer = await messages(BYTES);
    expect([answer.status, answer.body.toString()]).toEqual([400, expect.stringContaining('not UTF-8')]);
  });
});

describe('half a surrogate pair', () => {
  const HALF = 'a\\ud83d b \\udc00 c';
  const REAL: string = JSON.parse(`"${HALF}"`);

  it('arrives as it was written', async () => {
    says(JSON.stringify(CHAT));
    const tools = `[{"name":"t","description":"${HALF}","input_schema":{"type":"object","properties":{"x":{"const":"${HALF}"}}}}]`;
    const answer = await messages(`{"model":"m","max_tokens":5,"messages":[{"role":"user","content":"${HALF}"}],"tools":${tools}}`);
    expect(answer.status).toBe(200);
    const sent = upstream.requests.at(-1)!;
    const body = JSON.parse(sent.body.toString());
    expect(body.messages[0].content).toBe(REAL);
    expect(body.tools[0].function).toMatchObject({ description: REAL, parameters: { properties: { x: { const: REAL } } } });
    const receipt = await receiptOf(server.url, answer.headers['x-abp-run-id']);
    expect(receipt.upstream_request?.sha256).toBe(sha256(sent.body));
  });

  it('comes back as it was said, whole and in a stream that cuts a pair in two', async () => {
    const request = '{"model":"m","max_tokens":5,"messages":[{"role":"user","content":"hi"}]}';
    says(JSON.stringify(CHAT).replace('"hi"', `"${HALF}"`));
    expect(JSON.parse((await messages(request)).body.toString()).content[0].text).toBe(REAL);
    const chunk = (content: string): string =>
      `data: {"id":"x","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"${content}"},"finish_reason":null}]}\n\n`;
    const end = chunk('').replace('{"content":""},"finish_reason":null', '{},"finish_reason":"stop"');
    says(`${chunk('\\ud83d')}${chunk('\\ude00')}${end}data: [DONE]\n\n`, 'text/event-stream');
    const streamed = (await messages(request.replace('"max_tokens"', '"stream":true,"max_tokens"'))).body.toString();
    const deltas = [...streamed.matchAll(/"text_delta","text":("(?:[^"\\]|\\.)*")/g)].map(([, text]) => JSON.parse(text ?? '""'));
    expect(deltas.join('')).toBe('😀');
  });

  it.each(dialects.map(({ id }) => id))('is served and kept for a caller of any dialect by an engine that speaks %s', async (to) => {
    const body = `{"model":"sim-1","max_tokens":50,"messages":[{"role":"user","content":"say \\"${HALF}\\""}]}`;
    const answer = await messages(body, `sim:${to}`);
    expect(answer.status).toBe(200);
    const receipt = await receiptOf(server.url, answer.headers['x-abp-run-id']);
    expect(receipt.status).toBe('completed');
    const { body: verdict } = await call(`${server.url}/v1/receipts/${receipt.run_id}/verify`);
    expect(JSON.parse(verdict.toString())).toMatchObject({ ok: true });
  });
});

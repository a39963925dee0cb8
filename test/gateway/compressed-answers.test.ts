import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { post } from '../support/http-call.ts';
import { receiptOf } from '../support/receipt-of.ts';
import { type RecordingUpstream, startUpstream } from '../support/recording-upstream.ts';

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

  it('is reported when its answer cannot be decompressed, or is a stream', async () => {
    compressed('200 OK', Buffer.from('not gzip'));
    const garbled = await post(`${server.url}/v1/chat/completions`, ask);
    expect([garbled.status, garbled.body.toString()]).toEqual([502, expect.stringContaining('cannot be decompressed')]);
    compressed('200 OK', gzipSync('event: ping\ndata: {"type":"ping"}\n\n'));
    const stream = await post(`${server.url}/v1/chat/completions`, { ...ask, stream: true });
    expect([stream.status, stream.body.toString()]).toEqual([502, expect.stringContaining('it is compressed (gzip)')]);
    expect(await receiptOf(server.url, stream.headers['x-abp-run-id'])).toMatchObject({ status: 'failed', reason: 'untranslatable' });
  });
});

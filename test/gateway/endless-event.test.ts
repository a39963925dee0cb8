import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { post } from '../support/http-call.ts';
import { receiptOf } from '../support/receipt-of.ts';
import { chunk, chunkedHead, lastChunk, type RecordingUpstream, startUpstream } from '../support/recording-upstream.ts';

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

describe('an engine whose event does not end', () => {
  const begin = {
    type: 'message_start',
    message: { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: [], usage: { input_tokens: 3, output_tokens: 1 } },
  };
  const beginning = `event: message_start\ndata: ${JSON.stringify(begin)}\n\n`;
  const endless = Buffer.alloc(65 * 1024 * 1024, 'x');

  it('goes on unchanged to a caller of its own dialect, and its usage is unknown', async () => {
    upstream.answer((socket) => {
      socket.write(chunkedHead() + chunk(beginning).toString());
      socket.write(chunk(endless));
      socket.write(lastChunk());
    });
    const answer = await post(`${server.url}/v1/messages`, '{"model":"m","stream":true}');
    expect(answer).toMatchObject({ status: 200, complete: true });
    expect(answer.body.equals(Buffer.concat([Buffer.from(beginning), endless]))).toBe(true);
    expect(await receiptOf(server.url, answer.headers['x-abp-run-id'])).toMatchObject({
      status: 'completed',
      response: { bytes: answer.body.length },
      usage: null,
    });
  });

  it('is cut off with an error event for a caller of another dialect', async () => {
    upstream.answer((socket) => {
      socket.write(chunkedHead() + chunk(beginning).toString());
      socket.write(chunk(endless));
    });
    const body = '{"model":"claude/m","stream":true,"messages":[{"role":"user","content":"x"}]}';
    const answer = await post(`${server.url}/v1/chat/completions`, body);
    expect(answer).toMatchObject({ status: 200, complete: true });
    expect(answer.body.toString()).toContain('an event of the stream is longer than 33554432 bytes');
    expect(await receiptOf(server.url, answer.headers['x-abp-run-id'])).toMatchObject({
      status: 'failed',
      reason: 'engine_error',
      error: { code: 'engine_failed', message: 'an event of the stream is longer than 33554432 bytes' },
    });
  });
});

import { createHash } from 'node:crypto';
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { findDialect } from '../../dialects/index.ts';
import { BodyBudget, type Holding } from '../bounds/body-budget.ts';
import { type SeenAnswer, seenAnswer } from './seen-answer.ts';
import { Watch, type Watched } from './watch.ts';

const claude = findDialect('claude');
const message = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'm',
  content: [{ type: 'tool_use', id: 't1', name: 'search', input: { q: 1 } }],
  stop_reason: 'tool_use',
  usage: { input_tokens: 3, output_tokens: 4 },
};
const stream = [
  `event: message_start\ndata: ${JSON.stringify({ type: 'message_start', message: { ...message, content: [] } })}\n\n`,
  'event: ping\ndata: {"type":"ping"}\n\n',
  'event: message_delta\ndata: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":9}}\n\n',
  'event: message_stop\ndata: {"type":"message_stop"}\n\n',
].join('');

const holding = (most = 256 * 1024 * 1024): Holding => new BodyBudget(most).holding('key');

/** Stands in for the other thread. */
const aside = async (body: Buffer, streamed: boolean): Promise<SeenAnswer> => seenAnswer(body, claude, streamed);

async function watched(body: Buffer, contentType: string, encoding = ''): Promise<Watched> {
  const watch = new Watch({ reader: claude, contentType, encoding, holding: holding(), aside });
  for (let at = 0; at < body.length; at += 7) watch.chunk(body.subarray(at, at + 7));
  return await watch.done();
}

const ENCODERS = { gzip: gzipSync, br: brotliCompressSync, deflate: deflateSync, zstd: zstdCompressSync };

describe('a watched answer', () => {
  it('has the digest of its bytes, one event, its usage and its tool calls', async () => {
    const body = Buffer.from(JSON.stringify(message));
    expect(await watched(body, 'application/json')).toMatchObject({
      digest: { sha256: createHash('sha256').update(body).digest('hex'), bytes: body.length },
      eventCount: 1,
      observed: { model: 'm', usage: { inputTokens: 3, outputTokens: 4 }, toolCalls: [{ id: 't1', name: 'search', arguments: '{"q":1}' }] },
    });
  });

  it('is read behind a byte order mark', async () => {
    const body = Buffer.from(`\uFEFF${JSON.stringify(message)}`);
    expect((await watched(body, 'application/json')).observed.usage).toMatchObject({ inputTokens: 3, outputTokens: 4 });
  });

  it.each([50_000, 100_000])('has a digest and no usage when %d levels of it are more than code can walk', async (levels) => {
    const [before = '', after = ''] = JSON.stringify({ ...message, content: [{ ...message.content[0], input: 'DEEP' }] }).split('"DEEP"');
    const body = Buffer.from(`${before}${'['.repeat(levels)}${']'.repeat(levels)}${after}`);
    const watch = new Watch({ reader: claude, contentType: 'application/json', encoding: '', holding: holding(), aside });
    watch.chunk(body);
    expect(await watch.done()).toMatchObject({ digest: { bytes: body.length }, eventCount: 1, observed: { toolCalls: [] } });
  });

  it.each(['<html><h1>Bad gateway</h1></html>', '\uFEFF \n<!doctype html>Bad gateway', 'Bad gateway'])(
    'has failed where it is no answer: %j',
    async (page) => {
      expect((await watched(Buffer.from(page), 'text/html')).observed.error).toContain('Bad gateway');
    },
  );

  it('counts every event of a stream, ping included, and takes the last usage', async () => {
    expect(await watched(Buffer.from(stream), 'text/event-stream; charset=utf-8')).toMatchObject({
      eventCount: 4,
      observed: { model: 'm', usage: { inputTokens: 3, outputTokens: 9 } },
    });
  });

  it('has a digest and no usage when an event does not end: what was seen is not the whole', async () => {
    const body = Buffer.concat([Buffer.from(stream), Buffer.alloc(65 * 1024 * 1024, 'x'), Buffer.from('\n\n'), Buffer.from(stream)]);
    const watch = new Watch({ reader: claude, contentType: 'text/event-stream', encoding: '', holding: holding(), aside });
    for (let at = 0; at < body.length; at += 65536) watch.chunk(body.subarray(at, at + 65536));
    expect(await watch.done()).toEqual({
      digest: { sha256: createHash('sha256').update(body).digest('hex'), bytes: body.length },
      eventCount: 4,
      observed: { toolCalls: [] },
    });
  });

  it.each(Object.entries(ENCODERS))('is read through %s, hashed as it came', async (encoding, encode) => {
    const body = encode(Buffer.from(stream));
    expect(await watched(body, 'text/event-stream', encoding)).toMatchObject({
      digest: { sha256: createHash('sha256').update(body).digest('hex'), bytes: body.length },
      eventCount: 4,
      observed: { usage: { outputTokens: 9 } },
    });
  });

  it('that cannot be decoded is hashed and otherwise unknown', async () => {
    expect(await watched(Buffer.from('not gzip'), 'application/json', 'gzip')).toMatchObject({
      eventCount: 1,
      observed: { toolCalls: [] },
    });
    expect(await watched(Buffer.from('x'), 'application/json', 'unknown')).toMatchObject({ digest: { bytes: 1 }, eventCount: 1 });
  });
});

it('passes and stays unread when there is no room for it, and gives its memory back', async () => {
  const budget = new BodyBudget(1024);
  const watch = new Watch({ reader: claude, contentType: 'application/json', encoding: '', holding: budget.holding('key'), aside });
  for (let count = 0; count < 8; count += 1) watch.chunk(Buffer.alloc(16 * 1024, ' '));
  expect(await watch.done()).toMatchObject({ digest: { bytes: 128 * 1024 }, observed: { toolCalls: [] } });
  expect(budget.held).toBe(0);
});

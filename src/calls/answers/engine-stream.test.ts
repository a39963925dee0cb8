import { expect, it } from 'vitest';
import { findDialect } from '../../dialects/index.ts';
import { EngineStream } from './engine-stream.ts';

const begin = {
  type: 'message_start',
  message: { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: [], usage: { input_tokens: 3, output_tokens: 1 } },
};
const beginning = Buffer.from(`event: message_start\ndata: ${JSON.stringify(begin)}\n\n`);

function open(): EngineStream {
  const dialect = findDialect('claude');
  if (dialect === undefined) throw new Error('there is no such dialect');
  return new EngineStream(dialect.stepper());
}

it('gives events as their frames come, and what was left unterminated at the end', () => {
  const stream = open();
  expect(stream.read(beginning).map(({ type }) => type)).toEqual(['message-start']);
  expect(stream.read(Buffer.from('event: error\ndata: {"type":"error","error":{"type":"api_error","message":"no"}}'))).toEqual([]);
  expect(stream.rest().map(({ type }) => type)).toEqual(['error']);
  expect([stream.count, stream.broken]).toEqual([2, false]);
});

it('ends with an error when a frame does not end, and reads nothing after it', () => {
  const stream = open();
  stream.read(beginning);
  const megabyte = Buffer.alloc(1024 * 1024, 'x');
  const events = Array.from({ length: 70 }, () => stream.read(megabyte)).flat();
  expect(events).toEqual([
    { type: 'error', error: { kind: 'server', message: 'an event of the stream is longer than 33554432 bytes', status: 502 } },
  ]);
  expect([stream.broken, stream.count, stream.read(beginning), stream.rest()]).toEqual([true, 1, [], []]);
});

it('quotes a body that was no stream at all, because it may say what went wrong', () => {
  const stream = open();
  stream.read(Buffer.from('{"error": {"message": "quota is used up"},\n'));
  stream.read(Buffer.from(' "more": 1}'));
  expect([...stream.rest(), ...stream.end()]).toEqual([
    {
      type: 'error',
      error: {
        kind: 'server',
        message: 'the engine did not answer with a stream: {"error": {"message": "quota is used up"}, "more": 1}',
        status: 200,
      },
    },
  ]);
  const cut = open();
  cut.read(beginning);
  expect(cut.end()).toEqual([{ type: 'error', error: { kind: 'server', message: 'the engine closed the stream early', status: 200 } }]);
});

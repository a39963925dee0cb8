import { expect, it } from 'vitest';
import { Tally } from './tally.ts';

it('counts tool calls whose texts were cut inside a character', () => {
  const tally = new Tally();
  tally.add({ type: 'tool_call_ready', toolCallId: 'c', toolName: 'read', input: { path: 'cut \ud83d' } } as never); // other members do not matter here
  tally.add({ type: 'tool_result', toolCallId: 'c', toolName: 'read', output: ['\ude00'] } as never); // likewise
  expect(tally.toolCalls).toEqual([
    {
      id: 'c',
      name: 'read',
      arguments_sha256: '7df9fe8cfc07b3b1abe3539f18886a5f144099cbc4cd0474542d48064500630c',
      result_sha256: 'c1c3f1aa8521f9f91120eb3b242b280df4c90d4f2aa3bfda44904c2fbcf287cf',
    },
  ]);
});

import { describe, expect, test } from 'vitest';
import { dialects } from '../../src/dialects/index.ts';
import { tryAnswer, tryStream } from './answers.ts';
import { fixtureAnswers, fixtureStreams, type SampleAnswer } from './sources.ts';
import { tryStreamed } from './streamed.ts';
import { linesOf, newTally } from './tally.ts';

const pairs = dialects.flatMap((engine) => dialects.map((caller) => ({ engine: engine.id, caller: caller.id })));

describe('the account of an answer says what becomes of each leaf', () => {
  const samples = fixtureAnswers();

  test.each(pairs)('$engine → $caller', ({ engine, caller }) => {
    const tally = newTally();
    for (const sample of samples.filter(({ from }) => from === engine)) tryAnswer(sample, caller, tally);
    expect(tally.tried).toBeGreaterThan(0);
    expect(linesOf(tally)).toEqual([]);
  });
});

describe('an answer says the same streamed and whole', () => {
  const samples = fixtureAnswers();

  test.each(pairs)('$engine → $caller', ({ engine, caller }) => {
    const tally = newTally();
    for (const sample of samples.filter(({ from }) => from === engine)) tryStreamed(sample, caller, tally);
    expect(tally.tried).toBeGreaterThan(0);
    expect(linesOf(tally)).toEqual([]);
  });
});

/** Answers that the vendors describe and no fixture holds. */
const DESCRIBED: readonly SampleAnswer[] = [
  {
    id: 'reasoning with a summary and its content',
    from: 'openai-responses',
    answer: {
      ...{ id: 'resp_1', object: 'response', created_at: 1, status: 'completed', model: 'm' },
      output: [
        {
          ...{ id: 'rs_1', type: 'reasoning', status: 'completed', summary: [{ type: 'summary_text', text: 'In short.' }] },
          content: [{ type: 'reasoning_text', text: 'At length.' }],
        },
      ],
    },
  },
  {
    id: 'arguments that are no JSON',
    from: 'openai-chat',
    answer: {
      ...{ id: 'c', object: 'chat.completion', created: 1, model: 'm', service_tier: 'flex' },
      choices: [
        {
          ...{ index: 0, finish_reason: 'tool_calls', logprobs: null },
          message: {
            ...{ role: 'assistant', content: null, refusal: null },
            tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'look', arguments: 'not JSON' } }],
          },
        },
      ],
      usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
    },
  },
  {
    id: 'a tier and a search without words',
    from: 'openai-chat',
    answer: {
      ...{ id: 'c', object: 'chat.completion', created: 1, model: 'm', service_tier: 'flex' },
      choices: [
        {
          ...{ index: 0, finish_reason: 'stop', logprobs: null },
          message: {
            ...{ role: 'assistant', content: null, refusal: 'No.' },
            annotations: [{ type: 'url_citation', url_citation: { url: 'https://a.example/', title: 'A', start_index: 0, end_index: 0 } }],
          },
        },
      ],
      usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
    },
  },
  {
    id: 'a medium that nobody shows, with members of Google’s',
    from: 'gemini',
    answer: {
      candidates: [
        {
          ...{ index: 0, finishReason: 'STOP' },
          content: {
            role: 'model',
            parts: [{ inlineData: { mimeType: 'model/gltf', data: 'QUJD' }, thoughtSignature: 'QUJD', partMetadata: { a: 'b' } }],
          },
        },
      ],
      usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
    },
  },
  {
    id: 'code that failed',
    from: 'claude',
    answer: {
      ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'm', stop_reason: 'end_turn', stop_sequence: null },
      content: [
        {
          ...{ type: 'code_execution_tool_result', tool_use_id: 'srvtoolu_1' },
          content: { type: 'encrypted_code_execution_result', encrypted_stdout: 'x', stderr: 'no', return_code: 3, content: [] },
        },
      ],
      usage: { input_tokens: 1, output_tokens: 1 },
    },
  },
];

describe.each(DESCRIBED)('$id', (sample) => {
  test.each(dialects)('has true fates for callers of $id, and says the same streamed and whole', ({ id: caller }) => {
    const tally = newTally();
    tryAnswer(sample, caller, tally);
    tryStreamed(sample, caller, tally);
    expect(tally.tried).toBeGreaterThan(0);
    expect(linesOf(tally)).toEqual([]);
  });
});

describe('the account of a stream leaves nothing out', () => {
  const samples = fixtureStreams();

  test.each(pairs)('$engine → $caller', ({ engine, caller }) => {
    const tally = newTally();
    for (const sample of samples.filter(({ from }) => from === engine)) tryStream(sample, caller, tally);
    expect(tally.tried).toBeGreaterThan(0);
    expect(linesOf(tally)).toEqual([]);
  });
});

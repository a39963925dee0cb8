import { describe, expect, test } from 'vitest';
import type { FidelityEntry } from '../../src/contract/negotiation.ts';
import { streamedAnswer, wholeAnswer } from '../support/answer-translation.ts';

const json = (value: object): never => JSON.parse(JSON.stringify(value)) as never;

test('a call whose arguments are no JSON is told to gemini as malformed, whole and streamed', () => {
  const call = { index: 0, id: 'call_1', type: 'function', function: { name: 'f', arguments: '{"unfinished' } };
  const said = { role: 'assistant', content: null, tool_calls: [call] };
  const head = { id: 'c', object: 'chat.completion', model: 'm' };
  const whole = wholeAnswer(
    'openai-chat',
    'gemini',
    json({ ...head, choices: [{ index: 0, message: said, finish_reason: 'tool_calls' }] }),
  );
  const streamed = streamedAnswer('openai-chat', 'gemini', [
    { ...head, choices: [{ index: 0, delta: said, finish_reason: 'tool_calls' }] },
  ]);
  for (const { fidelity, emulations, text } of [{ ...whole, text: JSON.stringify(whole.body) }, streamed]) {
    expect(text).toContain('MALFORMED_FUNCTION_CALL');
    expect(fidelity.find(({ path }) => path.endsWith('tool_calls[*]'))).toMatchObject({ fate: 'emulated', code: 'call_malformed' });
    expect(emulations).toMatchObject([{ capability: 'tool_use' }]);
  }
});

test.each([
  ['claude', '"input":{"input":"plain words"}', String.raw`"partial_json":"{\"input\":\"plain words\"}"`],
  ['gemini', '"args":{"input":"plain words"}', '"args":{"input":"plain words"}'],
])('a call with a free text that nobody declared is told to %s as an object, whole and streamed', (caller, toldWhole, toldStreamed) => {
  const item = { id: 'ctc_1', type: 'custom_tool_call', status: 'completed', call_id: 'call_1', name: 'patch', input: 'plain words' };
  const response = { id: 'resp_1', status: 'completed', output: [item] };
  const one = wholeAnswer('openai-responses', caller, json(response));
  const many = streamedAnswer('openai-responses', caller, [
    { type: 'response.output_item.added', output_index: 0, item: { ...item, input: '' } },
    { type: 'response.custom_tool_call_input.delta', output_index: 0, item_id: 'ctc_1', delta: 'plain words' },
    { type: 'response.output_item.done', output_index: 0, item },
    json({ type: 'response.completed', response }),
  ]);
  expect(JSON.stringify(one.body)).toContain(toldWhole);
  expect(many.text).toContain(toldStreamed);
  for (const { fidelity } of [one, many])
    expect(fidelity.find(({ path }) => path.endsWith('<custom_tool_call>.input'))).toMatchObject({
      fate: 'emulated',
      code: 'text_as_object',
    });
});

describe.each([
  ['claude', 'emulated', 'renamed'],
  ['gemini', 'emulated', 'emulated'],
  ['openai-responses', 'renamed', 'renamed'],
])('a call that the token limit cut off', (caller, fate, streamedFate) => {
  const call = { index: 0, id: 'call_1', type: 'function', function: { name: 'f', arguments: '{"unfinished' } };
  const head = { id: 'c', object: 'chat.completion', model: 'm' };
  const said = { role: 'assistant', content: null, tool_calls: [call] };
  const told = (fidelity: readonly FidelityEntry[]): unknown => fidelity.find(({ path }) => path.endsWith('tool_calls[*]'))?.fate;

  test(`is told to ${caller}: ${fate}, and the answer is not empty`, () => {
    const answer = { ...head, choices: [{ index: 0, message: said, finish_reason: 'length' }] };
    const { fidelity, body } = wholeAnswer('openai-chat', caller, json(answer));
    expect([told(fidelity), JSON.stringify(body).includes('unfinished')]).toEqual([fate, true]);
  });

  test(`is told to ${caller} in a stream: ${streamedFate}`, () => {
    const chunks = [{ delta: said }, { delta: {}, finish_reason: 'length' }].map((choice) => ({
      ...head,
      choices: [{ index: 0, ...choice }],
    }));
    const stream = Buffer.from(chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join(''));
    const { fidelity, text } = streamedAnswer('openai-chat', caller, stream);
    expect([told(fidelity), text.includes('unfinished')]).toEqual([streamedFate, true]);
  });
});

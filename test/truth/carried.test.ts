import { describe, expect, test } from 'vitest';
import { isJsonObject, type JsonObject, parseJsonObject } from '../../src/base/json.ts';
import { EngineStream } from '../../src/calls/answers/engine-stream.ts';
import { dialects } from '../../src/dialects/index.ts';
import { Fold, unfold } from '../../src/ir/fold.ts';
import { streamedAnswer, wholeAnswer } from '../support/answer-translation.ts';
import { dialectOf, mapTo, OPTED_IN, targetOf } from '../support/mapping.ts';
import { ECHOES } from './echo.ts';

/** A Chat answer with a call, and reasoning beside it. */
function chatAnswer(reasoning: JsonObject): JsonObject {
  const call = { id: 'call_1', type: 'function', function: { name: 'look', arguments: '{}' } };
  return {
    ...{ id: 'c', object: 'chat.completion', created: 0, model: 'm' },
    choices: [{ index: 0, message: { role: 'assistant', content: null, ...reasoning, tool_calls: [call] }, finish_reason: 'tool_calls' }],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  };
}

/** Answers with state that their engine must get back, and the text that stands for it. */
const SIGNED: readonly (readonly [engine: string, model: string, state: string, answer: JsonObject])[] = [
  [
    'claude',
    'claude-sonnet-4-5',
    'U0lHTkFUVVJF',
    {
      ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'm', stop_reason: 'tool_use', stop_sequence: null },
      content: [
        { type: 'thinking', thinking: 'let me look', signature: 'U0lHTkFUVVJF' },
        { type: 'tool_use', id: 'toolu_1', name: 'look', input: {} },
      ],
      usage: { input_tokens: 1, output_tokens: 1 },
    },
  ],
  [
    'gemini',
    'gemini-3-pro',
    'R0VNSU5J',
    {
      candidates: [
        {
          content: { role: 'model', parts: [{ functionCall: { name: 'look', args: {} }, thoughtSignature: 'R0VNSU5J' }] },
          finishReason: 'STOP',
          index: 0,
        },
      ],
      usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
    },
  ],
  [
    'openai:openai-responses',
    'gpt-5.2',
    'gAAAAABstate',
    {
      ...{ id: 'resp_1', object: 'response', created_at: 0, status: 'completed', model: 'm', error: null, incomplete_details: null },
      output: [
        { id: 'rs_1', type: 'reasoning', summary: [], encrypted_content: 'gAAAAABstate' },
        { id: 'fc_1', type: 'function_call', call_id: 'call_1', name: 'look', arguments: '{}', status: 'completed' },
      ],
      usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
    },
  ],
  [
    'openrouter',
    'anthropic/claude-sonnet-4.5',
    'T1BFTlJPVVRFUg',
    chatAnswer({
      reasoning: 'let me look',
      reasoning_details: [
        { type: 'reasoning.text', text: 'let me look', signature: 'T1BFTlJPVVRFUg', format: 'anthropic-claude-v1', index: 0 },
      ],
    }),
  ],
  [
    'openrouter',
    'openai/gpt-5.2',
    'RU5DUllQVEVE',
    chatAnswer({ reasoning_details: [{ type: 'reasoning.encrypted', data: 'RU5DUllQVEVE', format: 'openai-responses-v1', index: 0 }] }),
  ],
  ['copilot', 'gpt-5.2', 'Q09QSUxPVA', chatAnswer({ reasoning_text: 'let me look', reasoning_opaque: 'Q09QSUxPVA' })],
];

/** Where the dialects keep such state. */
const STATE =
  /(?:signature|data|encrypted_content|thoughtSignature|reasoning_details\[\d+\]\.(?:signature|data)|extra_content.*|reasoning_opaque)$/;

const FUNCTION = { name: 'look', parameters: { type: 'object', properties: {} } };
/** The tools that the caller offered, as its dialect writes them. */
const ASKED: Readonly<Record<string, JsonObject>> = {
  claude: { tools: [{ name: 'look', input_schema: FUNCTION.parameters }] },
  'openai-chat': { tools: [{ type: 'function', function: FUNCTION }] },
  kimi: { tools: [{ type: 'function', function: FUNCTION }] },
  copilot: { tools: [{ type: 'function', function: FUNCTION }] },
  'openai-responses': { tools: [{ type: 'function', ...FUNCTION }] },
  gemini: { tools: [{ functionDeclarations: [FUNCTION] }] },
};

/** A streamed answer as its caller's SDK puts it together. */
function collected(caller: string, stream: string): JsonObject {
  const read = new EngineStream(dialectOf(caller).stepper());
  const fold = new Fold();
  for (const event of [...read.read(Buffer.from(stream)), ...read.rest(), ...read.end()]) fold.push(event);
  const response = fold.response();
  if (response === undefined) throw new Error('the stream has no end');
  const context = { runHex: 'ab'.repeat(16), createdAtMs: 0, model: 'm', includeUsage: true, query: '' };
  const written = parseJsonObject(JSON.stringify(dialectOf(caller).lowerResponse(response, context)));
  return isJsonObject(written ?? null) ? (written as JsonObject) : {}; // checked
}

describe.each(SIGNED)('state that %s %s wrote', (engine, model, state, answer) => {
  const target = targetOf(engine, model);
  const callers = dialects.map(({ id }) => id).filter((id) => id !== target.dialect.id);

  test.each(callers)('comes back to it from a caller of %s after a tool loop', (caller) => {
    const { body } = wholeAnswer(target.dialect.id, caller, answer);
    const next = ECHOES[caller]?.(body, ASKED[caller]) ?? {};
    const { upstream, error, fidelity } = mapTo(target, caller, next, { emulate: OPTED_IN });
    expect(error).toBeUndefined();
    expect(JSON.stringify(upstream?.body)).toContain(state);
    expect(fidelity.filter(({ path, fate }) => STATE.test(path) && fate === 'dropped')).toEqual([]);
  });

  test.each(callers)('comes back to it from a caller of %s who streamed', (caller) => {
    const context = { runHex: 'cd'.repeat(16), createdAtMs: 0, model: 'm', includeUsage: true, query: '?alt=sse' };
    const emitter = target.dialect.emitter(context);
    const own = [...unfold(target.dialect.liftResponse(answer))].map((event) => emitter.emit(event)).join('');
    const { text } = streamedAnswer(target.dialect.id, caller, Buffer.from(own));
    const next = ECHOES[caller]?.(collected(caller, text), ASKED[caller]) ?? {};
    expect(JSON.stringify(mapTo(target, caller, next, { emulate: OPTED_IN }).upstream?.body)).toContain(state);
  });
});

/** A history whose state belongs to an engine of the target's dialect that is not known to take it back. */
test('state that its dialect does not take back is said to be dropped', () => {
  const [, , state, answer] = SIGNED.find(([engine]) => engine === 'openrouter') ?? [];
  const { body } = wholeAnswer('openai-chat', 'claude', answer ?? {});
  const next = ECHOES.claude?.(body, ASKED.claude) ?? {};
  const { upstream, fidelity } = mapTo(targetOf('openai:openai-chat', 'gpt-5.2'), 'claude', next, { emulate: OPTED_IN });
  expect(JSON.stringify(upstream?.body)).not.toContain(state);
  expect(fidelity.find(({ path }) => path.endsWith('signature'))).toMatchObject({ fate: 'dropped' });
});

test('words that streamed to a Gemini caller in pieces come back as one text', () => {
  const contents = [
    { role: 'user', parts: [{ text: 'hi' }] },
    { role: 'model', parts: [{ text: 'hello ' }, { text: 'there' }, { text: '' }] },
    { role: 'user', parts: [{ text: 'go ' }, { text: 'on' }] },
  ];
  const { upstream } = mapTo(targetOf('openai:openai-responses', 'gpt-5.2'), 'gemini', { contents });
  expect(upstream?.body.input).toMatchObject([
    {},
    { role: 'assistant', content: 'hello there' },
    { role: 'user', content: [{ text: 'go ' }, { text: 'on' }] },
  ]);
});

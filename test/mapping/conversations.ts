import fc from 'fast-check';
import type { IrMessage } from '../../src/ir/conversation.ts';
import type { IrPart, ToolCallPart, ToolResultPart } from '../../src/ir/part.ts';
import type { IrFunctionTool, IrRequest, IrSampling, IrToolChoice } from '../../src/ir/request.ts';

const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 30 });
const textPart = text.map((value): IrPart => ({ kind: 'text', text: value }));

const bytes = fc.uint8Array({ minLength: 1, maxLength: 12 }).map((data) => Buffer.from(data).toString('base64'));
const mediaPart: fc.Arbitrary<IrPart> = fc.oneof(
  fc
    .record({ data: bytes, type: fc.constantFrom('image/png', 'image/jpeg', 'image/gif', 'image/webp') })
    .map(({ data, type }): IrPart => ({ kind: 'image', source: { kind: 'base64', mediaType: type, data } })),
  fc.nat(99).map((number): IrPart => ({ kind: 'image', source: { kind: 'url', url: `https://example.test/${number}.png` } })),
  bytes.map((data): IrPart => ({ kind: 'document', source: { kind: 'base64', mediaType: 'application/pdf', data }, title: 'a.pdf' })),
);

const toolName = fc.stringMatching(/^[a-z][a-z0-9_]{0,11}$/);
const tool: fc.Arbitrary<IrFunctionTool> = fc
  .record({ name: toolName, description: text, property: toolName, type: fc.constantFrom('string', 'integer', 'boolean') })
  .map(({ name, description, property, type }) => ({
    kind: 'function',
    name,
    description,
    schema: { type: 'object', properties: { [property]: { type } }, required: [property], additionalProperties: false },
  }));

/** Arguments as a vendor writes them: a JSON object. */
const argumentsText = fc
  .dictionary(fc.stringMatching(/^[a-z]{1,6}$/), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 })
  .map((value) => JSON.stringify(value));

const outcome = fc.record({
  // The wires without an error flag say it in words, and leave words alone that say it already.
  texts: fc.array(
    text.filter((value) => !/^\W*error/i.test(value)),
    { minLength: 1, maxLength: 2 },
  ),
  media: fc.option(mediaPart, { nil: undefined }),
  isError: fc.boolean(),
});
type Outcome = typeof outcome extends fc.Arbitrary<infer T> ? T : never;

const turn = fc.record({
  asked: fc.array(fc.oneof({ weight: 3, arbitrary: textPart }, { weight: 1, arbitrary: mediaPart }), { minLength: 1, maxLength: 3 }),
  instruction: fc.option(text, { nil: undefined, freq: 4 }),
  thought: fc.option(text, { nil: undefined }),
  said: fc.option(text, { nil: undefined }),
  calls: fc.array(fc.record({ name: toolName, arguments: argumentsText, outcome }), { maxLength: 3 }),
});
type Turn = typeof turn extends fc.Arbitrary<infer T> ? T : never;

/** One turn: the user asks, the assistant thinks, speaks and calls, and the user returns every result. */
function messagesOf(each: Turn, number: number): IrMessage[] {
  const calls = each.calls.map(
    (call, at): ToolCallPart => ({ kind: 'tool-call', id: `call_${number}_${at}`, name: call.name, arguments: call.arguments }),
  );
  const answer: IrPart[] = [
    ...(each.thought === undefined ? [] : [{ kind: 'thinking', text: each.thought } as const]),
    ...(each.said === undefined ? [] : [{ kind: 'text', text: each.said } as const]),
    ...calls,
  ];
  const results = each.calls.map((call, at) => resultOf(call.outcome, `call_${number}_${at}`));
  return [
    { role: 'user', parts: each.asked },
    ...(each.instruction === undefined ? [] : [{ role: 'system', parts: [{ kind: 'text', text: each.instruction }] } as const]),
    ...(answer.length === 0 ? [] : [{ role: 'assistant', parts: answer } as const]),
    ...(results.length === 0 ? [] : [{ role: 'user', parts: results } as const]),
  ];
}

function resultOf({ texts, media, isError }: Outcome, callId: string): ToolResultPart {
  const parts = texts.map((value): IrPart => ({ kind: 'text', text: value }));
  return { kind: 'tool-result', callId, isError, parts: media === undefined ? parts : [...parts, media] };
}

const sampling: fc.Arbitrary<IrSampling> = fc.record(
  {
    temperature: fc.constantFrom(0, 0.25, 0.7, 1),
    topP: fc.constantFrom(0.1, 0.9),
    seed: fc.nat(1000),
  },
  { requiredKeys: [] },
);

/** Asked for in one request of five: an engine that has neither refuses the rest of it unread. */
const probing: fc.Arbitrary<IrSampling> = fc.oneof(
  { weight: 4, arbitrary: fc.constant({}) },
  {
    weight: 1,
    arbitrary: fc.record(
      { logprobs: fc.constant(true), topLogprobs: fc.integer({ min: 1, max: 20 }), count: fc.integer({ min: 2, max: 4 }) },
      { requiredKeys: ['logprobs'] },
    ),
  },
);

function choiceAmong(tools: readonly IrFunctionTool[]): fc.Arbitrary<IrToolChoice | undefined> {
  if (tools.length === 0) return fc.constant(undefined);
  return fc.oneof(
    fc.constant(undefined),
    fc.constantFrom<IrToolChoice>({ kind: 'auto' }, { kind: 'none' }, { kind: 'required' }),
    fc.constantFrom(...tools).map(({ name }): IrToolChoice => ({ kind: 'tool', name })),
  );
}

/** Any request in neutral words, as no dialect has touched it: no vendor data, no paths. */
export const anyRequest: fc.Arbitrary<IrRequest> = fc
  .record({
    system: fc.option(text, { nil: undefined }),
    turns: fc.array(turn, { maxLength: 3 }),
    last: text,
    tools: fc.uniqueArray(tool, { selector: ({ name }) => name, maxLength: 3 }),
    stream: fc.boolean(),
    maxTokens: fc.option(fc.integer({ min: 16, max: 9000 }), { nil: undefined }),
    parallel: fc.option(fc.boolean(), { nil: undefined }),
    stop: fc.array(fc.stringMatching(/^[A-Z]{1,5}$/), { maxLength: 4 }),
    sampling: fc.tuple(sampling, probing).map(([usual, more]) => ({ ...usual, ...more })),
  })
  .chain((drawn) => choiceAmong(drawn.tools).map((toolChoice) => ({ ...drawn, toolChoice })))
  .map(({ system, turns, last, maxTokens, parallel, toolChoice, ...rest }) => ({
    model: 'any-model',
    ...rest,
    messages: [
      ...(system === undefined ? [] : [{ role: 'system', parts: [{ kind: 'text', text: system }] } as const]),
      ...turns.flatMap(messagesOf),
      { role: 'user', parts: [{ kind: 'text', text: last }] } as const,
    ],
    ...(maxTokens === undefined ? {} : { maxTokens }),
    ...(parallel === undefined ? {} : { parallelToolCalls: parallel }),
    ...(toolChoice === undefined ? {} : { toolChoice }),
    vendor: {},
  }));

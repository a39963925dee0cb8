import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../base/json.ts';
import type { Concept } from '../../ir/concept.ts';
import type { IrMessage } from '../../ir/conversation.ts';
import type { IrPart } from '../../ir/part.ts';
import type { IrRequest } from '../../ir/request.ts';
import type { LoweredRequest } from '../dialect.ts';
import { lowerRequest } from './lower.ts';

const base: IrRequest = {
  model: 'gemini-2.5-flash',
  stream: false,
  messages: [{ role: 'user', parts: [{ kind: 'text', text: 'hi' }] }],
  tools: [],
  stop: [],
  sampling: {},
  vendor: {},
};

function lower(change: Partial<IrRequest>, traits: readonly string[] = [], lacks: readonly Concept[] = []): LoweredRequest {
  return lowerRequest({ ...base, ...change }, { lacks: new Set(lacks), traits: new Set(traits), defaultMaxTokens: 4096 });
}

function config(change: Partial<IrRequest>, traits: readonly string[] = []): JsonObject {
  return lower(change, traits).body.generationConfig as JsonObject; // an object wherever it is
}

const call: IrPart = { kind: 'tool-call', id: 'toolu_1', name: 'look', arguments: '{"a":1}', at: 'messages[1].content[0]' };
const result = (parts: readonly IrPart[], isError = false): IrPart => ({ kind: 'tool-result', callId: 'toolu_1', parts, isError, at: 'r' });
const image: IrPart = { kind: 'image', source: { kind: 'base64', mediaType: 'image/png', data: 'aGk=' } };
const turn = (...parts: readonly IrPart[]): IrMessage[] => [
  ...base.messages,
  { role: 'assistant', parts: [call] },
  { role: 'user', parts },
];

describe('the address', () => {
  test('holds the model and the method', () => {
    expect(lower({}).path).toBe('/v1beta/models/gemini-2.5-flash:generateContent');
    expect(lower({ stream: true, model: 'models/a b' }).path).toBe('/v1beta/models/a%20b:streamGenerateContent?alt=sse');
    expect(lower({ stream: true }).body).toEqual({ contents: [{ role: 'user', parts: [{ text: 'hi' }] }] });
  });
});

describe('calls of other engines', () => {
  test('keep their ids, and results get the name of their call', () => {
    expect(lower({ messages: turn(result([{ kind: 'text', text: 'seen' }])) }).body.contents).toEqual([
      { role: 'user', parts: [{ text: 'hi' }] },
      { role: 'model', parts: [{ functionCall: { id: 'toolu_1', name: 'look', args: { a: 1 } } }] },
      { role: 'user', parts: [{ functionResponse: { id: 'toolu_1', name: 'look', response: { result: 'seen' } } }] },
    ]);
  });

  test('get a sentinel where the model wants a signature, once a turn, and say so', () => {
    const second: IrPart = { kind: 'tool-call', id: 'toolu_2', name: 'look', arguments: '' };
    const lowered = lower({ messages: [...base.messages, { role: 'assistant', parts: [call, second] }] }, ['needs-thought-signature']);
    expect(lowered.body.contents).toMatchObject([
      {},
      {
        parts: [
          { functionCall: { id: 'toolu_1' }, thoughtSignature: 'c2tpcF90aG91Z2h0X3NpZ25hdHVyZV92YWxpZGF0b3I=' },
          { functionCall: { id: 'toolu_2', name: 'look', args: {} } },
        ],
      },
    ]);
    expect(JSON.stringify(lowered.body).match(/thoughtSignature/g)).toHaveLength(1);
    expect(lowered.notes).toMatchObject([{ concept: 'tool_call', fate: 'emulated', at: 'messages[1].content[0]' }]);
  });

  test('get their own signature back from the part that carried it through another dialect', () => {
    const carrier: IrPart = { kind: 'thinking', text: '', redacted: true, meta: { gemini: { thoughtSignature: 'U0lH' } } };
    const lowered = lower({ messages: [...base.messages, { role: 'assistant', parts: [carrier, call] }] }, ['needs-thought-signature']);
    expect(lowered.body.contents).toMatchObject([{}, { parts: [{ functionCall: { name: 'look' }, thoughtSignature: 'U0lH' }] }]);
    expect(lowered.notes).toEqual([]);
  });

  test('that failed or said nothing still have exactly one result', () => {
    const contents = lower({ messages: turn(result([{ kind: 'text', text: 'no' }], true)) }).body.contents;
    expect(contents).toMatchObject([{}, {}, { parts: [{ functionResponse: { response: { error: 'no' } } }] }]);
    expect(lower({ messages: turn(result([])) }).body.contents).toMatchObject([
      {},
      {},
      { parts: [{ functionResponse: { response: { result: '' } } }] },
    ]);
  });

  test('have their results together, right after them, whatever the user said in between', () => {
    const messages: IrMessage[] = [
      ...base.messages,
      { role: 'assistant', parts: [call] },
      { role: 'user', parts: [{ kind: 'text', text: 'note' }] },
      { role: 'user', parts: [result([{ kind: 'text', text: 'seen' }])] },
    ];
    expect(lower({ messages }).body.contents).toMatchObject([
      {},
      { role: 'model' },
      { role: 'user', parts: [{ functionResponse: { name: 'look' } }, { text: 'note' }] },
    ]);
  });
});

describe('media in a result', () => {
  test('goes inside it where the model takes that', () => {
    const lowered = lower({ messages: turn(result([image])) }, ['function-response-media']);
    expect(lowered.body.contents).toMatchObject([
      {},
      {},
      { parts: [{ functionResponse: { parts: [{ inlineData: { mimeType: 'image/png', data: 'aGk=' } }] } }] },
    ]);
    expect(lowered.notes).toEqual([]);
  });

  test('is refused where it does not', () => {
    expect(lower({ messages: turn(result([image])) }).notes).toMatchObject([{ concept: 'tool_result_media', fate: 'refused', at: 'r' }]);
  });
});

describe('reasoning of another engine', () => {
  test('is dropped with a note, and a message of nothing else disappears', () => {
    const thinking: IrPart = { kind: 'thinking', text: 'hm', meta: { claude: { signature: 's' } } };
    const lowered = lower({ messages: [...base.messages, { role: 'assistant', parts: [thinking] }, ...base.messages] });
    expect(lowered.body.contents).toMatchObject([{ role: 'user' }, { role: 'user' }]);
    expect(lowered.notes).toMatchObject([{ concept: 'thinking_history', fate: 'dropped' }]);
  });
});

describe('thinking', () => {
  test.each([
    [{ thinking: { mode: 'enabled', budgetTokens: 5000 } }, { includeThoughts: true, thinkingBudget: 5000 }],
    [{ thinking: { mode: 'enabled', budgetTokens: 5000, display: 'omitted' } }, { thinkingBudget: 5000 }],
    [{ thinking: { mode: 'adaptive' } }, { includeThoughts: true, thinkingBudget: -1 }],
    [{ thinking: { mode: 'disabled' } }, { thinkingBudget: 0 }],
    [{ effort: 'medium' }, { thinkingBudget: 8192 }],
    [{ effort: 'none' }, { thinkingBudget: 0 }],
  ] as const)('%j is a budget', (change, expected) => {
    expect(config(change).thinkingConfig).toEqual(expected);
    expect(
      lower(change)
        .notes.filter(({ ofLeaf }) => !ofLeaf)
        .map(({ fate }) => fate),
    ).toEqual(['emulated']);
  });

  test.each([
    [{ thinking: { mode: 'enabled', budgetTokens: 2000 } }, { includeThoughts: true, thinkingLevel: 'LOW' }],
    [{ thinking: { mode: 'enabled', budgetTokens: 32_000 } }, { includeThoughts: true, thinkingLevel: 'HIGH' }],
    [{ thinking: { mode: 'adaptive' } }, { includeThoughts: true }],
    [{ thinking: { mode: 'disabled' } }, { thinkingLevel: 'MINIMAL' }],
    [{ effort: 'max' }, { thinkingLevel: 'HIGH' }],
  ] as const)('%j is a level where the model has levels', (change, expected) => {
    expect(config(change, ['thinking-level']).thinkingConfig).toEqual(expected);
    expect(
      lower(change, ['thinking-level'])
        .notes.filter(({ ofLeaf }) => !ofLeaf)
        .map(({ fate }) => fate),
    ).toEqual(['emulated']);
  });

  test('is exact as an effort that is a level', () => {
    expect(config({ effort: 'low' }, ['thinking-level']).thinkingConfig).toEqual({ thinkingLevel: 'LOW' });
    expect(lower({ effort: 'low' }, ['thinking-level']).notes).toEqual([]);
  });

  test('goes back in the words it came in until somebody overrides it', () => {
    const own = { generationConfig: { thinkingConfig: { include_thoughts: true, thinking_budget: 99 } } };
    const same: Partial<IrRequest> = { thinking: { mode: 'enabled', budgetTokens: 99, display: 'summarized' }, vendor: { gemini: own } };
    expect(config(same).thinkingConfig).toEqual({ include_thoughts: true, thinking_budget: 99 });
    expect(lower(same).notes).toEqual([]);
    expect(config({ ...same, thinking: { mode: 'disabled' } }).thinkingConfig).toEqual({ thinkingBudget: 0 });
  });

  test('that is off is what a model without it does anyway', () => {
    const lowered = lower({ thinking: { mode: 'disabled' } }, [], ['thinking', 'effort']);
    expect(lowered.body.generationConfig).toBeUndefined();
    expect(lowered.notes).toMatchObject([{ concept: 'thinking', fate: 'renamed', code: 'does_not_reason' }]);
  });
});

describe('tools', () => {
  const tool = (name: string, more: object = {}): IrRequest['tools'][number] => ({
    kind: 'function',
    name,
    schema: { type: 'object', properties: { q: { const: 'x' } }, additionalProperties: false, $schema: 'https://json-schema.org/draft-07' },
    at: `tools.${name}`,
    ...more,
  });

  test('keep their whole JSON Schema', () => {
    expect(lower({ tools: [tool('f')] }).body.tools).toEqual([
      {
        functionDeclarations: [
          {
            name: 'f',
            parametersJsonSchema: {
              type: 'object',
              properties: { q: { const: 'x' } },
              additionalProperties: false,
              $schema: 'https://json-schema.org/draft-07',
            },
          },
        ],
      },
    ]);
  });

  test('are converted where the model takes only the subset, and what is lost is said', () => {
    const lowered = lower({ tools: [tool('f')] }, ['openapi-schema']);
    expect(lowered.body.tools).toEqual([
      { functionDeclarations: [{ name: 'f', parameters: { type: 'OBJECT', properties: { q: { type: 'STRING', enum: ['x'] } } } }] },
    ]);
    expect(lowered.notes).toMatchObject([{ concept: 'tool', fate: 'emulated', code: 'schema_words_lost', at: 'tools.f' }]);
  });

  test('that the engine runs are mapped, or refused by name', () => {
    const search = {
      kind: 'hosted',
      hosted: 'web_search',
      name: 'web_search',
      at: 's',
      meta: { claude: { type: 'web_search_20250305' } },
    } as const;
    const bash = { kind: 'hosted', hosted: 'vendor', name: 'bash', at: 'b', meta: { claude: {} } } as const;
    const lowered = lower({ tools: [search, bash] });
    expect(lowered.body.tools).toEqual([{ googleSearch: {} }]);
    expect(lowered.notes).toMatchObject([
      { concept: 'hosted_tool', fate: 'emulated', at: 's' },
      { concept: 'hosted_tool', fate: 'refused', at: 'b' },
    ]);
  });

  test.each([
    [{ kind: 'auto' }, { mode: 'AUTO' }],
    [{ kind: 'none' }, { mode: 'NONE' }],
    [{ kind: 'required' }, { mode: 'ANY' }],
    [
      { kind: 'tool', name: 'g' },
      { mode: 'ANY', allowedFunctionNames: ['g'] },
    ],
    [
      { kind: 'allowed', names: ['f', 'g'], mode: 'required' },
      { mode: 'ANY', allowedFunctionNames: ['f', 'g'] },
    ],
  ] as const)('the choice %j is %j', (toolChoice, expected) => {
    const lowered = lower({ tools: [tool('f'), tool('g')], toolChoice });
    expect(lowered.body.toolConfig).toEqual({ functionCallingConfig: expected });
    expect(lowered.notes).toEqual([]);
  });

  test('that are allowed but not forced are the only ones declared', () => {
    const lowered = lower({ tools: [tool('f'), tool('g')], toolChoice: { kind: 'allowed', names: ['g'], mode: 'auto' } });
    expect(lowered.body.tools).toMatchObject([{ functionDeclarations: [{ name: 'g' }] }]);
    expect(new Set(lowered.notes.map(({ code }) => code))).toEqual(new Set(['allowed_tools_declared', 'tool_not_declared']));
  });

  test('that are strict are validated', () => {
    expect(lower({ tools: [tool('f', { strict: true })] }).body.toolConfig).toEqual({ functionCallingConfig: { mode: 'VALIDATED' } });
  });
});

describe('limits', () => {
  test.each([
    [{ stop: ['1', '2', '3', '4', '5', '6'] }, 'stop_sequences'],
    [{ sampling: { seed: 2 ** 40 } }, 'seed'],
  ])('%j is refused', (change, concept) => {
    expect(lower(change).notes).toMatchObject([{ concept, fate: 'refused' }]);
  });

  test('of the service tier are dropped', () => {
    expect(lower({ serviceTier: 'default' }).body.serviceTier).toBe('standard');
    expect(lower({ serviceTier: 'auto' }).notes).toMatchObject([{ concept: 'service_tier', fate: 'dropped' }]);
  });
});

test('a caller of another vendor who wants no tool used gets none of Gemini’s own', () => {
  const search = { kind: 'hosted', hosted: 'web_search', name: 'web_search', at: 's', meta: { claude: {} } } as const;
  const none = lower({ tools: [search], toolChoice: { kind: 'none' } });
  expect([none.body.tools, none.notes.map(({ concept, code }) => [concept, code])]).toEqual([
    undefined,
    [
      ['tool_choice', 'allowed_tools_declared'],
      ['hosted_tool', 'tool_not_declared'],
    ],
  ]);
  const own = { ...search, meta: { gemini: { googleSearch: {} } } } as const;
  expect(lower({ tools: [own], toolChoice: { kind: 'none' } }).body.tools).toEqual([{ googleSearch: {} }]);
});

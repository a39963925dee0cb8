import type { Json, JsonObject } from '../../src/base/json.ts';
import { programCases } from './program-cases.ts';
import type { SampleRequest } from './sources.ts';

const OPEN: JsonObject = { type: 'object', properties: { a: { type: 'string' } } };
const CLOSED: JsonObject = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'], additionalProperties: false };
const OPTIONAL: JsonObject = { ...CLOSED, required: [] };
const RECURSIVE: JsonObject = {
  type: 'object',
  properties: { node: { $ref: '#/$defs/node' } },
  required: ['node'],
  additionalProperties: false,
  $defs: {
    node: {
      type: 'object',
      properties: { next: { anyOf: [{ $ref: '#/$defs/node' }, { type: 'null' }] } },
      required: ['next'],
      additionalProperties: false,
    },
  },
};
const names = (count: number): string[] => Array.from({ length: count }, (_, at) => `m${at}`);
const MANY_UNIONS: JsonObject = {
  type: 'object',
  properties: Object.fromEntries(names(20).map((name) => [name, { type: ['string', 'null'] }])),
  required: names(20),
  additionalProperties: false,
};
const MANY_OPTIONAL: JsonObject = {
  type: 'object',
  properties: Object.fromEntries(names(30).map((name) => [name, { type: 'string' }])),
  required: [],
  additionalProperties: false,
};
const ONE_OF: JsonObject = { ...CLOSED, properties: { a: { oneOf: [{ type: 'string' }, { type: 'number' }] } } };

/** Sets of functions that vendors disagree about: name, schemas, and whether they are strict. */
const TOOLS: readonly (readonly [name: string, schemas: readonly JsonObject[], strict: boolean])[] = [
  ['strict tools, open', [OPEN], true],
  ['strict tools, optional members', [OPTIONAL], true],
  ['strict tools, recursive', [RECURSIVE], true],
  ['strict tools, many unions', [MANY_UNIONS], true],
  ['strict tools, many optional members', [MANY_OPTIONAL], true],
  ['strict tools, oneOf inside', [ONE_OF], true],
  ['25 strict tools', names(25).map(() => CLOSED), true],
  ['a list as arguments', [{ type: 'array', items: { type: 'string' } }], false],
  ['a list as strict arguments', [{ type: 'array', items: { type: 'string' } }], true],
  ['alternatives at the root', [{ anyOf: [CLOSED, OPEN] }], false],
  ['no type at the root', [{ properties: { a: { type: 'string' } } }], false],
  ['an empty schema', [{}], false],
];

const HI: Json = 'hi';

function request(from: string, name: string, body: JsonObject): SampleRequest {
  return { id: `hard case ${from}: ${name}`, from, body, address: { model: 'asked-model', stream: false } };
}

const claude = (name: string, members: JsonObject): SampleRequest =>
  request('claude', name, { model: 'm', max_tokens: 100, messages: [{ role: 'user', content: HI }], ...members });
const chat = (name: string, members: JsonObject, from = 'openai-chat'): SampleRequest =>
  request(from, name, { model: 'm', messages: [{ role: 'user', content: HI }], ...members });
const responses = (name: string, members: JsonObject): SampleRequest =>
  request('openai-responses', name, { model: 'm', input: HI, ...members });
const gemini = (name: string, members: JsonObject): SampleRequest =>
  request('gemini', name, { contents: [{ role: 'user', parts: [{ text: 'hi' }] }], ...members });

function toolCases(): SampleRequest[] {
  return TOOLS.flatMap(([name, schemas, strict]) => {
    const named = schemas.map((schema, at) => ({ name: `tool_${at}`, schema }));
    const declared = named.map((one) => ({ name: one.name, parameters: one.schema, strict }));
    return [
      claude(name, { tools: named.map((one) => ({ name: one.name, input_schema: one.schema, strict })) }),
      chat(name, { tools: declared.map((one) => ({ type: 'function', function: one })) }),
      chat(name, { tools: declared.map((one) => ({ type: 'function', function: one })) }, 'kimi'),
      chat(name, { tools: named.map((one) => ({ type: 'function', function: { name: one.name, parameters: one.schema } })) }, 'copilot'),
      responses(name, { tools: declared.map((one) => ({ type: 'function', ...one })) }),
      gemini(name, {
        tools: [{ functionDeclarations: named.map((one) => ({ name: one.name, parametersJsonSchema: one.schema })) }],
        ...(strict ? { toolConfig: { functionCallingConfig: { mode: 'VALIDATED' } } } : {}),
      }),
    ];
  });
}

const SYSTEM = { role: 'system', content: 'Be brief.' };
const USER = { role: 'user', content: HI };
const SAID = { role: 'assistant', content: 'I am here.' };
const CALL = { id: 'call_1', type: 'function', function: { name: 'look', arguments: '{}' } };
const LOOK = { type: 'function', function: { name: 'look', parameters: CLOSED } };

/** Conversations that one vendor takes and another does not. */
function chatCases(from: string): SampleRequest[] {
  const cases: readonly (readonly [string, JsonObject])[] = [
    ['instructions alone', { messages: [SYSTEM] }],
    ['the assistant first', { messages: [SAID, USER] }],
    ['the assistant first, after instructions', { messages: [SYSTEM, SAID, USER] }],
    ['the assistant alone', { messages: [SAID] }],
    [
      'a call first',
      {
        messages: [
          { role: 'assistant', content: null, tool_calls: [CALL] },
          { role: 'tool', tool_call_id: 'call_1', content: 'x' },
        ],
        tools: [LOOK],
      },
    ],
    ['an empty text', { messages: [{ role: 'user', content: '' }] }],
    ['a blank text', { messages: [{ role: 'user', content: ' \n' }] }],
    ['an empty text in between', { messages: [USER, { role: 'assistant', content: '' }, USER] }],
    ['an empty part', { messages: [{ role: 'user', content: [{ type: 'text', text: '' }] }] }],
    [
      'an empty result',
      {
        messages: [USER, { role: 'assistant', content: '', tool_calls: [CALL] }, { role: 'tool', tool_call_id: 'call_1', content: '' }],
        tools: [LOOK],
      },
    ],
    ['empty instructions', { messages: [{ role: 'system', content: '' }, USER] }],
  ];
  return cases.map(([name, members]) => chat(name, members, from));
}

const GRAMMAR = { type: 'grammar', syntax: 'lark', definition: 'start: "a"' };
const REFUSAL = { role: 'assistant', content: [{ type: 'refusal', refusal: 'No.' }] };

const OTHERS: readonly SampleRequest[] = [
  claude('an empty block', { messages: [{ role: 'user', content: [] }] }),
  claude('an empty text', { messages: [{ role: 'user', content: '' }] }),
  claude('an empty answer in between', { messages: [USER, { role: 'assistant', content: [] }, USER] }),
  claude('an empty result', {
    messages: [
      USER,
      { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'look', input: {} }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1' }] },
    ],
    tools: [{ name: 'look', input_schema: CLOSED }],
  }),
  chat('a grammar', {
    tools: [
      { type: 'custom', custom: { name: 'patch', format: { type: 'grammar', grammar: { syntax: 'lark', definition: 'start: "a"' } } } },
    ],
  }),
  chat('a refusal', { messages: [USER, { role: 'assistant', content: null, refusal: 'No.' }, USER] }),
  chat('a refusal as a part', { messages: [USER, REFUSAL, USER] }),
  chat('functions of old', { functions: [{ name: 'look', parameters: CLOSED }], function_call: 'auto' }),
  chat('a call of old', {
    messages: [
      USER,
      { role: 'assistant', content: null, function_call: { name: 'look', arguments: '{}' } },
      { role: 'function', name: 'look', content: 'x' },
    ],
    functions: [{ name: 'look', parameters: CLOSED }],
  }),
  responses('a grammar', { tools: [{ type: 'custom', name: 'apply_patch', description: 'Edits files.', format: GRAMMAR }] }),
  responses('a free-form call', {
    input: [
      { role: 'user', content: HI },
      { type: 'custom_tool_call', call_id: 'call_1', name: 'apply_patch', input: '*** Begin Patch' },
      { type: 'custom_tool_call_output', call_id: 'call_1', output: 'done' },
    ],
    tools: [{ type: 'custom', name: 'apply_patch', format: GRAMMAR }],
  }),
  responses('a refusal', {
    input: [
      { role: 'user', content: HI },
      { type: 'message', ...REFUSAL },
      { role: 'user', content: HI },
    ],
  }),
  responses('an empty input with instructions', { input: [], instructions: 'Be brief.' }),
  responses('an empty text', { input: '' }),
  responses('reasoning alone', {
    input: [
      { type: 'reasoning', id: 'rs_1', summary: [] },
      { role: 'user', content: HI },
    ],
  }),
  responses('the assistant first', {
    input: [
      { role: 'assistant', content: 'I am here.' },
      { role: 'user', content: HI },
    ],
  }),
  gemini('no parts', { contents: [{ role: 'user', parts: [] }] }),
  gemini('an empty text', { contents: [{ role: 'user', parts: [{ text: '' }] }] }),
  gemini('the model first', {
    contents: [
      { role: 'model', parts: [{ text: 'I am here.' }] },
      { role: 'user', parts: [{ text: 'hi' }] },
    ],
  }),
];

/** JSON answers from models that think; those that do not think refuse them. */
export function thoughtfulCases(): SampleRequest[] {
  const schemas = {
    open: OPEN,
    closed: CLOSED,
    optional: OPTIONAL,
    recursive: RECURSIVE,
    'with oneOf inside': ONE_OF,
    'of any object': { type: 'object' },
  };
  return Object.entries(schemas).flatMap(([name, schema]) => [
    gemini(`thinking and a schema, ${name}`, {
      generationConfig: {
        thinkingConfig: { thinkingBudget: 2048, includeThoughts: true },
        responseMimeType: 'application/json',
        responseJsonSchema: schema,
      },
    }),
    chat(`effort and a schema, ${name}`, {
      reasoning_effort: 'high',
      response_format: { type: 'json_schema', json_schema: { name: 'answer', schema } },
    }),
    responses(`effort and a schema, ${name}`, {
      reasoning: { effort: 'medium' },
      text: { format: { type: 'json_schema', name: 'answer', schema } },
    }),
    claude(`thinking and a schema, ${name}`, {
      max_tokens: 8000,
      thinking: { type: 'enabled', budget_tokens: 2048 },
      output_config: { format: { type: 'json_schema', schema } },
    }),
  ]);
}

/** Requests that are legal at their own vendor, or nearly so, and that others answer with 400. */
export function hardCases(): SampleRequest[] {
  return [...toolCases(), ...['openai-chat', 'kimi', 'copilot'].flatMap(chatCases), ...OTHERS, ...programCases()];
}

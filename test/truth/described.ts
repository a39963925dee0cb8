import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isJsonObject, type Json, type JsonObject, parseJson } from '../../src/base/json.ts';
import { besideCorpus } from '../support/corpus.ts';
import { openapiSchemas } from '../support/openapi-schema.ts';
import type { SampleAnswer, SampleRequest } from './sources.ts';

/** The named schemas of a vendor's description. */
type Schemas = JsonObject;

/** Values of one schema that are tried; unions inside of unions would otherwise have no end. */
const MOST = 150;
const NULL: JsonObject = { type: 'null' };

function list(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? (value as readonly Json[]) : []; // Array.isArray widens
}

function objects(value: Json | undefined): readonly JsonObject[] {
  return list(value).filter(isJsonObject);
}

/** Values that a schema allows: one with everything, one with what is required alone, and one for each alternative anywhere inside. */
export function examples(schema: JsonObject, schemas: Schemas, within: readonly string[] = []): readonly Json[] {
  const { $ref: ref, nullable, ...own } = schema;
  if (typeof ref === 'string') {
    const name = ref.slice(ref.lastIndexOf('/') + 1);
    const target = schemas[name];
    return within.includes(name) || !isJsonObject(target) ? [] : examples(merged(target, own), schemas, [...within, name]);
  }
  const found = nullable === true ? [...examples(own, schemas, within), null] : plain(own, schemas, within);
  return found.slice(0, MOST);
}

function plain(schema: JsonObject, schemas: Schemas, within: readonly string[]): readonly Json[] {
  const { anyOf, oneOf, allOf, discriminator: _chosen, ...base } = schema;
  const branches = [...objects(anyOf), ...objects(oneOf)];
  if (branches.length > 0) {
    const some = branches.filter(({ type }) => type !== 'null').flatMap((one) => examples(merged(base, one), schemas, within));
    return branches.some(({ type }) => type === 'null') ? [...some, null] : some;
  }
  if (allOf !== undefined)
    return examples(
      objects(allOf).reduce((sum, one) => merged(sum, resolved(one, schemas)), base),
      schemas,
      within,
    );
  if (schema.const !== undefined) return [schema.const];
  if (schema.enum !== undefined) return list(schema.enum);
  const types = Array.isArray(schema.type) ? list(schema.type) : [schema.type ?? (schema.properties === undefined ? 'string' : 'object')];
  return types.flatMap((type) => ofType(String(type), schema, schemas, within));
}

function resolved(schema: JsonObject, schemas: Schemas): JsonObject {
  const { $ref: ref } = schema;
  const target = typeof ref === 'string' ? schemas[ref.slice(ref.lastIndexOf('/') + 1)] : schema;
  return isJsonObject(target) ? target : {};
}

function merged(a: JsonObject, b: JsonObject): JsonObject {
  const both = isJsonObject(a.properties) && isJsonObject(b.properties) ? { properties: { ...a.properties, ...b.properties } } : {};
  return { ...a, ...b, ...both, required: [...list(a.required), ...list(b.required)] };
}

function ofType(type: string, schema: JsonObject, schemas: Schemas, within: readonly string[]): readonly Json[] {
  switch (type) {
    case 'null':
      return [null];
    case 'any':
      return [{ type: 'object', properties: { a: { type: 'string' } } }];
    case 'boolean':
      return [true, false];
    case 'integer':
    case 'number':
      return [typeof schema.minimum === 'number' ? Math.max(schema.minimum, 1) : 1];
    case 'array':
      return arrays(schema, schemas, within);
    case 'object':
      return shapes(schema, schemas, within);
    default:
      return [textFor(schema)];
  }
}

function textFor({ format }: JsonObject): string {
  if (format === 'uri') return 'https://a.example/x';
  if (format === 'int64') return '1';
  return format === 'byte' ? 'QUJDRA==' : format === 'date-time' || format === 'google-datetime' ? '2026-01-02T03:04:05Z' : 'words';
}

function arrays(schema: JsonObject, schemas: Schemas, within: readonly string[]): readonly Json[] {
  const items = isJsonObject(schema.items ?? null) ? examples(schema.items as JsonObject, schemas, within) : ['words']; // checked
  return [...items.map((one) => [one]), []];
}

function shapes(schema: JsonObject, schemas: Schemas, within: readonly string[]): readonly Json[] {
  if (!isJsonObject(schema.properties ?? null)) return [{ a: 'words' }, {}];
  const members = Object.entries(schema.properties as JsonObject) // checked
    .map(([name, one]) => [name, isJsonObject(one) ? member(name, one, schemas, within) : []] as const)
    .filter(([, values]) => values.length > 0);
  const full = Object.fromEntries(members.map(([name, [first]]) => [name, first ?? null]));
  const required = new Set(list(schema.required));
  const bare = Object.fromEntries(Object.entries(full).filter(([name]) => required.has(name)));
  const others = members.flatMap(([name, [, ...rest]]) => rest.map((value) => ({ ...full, [name]: value })));
  return [full, bare, ...others];
}

/** Google names the words of a role in prose alone. */
function member(name: string, schema: JsonObject, schemas: Schemas, within: readonly string[]): readonly Json[] {
  return name === 'role' && schema.type === 'string' && schema.enum === undefined && schema.const === undefined
    ? ['user', 'model']
    : examples(schema, schemas, within);
}

interface Vendor {
  readonly from: string;
  readonly schemas: Schemas;
}

async function vendors(): Promise<readonly Vendor[]> {
  const folder = besideCorpus('vendor-openapi');
  if (folder === undefined) return [];
  const openai = await openapiSchemas(join(folder, 'openai-openapi'));
  const anthropic = await openapiSchemas(join(folder, 'anthropic-openapi'));
  const google = join(folder, 'google-discovery.json');
  const discovery = existsSync(google) ? parseJson(readFileSync(google, 'utf8')) : undefined;
  const gemini = discovery?.ok === true && isJsonObject(discovery.value) ? discovery.value.schemas : undefined;
  return [
    ...(anthropic === undefined ? [] : [{ from: 'claude', schemas: anthropic }]),
    ...(openai === undefined ? [] : ['openai-chat', 'openai-responses'].map((from) => ({ from, schemas: openai }))),
    ...(isJsonObject(gemini ?? null) ? [{ from: 'gemini', schemas: gemini as JsonObject }] : []), // checked
  ];
}

const named = (schemas: Schemas, name: string): readonly JsonObject[] => objects([...examples({ $ref: name }, schemas)]);

/** Items that callers write, though the vendor lists them among those of answers. */
const OF_CALLER = /^(?:function_call_output|custom_tool_call_output)$/;

/** Examples of each kind of a union. */
function branchesOf(schemas: Schemas, name: string): readonly JsonObject[] {
  const { anyOf, oneOf } = resolved({ $ref: name }, schemas);
  const all = [...objects(anyOf), ...objects(oneOf)].flatMap((branch) => objects([...examples(branch, schemas)]));
  return all.filter(({ type }) => !OF_CALLER.test(String(type)));
}

/** The parts of Gemini are told apart by the one member with data that they have; models write no results. */
const DATA = /^(?:text|inlineData|fileData|functionCall|executableCode|codeExecutionResult|toolCall|toolResponse)$/;

function geminiParts(schemas: Schemas): readonly JsonObject[] {
  const [full = {}] = named(schemas, 'Part');
  const { properties } = resolved({ $ref: 'Part' }, schemas);
  const besides = Object.fromEntries(Object.entries(full).filter(([key]) => !DATA.test(key) && key !== 'functionResponse'));
  return Object.entries(isJsonObject(properties ?? null) ? (properties as JsonObject) : {}) // checked
    .filter(([key]) => DATA.test(key))
    .flatMap(([key, schema]) => examples(isJsonObject(schema) ? schema : NULL, schemas).map((data) => ({ ...besides, [key]: data })))
    .filter(({ functionCall }) => functionCall === undefined || (isJsonObject(functionCall) && functionCall.name !== undefined))
    .flatMap((part) => [part, Object.fromEntries(Object.entries(part).filter(([key]) => DATA.test(key)))]);
}

const USAGE = { input_tokens: 1, output_tokens: 1 };

/** Whole answers with one part of each kind that the vendor describes. */
const ANSWERS: Readonly<Record<string, (schemas: Schemas) => readonly JsonObject[]>> = {
  claude: (schemas) =>
    [...branchesOf(schemas, 'ContentBlock'), ...branchesOf(schemas, 'BetaContentBlock')].map((block) => ({
      ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'm', stop_reason: 'end_turn', stop_sequence: null, usage: USAGE },
      content: [block],
    })),
  'openai-chat': (schemas) =>
    named(schemas, 'ChatCompletionResponseMessage').map((message) => ({
      ...{ id: 'c', object: 'chat.completion', created: 1, model: 'm', usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 } },
      choices: [{ index: 0, message, finish_reason: 'stop', logprobs: null }],
    })),
  'openai-responses': (schemas) =>
    branchesOf(schemas, 'OutputItem').map((item) => ({
      ...{ id: 'resp_1', object: 'response', created_at: 1, status: 'completed', model: 'm', usage: { ...USAGE, total_tokens: 2 } },
      output: [item],
    })),
  gemini: (schemas) =>
    geminiParts(schemas).map((part) => ({
      candidates: [{ content: { role: 'model', parts: [part] }, finishReason: 'STOP', index: 0 }],
      usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
    })),
};

/** Answers made of the vendors' own descriptions: every kind of part with all its members, with few, and with each alternative inside. */
export async function describedAnswers(): Promise<SampleAnswer[]> {
  return (await vendors()).flatMap(({ from, schemas }) =>
    (ANSWERS[from]?.(schemas) ?? []).map((answer, at) => ({ id: `described ${from} ${at}`, from, answer })),
  );
}

const REQUESTS: Readonly<Record<string, { readonly schema: string; readonly base: JsonObject }>> = {
  claude: { schema: 'CreateMessageParams', base: { model: 'm', max_tokens: 2000, messages: [{ role: 'user', content: 'hi' }] } },
  'openai-chat': { schema: 'CreateChatCompletionRequest', base: { model: 'm', messages: [{ role: 'user', content: 'hi' }] } },
  'openai-responses': { schema: 'CreateResponse', base: { model: 'm', input: 'hi' } },
  gemini: { schema: 'GenerateContentRequest', base: { contents: [{ role: 'user', parts: [{ text: 'hi' }] }] } },
};

/** A schema with everything that it takes from others. */
function flat(schema: JsonObject, schemas: Schemas): JsonObject {
  const { allOf, ...own } = resolved(schema, schemas);
  return objects(allOf).reduce((sum, one) => merged(sum, flat(one, schemas)), own);
}

/** Requests with one member more than the least there can be, in every form that the vendor describes. */
export async function describedRequests(): Promise<SampleRequest[]> {
  return (await vendors()).flatMap(({ from, schemas }) => {
    const { schema, base } = REQUESTS[from] ?? { schema: '', base: {} };
    const { properties } = flat({ $ref: schema }, schemas);
    return Object.entries(isJsonObject(properties ?? null) ? (properties as JsonObject) : {}) // checked
      .filter(([name]) => name !== 'model')
      .flatMap(([name, one]) =>
        examples(isJsonObject(one) ? one : NULL, schemas).map((value, at) => ({
          id: `described ${from}.${name} ${at}`,
          from,
          body: { ...base, [name]: value },
          address: { model: 'asked-model', stream: false },
        })),
      );
  });
}

/** Two members at a time, in one form of each: what comes of one may depend on the other. */
export async function describedPairs(): Promise<SampleRequest[]> {
  const forms = new Map<string, SampleRequest[]>();
  for (const sample of await describedRequests()) {
    const member = sample.id.slice(0, sample.id.lastIndexOf(' '));
    forms.set(member, [...(forms.get(member) ?? []), sample]);
  }
  const members = [...forms];
  return members.flatMap(([name, some], at) =>
    members.slice(at + 1).flatMap(([otherName, others], step) => {
      const [one, other] = [some[(at + step) % some.length], others[(at * 7 + step) % others.length]];
      if (one === undefined || other === undefined || one.from !== other.from) return [];
      const added = otherName.slice(otherName.indexOf('.') + 1);
      return [{ ...one, id: `${name} and ${otherName} ${at} ${step}`, body: { ...one.body, [added]: other.body[added] ?? null } }];
    }),
  );
}

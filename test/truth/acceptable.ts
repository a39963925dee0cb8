import { isJsonObject, type Json, type JsonObject } from '../../src/base/json.ts';
import { type MappingTarget, mapTo, OPTED_IN } from '../support/mapping.ts';
import type { SampleRequest } from './sources.ts';
import type { Tally } from './tally.ts';

/** Translates a request and looks at what leaves with the eyes of the vendor's own checks, which its description does not tell. */
export function tryAcceptable({ id, from, body, address }: SampleRequest, target: MappingTarget, tally: Tally): void {
  const { upstream } = mapTo(target, from, body, { emulate: OPTED_IN, address });
  if (upstream === undefined) return;
  tally.tried += 1;
  const sent = JSON.parse(JSON.stringify(upstream.body)) as JsonObject; // as the engine reads it
  for (const what of complaintsOf(target.dialect.id, sent)) tally.wrong.push({ sample: id, where: target.name, what });
}

/** What a vendor would answer with 400, found without our own code. */
export function complaintsOf(dialect: string, body: JsonObject): string[] {
  return COMPLAINTS[dialect]?.(body) ?? [];
}

const COMPLAINTS: Readonly<Record<string, (body: JsonObject) => string[]>> = {
  claude: (body) => [...claudeMessages(body), ...claudeTools(objects(body.tools)), ...claudeOutput(body)],
  'openai-chat': (body) => [...chatMessages(body, false), ...openaiTools(objects(body.tools).map(chatTool))],
  kimi: (body) => [...chatMessages(body, true), ...rootsOf(objects(body.tools).map(chatTool), false)],
  copilot: (body) => [...chatMessages(body, false), ...openaiTools(objects(body.tools).map(chatTool))],
  'openai-responses': (body) => [...responsesInput(body), ...openaiTools(objects(body.tools).flatMap(flatTool))],
  gemini: geminiContents,
};

function list(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? (value as readonly Json[]) : []; // Array.isArray widens
}

function objects(value: Json | undefined): readonly JsonObject[] {
  return list(value).filter(isJsonObject);
}

function when(wrong: boolean, what: string): string[] {
  return wrong ? [what] : [];
}

const isBlank = (value: Json | undefined): boolean => typeof value !== 'string' || value.trim() === '';

function claudeMessages(body: JsonObject): string[] {
  const messages = objects(body.messages);
  return [
    ...when(messages.length === 0, 'messages is empty'),
    ...when(messages[0]?.role === 'assistant', 'the assistant speaks first'),
    ...messages.flatMap(({ content, role }, at) => {
      const blocks = objects(content);
      const last = at === messages.length - 1 && role === 'assistant';
      const empty = typeof content === 'string' ? isBlank(content) : blocks.length === 0;
      return [
        ...when(empty && !last, `messages[${at}] is empty`),
        ...when(
          blocks.some((block) => block.type === 'text' && isBlank(block.text)),
          `messages[${at}] has a text that says nothing`,
        ),
      ];
    }),
    ...list(body.system).flatMap((block) => when(isJsonObject(block) && isBlank(block.text), 'a system text says nothing')),
  ];
}

/** A declared function, whatever the dialect calls its parts. */
interface Declared {
  readonly name: Json | undefined;
  readonly schema: Json | undefined;
  readonly strict: boolean;
  readonly format?: Json | undefined;
}

function chatTool(tool: JsonObject): Declared {
  const inner = isJsonObject(tool.function) ? tool.function : isJsonObject(tool.custom) ? tool.custom : {};
  const format = isJsonObject(inner.format) ? inner.format : undefined;
  const nested = format?.type === 'grammar' ? format.grammar : undefined;
  return {
    name: inner.name,
    schema: inner.parameters,
    strict: inner.strict === true,
    ...(format === undefined ? {} : { format: nested ?? format }),
  };
}

function flatTool(tool: JsonObject): Declared[] {
  if (tool.type === 'namespace') return objects(tool.tools).flatMap(flatTool);
  if (tool.type !== 'function' && tool.type !== 'custom') return [];
  return [
    {
      name: tool.name,
      schema: tool.parameters,
      strict: tool.strict === true,
      ...(tool.format === undefined ? {} : { format: tool.format }),
    },
  ];
}

function rootsOf(tools: readonly Declared[], plain: boolean): string[] {
  return tools.flatMap(({ name, schema }) => {
    if (!isJsonObject(schema ?? null)) return [];
    const root = schema as JsonObject; // checked
    const combined = plain && ['anyOf', 'oneOf', 'allOf', 'enum', 'not'].some((word) => root[word] !== undefined);
    return [
      ...when(root.type !== 'object', `${String(name)}: the schema is no object`),
      ...when(combined, `${String(name)}: the root of the schema combines schemas`),
    ];
  });
}

/** Schemas inside a schema. */
function* within(schema: Json | undefined): Generator<JsonObject> {
  if (Array.isArray(schema)) for (const one of schema as readonly Json[]) yield* within(one); // Array.isArray widens
  if (!isJsonObject(schema ?? null)) return;
  const object = schema as JsonObject; // checked
  yield object;
  for (const [word, value] of Object.entries(object)) {
    if (['properties', '$defs', 'definitions', 'patternProperties'].includes(word) && isJsonObject(value))
      for (const one of Object.values(value)) yield* within(one);
    else if (['items', 'anyOf', 'oneOf', 'allOf', 'prefixItems', 'additionalProperties', 'not'].includes(word)) yield* within(value);
  }
}

function isOpen(schema: JsonObject, allRequired: boolean): boolean {
  const properties = isJsonObject(schema.properties) ? Object.keys(schema.properties) : [];
  if (schema.type !== 'object' && properties.length === 0) return false;
  return schema.additionalProperties !== false || (allRequired && properties.some((name) => !list(schema.required).includes(name)));
}

const UNKNOWN_TO_OPENAI = [
  'oneOf',
  'allOf',
  'not',
  'patternProperties',
  'if',
  'then',
  'else',
  'dependentRequired',
  'dependentSchemas',
  'propertyNames',
  'uniqueItems',
  'contains',
];

function openaiTools(tools: readonly Declared[]): string[] {
  return [
    ...rootsOf(tools, true),
    ...tools
      .filter(({ strict }) => strict)
      .flatMap(({ name, schema }) => {
        const all = [...within(schema)];
        return [
          ...when(
            all.some((one) => isOpen(one, true)),
            `${String(name)}: strict with an open schema`,
          ),
          ...when(
            all.some((one) => UNKNOWN_TO_OPENAI.some((word) => one[word] !== undefined)),
            `${String(name)}: strict with keywords that strict does not take`,
          ),
        ];
      }),
    ...tools.flatMap(({ name, format }) => {
      const grammar = isJsonObject(format ?? null) ? (format as JsonObject) : undefined; // checked
      return when(
        grammar !== undefined && grammar.type === 'grammar' && grammar.definition === undefined,
        `${String(name)}: a grammar in the wrong place`,
      );
    }),
  ];
}

/** Claude compiles strict schemas together, and says at how many it stops. */
function claudeTools(tools: readonly JsonObject[]): string[] {
  const declared = tools.flatMap((tool): Declared[] =>
    tool.input_schema === undefined ? [] : [{ name: tool.name, schema: tool.input_schema, strict: tool.strict === true }],
  );
  const strict = declared.filter((tool) => tool.strict);
  const schemas = strict.flatMap(({ schema }) => [...within(schema)]);
  const unions = schemas.filter((one) => one.anyOf !== undefined || Array.isArray(one.type)).length;
  const optional = schemas.reduce(
    (sum, { properties, required }) =>
      sum + (isJsonObject(properties) ? Object.keys(properties).filter((name) => !list(required).includes(name)).length : 0),
    0,
  );
  return [
    ...rootsOf(declared, true),
    ...when(strict.length > 20, `${strict.length} strict tools`),
    ...when(unions > 16, `${unions} unions in strict tools`),
    ...when(optional > 24, `${optional} optional members in strict tools`),
    ...when(
      strict.some(({ schema }) => isRecursive(schema)),
      'a strict tool that is recursive',
    ),
    ...when(
      schemas.some((one) => isOpen(one, false)),
      'a strict tool that is open',
    ),
  ];
}

/** Claude's output format takes closed schemas, and while it thinks no tool can be forced. */
function claudeOutput({ output_config: config, thinking, tool_choice: choice }: JsonObject): string[] {
  const format = isJsonObject(config) && isJsonObject(config.format) ? config.format : {};
  const thinks = isJsonObject(thinking) && thinking.type !== 'disabled';
  return [
    ...when(
      [...within(format.schema)].some((one) => isOpen(one, false)),
      'an output format that is open',
    ),
    ...when(isRecursive(format.schema), 'an output format that is recursive'),
    ...when(thinks && isJsonObject(choice) && (choice.type === 'any' || choice.type === 'tool'), 'a tool is forced while it thinks'),
  ];
}

/** Whether following the references of a schema comes back to where it has been. */
function isRecursive(schema: Json | undefined): boolean {
  if (!isJsonObject(schema ?? null)) return false;
  const root = schema as JsonObject; // checked
  const visit = (node: Json | undefined, path: readonly string[]): boolean =>
    [...within(node)].some(
      ({ $ref: ref }) => typeof ref === 'string' && (ref === '#' || path.includes(ref) || visit(resolve(root, ref), [...path, ref])),
    );
  const { $defs: _defs, definitions: _definitions, ...own } = root;
  return visit(own, []);
}

function resolve(root: JsonObject, ref: string): Json | undefined {
  return ref
    .split('/')
    .slice(1)
    .reduce<Json | undefined>((at, step) => (isJsonObject(at ?? null) ? (at as JsonObject)[step] : undefined), root); // checked
}

function chatMessages(body: JsonObject, wordsNeeded: boolean): string[] {
  const messages = objects(body.messages);
  return [
    ...when(messages.length === 0, 'messages is empty'),
    ...messages.flatMap(({ role, content, tool_calls: calls, refusal }, at) => [
      ...when(Array.isArray(content) && content.length === 0, `messages[${at}].content is an empty list`),
      ...when(
        (content === null || content === undefined) && list(calls).length === 0 && refusal === undefined,
        `messages[${at}] has nothing`,
      ),
      ...when(Array.isArray(calls) && calls.length === 0, `messages[${at}].tool_calls is an empty list`),
      ...when(
        wordsNeeded && role !== 'assistant' && role !== 'tool' && typeof content === 'string' && isBlank(content),
        `messages[${at}] says nothing`,
      ),
    ]),
  ];
}

function responsesInput({ input }: JsonObject): string[] {
  if (typeof input === 'string') return when(isBlank(input), 'input says nothing');
  return [
    ...when(list(input).length === 0, 'input is empty'),
    ...objects(input).flatMap(({ content, type }, at) => [
      ...when(Array.isArray(content) && content.length === 0 && type !== 'reasoning', `input[${at}].content is an empty list`),
      ...objects(content).flatMap((part) =>
        when(part.type === 'refusal' && typeof part.refusal !== 'string', `input[${at}]: a refusal without its text`),
      ),
    ]),
  ];
}

function geminiContents(body: JsonObject): string[] {
  const contents = objects(body.contents);
  const first = objects(contents[0]?.parts);
  const declared = objects(body.tools).flatMap((tool) => objects(tool.functionDeclarations));
  const roots = declared.map((one): Declared => ({ name: one.name, schema: one.parametersJsonSchema, strict: false }));
  const openapi = declared.flatMap(({ name, parameters }) =>
    when(
      isJsonObject(parameters ?? null) && String((parameters as JsonObject).type).toUpperCase() !== 'OBJECT',
      `${String(name)}: the parameters are no object`,
    ),
  ); // checked
  return [
    ...when(contents.length === 0, 'contents is empty'),
    ...when(
      contents[0]?.role === 'model' && first.some((part) => part.functionCall !== undefined),
      'a call comes before any words of the user',
    ),
    ...contents.flatMap(({ parts }, at) => [
      ...when(objects(parts).length === 0, `contents[${at}] has no parts`),
      ...when(
        objects(parts).some((part) => part.text === '' && part.thoughtSignature === undefined),
        `contents[${at}] has an empty text`,
      ),
      ...when(
        objects(parts).some((part) => Object.keys(part).every((key) => key === 'thought' || key === 'thoughtSignature')),
        `contents[${at}] has a part without data`,
      ),
    ]),
    ...rootsOf(roots, false),
    ...openapi,
  ];
}

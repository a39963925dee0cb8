import { sha256 } from '../../base/canonical-json.ts';
import { type Json, type JsonObject, listIn, objectIn } from '../../base/json.ts';
import { type Concept, conceptRow } from '../../ir/concept.ts';
import { type IrMessage, messageText, splitSystem } from '../../ir/conversation.ts';
import type { IrPart } from '../../ir/part.ts';
import type { IrOutputFormat, IrRequest } from '../../ir/request.ts';
import type { IrResponse } from '../../ir/response.ts';
import type { AnswerContext, FateNote, LowerContext, LoweredRequest } from '../dialect.ts';
import { compact } from '../members.ts';
import { OPENAI_STRICT, strictProblem } from '../strict-subset.ts';
import { answerItems, outcomeOf, responseId, responseObject } from './answer.ts';
import { ENCRYPTED, LOGPROBS } from './lift.ts';
import { ID } from './lift-content.ts';
import { customCalls, lowerMessage } from './lower-items.ts';
import { lowerReasoning, wantsReasoning } from './lower-reasoning.ts';
import { lowerToolChoice, lowerTools } from './lower-tools.ts';

/** Writes a Responses body. The order of members is fixed, so that the same request gives the same bytes and keeps its prompt cache. */
export function lowerRequest(request: IrRequest, context: LowerContext): LoweredRequest {
  const notes: FateNote[] = [];
  const own = request.vendor[ID];
  const lacks = own === undefined ? context.lacks : new Set<Concept>();
  const can = <T>(concept: Concept, value: T | undefined): T | undefined => lacking(concept, value, { lacks, notes });
  const { include: _include, reasoning: _reasoning, text: _text, tool_choice: _choice, store, ...others } = own ?? {};
  const body = compact({
    model: request.model,
    ...lowerConversation(request, notes),
    tools: lowerTools(request, notes),
    tool_choice: lowerToolChoice(request),
    parallel_tool_calls: can('parallel_tool_calls', request.parallelToolCalls),
    max_output_tokens: lowerMaxTokens(request, notes),
    temperature: can('temperature', request.sampling.temperature),
    top_p: can('top_p', request.sampling.topP),
    top_logprobs: can('logprobs', request.sampling.topLogprobs),
    reasoning: lowerReasoning(request, context, notes),
    text: lowerText(request, can('verbosity', request.verbosity), notes),
    include: lowerInclude(request, context),
    safety_identifier: lowerEndUser(request, notes),
    service_tier: lowerServiceTier(request, notes),
    store: own === undefined ? false : store,
    ...others,
    stream: request.stream ? true : undefined,
  });
  return { path: '/v1/responses', body, headers: {}, notes };
}

/** Values that say what happens without them. */
const DEFAULTS: Readonly<Partial<Record<Concept, unknown>>> = { temperature: 1, top_p: 1 };

/** Leaves out a wish of another dialect's caller for which the model has no form, with a note that says so. */
function lacking<T>(
  concept: Concept,
  value: T | undefined,
  context: { readonly lacks: ReadonlySet<Concept>; readonly notes: FateNote[] },
): T | undefined {
  if (value === undefined || !context.lacks.has(concept)) return value;
  const harmless = DEFAULTS[concept] === value || conceptRow(concept).weight === 'hint';
  context.notes.push({
    concept,
    fate: harmless ? 'dropped' : 'refused',
    code: 'model_lacks',
    note: `the model has no ${conceptRow(concept).title.toLowerCase()}`,
  });
  return undefined;
}

/** The system prompt is `instructions`, except messages that stood in the caller's own `input`. */
function lowerConversation(request: IrRequest, notes: FateNote[]): { instructions?: string; input?: Json } {
  const { system, rest } = splitSystem(request.messages);
  const isItem = (message: IrMessage): boolean => message.meta?.[ID]?.role !== undefined;
  const instructions = system.filter((message) => !isItem(message)).flatMap(systemTexts);
  const foreign = request.vendor[ID] === undefined;
  const items = { notes, foreign, customCalls: customCalls(rest) };
  const asked = [...system.filter(isItem), ...rest];
  const silent = foreign && request.output?.kind === 'json' && !asked.some(({ parts }) => parts.some(saysJson));
  const input = [...asked.flatMap((message) => lowerMessage(message, items)), ...(silent ? [askForJson(notes)] : [])];
  return {
    ...(instructions.length === 0 ? {} : { instructions: instructions.join('\n\n') }),
    ...(input.length === 0 && !foreign ? {} : { input }),
  };
}

/** JSON mode is answered with 400 unless some message of the input says the word; instructions do not count. */
function saysJson(part: IrPart): boolean {
  return part.kind === 'text' && /json/i.test(part.text);
}

function askForJson(notes: FateNote[]): JsonObject {
  notes.push({
    concept: 'json_mode',
    fate: 'emulated',
    code: 'json_word_added',
    note: 'a sentence that asks for JSON was added, which the wire demands',
  });
  return { type: 'message', role: 'developer', content: 'Answer with a JSON object.' };
}

function systemTexts(message: IrMessage): string[] {
  const texts = message.parts.map((part) => (part.kind === 'text' ? part.text : ''));
  return messageText(message) === '' ? [] : texts.filter((text) => text !== '');
}

const FEWEST_TOKENS = 16;

function lowerMaxTokens(request: IrRequest, notes: FateNote[]): number | undefined {
  const { maxTokens } = request;
  if (maxTokens === undefined || maxTokens >= FEWEST_TOKENS) return maxTokens;
  notes.push({
    concept: 'max_tokens',
    fate: 'emulated',
    code: 'limit_raised',
    note: `${FEWEST_TOKENS} was sent, the lowest limit that OpenAI takes`,
  });
  return FEWEST_TOKENS;
}

function lowerText(request: IrRequest, verbosity: string | undefined, notes: FateNote[]): JsonObject | undefined {
  const text = compact({ format: lowerFormat(request, notes), verbosity, ...objectIn(request.vendor[ID]?.text) });
  return Object.keys(text).length === 0 ? undefined : text;
}

/** A schema needs a name here; callers of other dialects give none. */
function lowerFormat(request: IrRequest, notes: FateNote[]): JsonObject | undefined {
  const { output } = request;
  if (output === undefined) return undefined;
  if (output.kind === 'json') return { type: 'json_object' };
  const { name = 'answer', description, schema, strict } = output;
  return compact({
    type: 'json_schema',
    name,
    description,
    schema,
    strict: strict ?? (request.vendor[ID] === undefined ? isHeld(output, notes) : undefined),
    ...output.meta?.[ID],
  });
}

/**
 * Whether the model is held to a schema that its caller did not call strict: Chat then only asks, and wires without the word always hold,
 * which OpenAI does for schemas of its subset and answers with 400 for others.
 */
function isHeld({ name, schema }: Extract<IrOutputFormat, { kind: 'json-schema' }>, notes: FateNote[]): boolean {
  if (name !== undefined) return false;
  const held = strictProblem(schema, OPENAI_STRICT) === undefined;
  if (!held)
    notes.push({
      concept: 'json_schema',
      fate: 'emulated',
      code: 'schema_not_held',
      note: 'the schema is outside the strict subset; the model is asked, not held to it',
    });
  return held;
}

/** Encrypted reasoning is asked for where the caller would otherwise lose it: nothing is stored for callers of other dialects. */
function lowerInclude(request: IrRequest, context: LowerContext): Json | undefined {
  const own = request.vendor[ID];
  const { logprobs, topLogprobs } = request.sampling;
  const names = [
    ...listIn(own?.include).filter((name) => typeof name === 'string'),
    ...(logprobs === true || (own === undefined && topLogprobs !== undefined) ? [LOGPROBS] : []),
    ...(own === undefined && wantsReasoning(request, context) ? [ENCRYPTED] : []),
  ];
  return names.length === 0 ? undefined : names;
}

const LONGEST_USER = 64;

/** The vendor advises to hash what identifies a user, and takes no more than a hash. */
function lowerEndUser(request: IrRequest, notes: FateNote[]): string | undefined {
  const { endUser } = request;
  if (endUser === undefined || endUser === request.vendor[ID]?.user) return undefined;
  if (endUser.length <= LONGEST_USER || request.vendor[ID] !== undefined) return endUser;
  notes.push({
    concept: 'end_user',
    fate: 'emulated',
    code: 'user_hashed',
    note: `sent as its SHA-256, because OpenAI takes ${LONGEST_USER} characters`,
  });
  return sha256(endUser);
}

const TIERS: Readonly<Record<string, string>> = {
  auto: 'auto',
  default: 'default',
  standard: 'default',
  standard_only: 'default',
  flex: 'flex',
  scale: 'scale',
  priority: 'priority',
};

function lowerServiceTier(request: IrRequest, notes: FateNote[]): string | undefined {
  const { serviceTier } = request;
  if (serviceTier === undefined || request.vendor[ID] !== undefined) return serviceTier;
  const tier = TIERS[serviceTier];
  if (tier === undefined)
    notes.push({ concept: 'service_tier', fate: 'dropped', code: 'no_such_tier', note: `OpenAI has no tier "${serviceTier}"` });
  return tier;
}

/** A whole Responses answer. */
export function lowerResponse(response: IrResponse, context: AnswerContext): JsonObject {
  const refused = response.parts.some((part) => part.kind === 'refusal');
  return responseObject(context, {
    id: responseId(response.id, context),
    ...outcomeOf(response.finish, refused),
    ...response.meta?.[ID],
    output: answerItems(response.parts, context),
    usage: response.usage,
  });
}

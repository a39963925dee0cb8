import { type JsonObject, objectIn } from '../../../base/json.ts';
import type { Concept } from '../../../ir/concept.ts';
import type { IrOutputFormat, IrRequest } from '../../../ir/request.ts';
import type { FateNote, LowerContext, LoweredRequest } from '../../dialect.ts';
import { compact } from '../../members.ts';
import { OPENAI_STRICT, strictProblem } from '../../strict-subset.ts';
import type { ChatFlavour } from './flavour.ts';
import { lowerMessages } from './lower-messages.ts';
import { lowerToolChoice, lowerTools } from './lower-tools.ts';

/** Writes a Chat body. The order of members is fixed, so that the same request gives the same bytes and keeps its prompt cache. */
export function lowerChat(flavour: ChatFlavour, request: IrRequest, context: LowerContext): LoweredRequest {
  const notes: FateNote[] = [];
  const {
    max_tokens: _old,
    max_completion_tokens: _new,
    stream_options: streamOptions,
    thinking: _thinking,
    parallel_tool_calls: parallel,
    ...own
  } = ownMembers(flavour, request);
  const tools = lowerTools(request, { flavour, context, notes });
  if (request.includeUsage !== undefined) notes.push(USAGE_TOLD);
  const { sampling } = request;
  /** Leaves out a concept for which the vendor has no form; the request of a caller of the same dialect has it among its own members. */
  const formed = <T>(concept: Concept, value: T | undefined): T | undefined => (flavour.names[concept] === undefined ? undefined : value);
  const body = compact({
    model: request.model,
    messages: lowerMessages(request, { flavour, context, notes }),
    tools: tools.list.length === 0 ? undefined : tools.list,
    tool_choice: lowerToolChoice(request, flavour),
    // What is decided for the request goes before what its caller wrote.
    parallel_tool_calls: formed('parallel_tool_calls', request.parallelToolCalls) ?? parallel,
    ...tools.members,
    response_format: lowerOutput(flavour, request.output, notes),
    ...lowerMaxTokens(flavour, request),
    stop: request.stop.length === 0 ? undefined : request.stop,
    temperature: unlessFixed('temperature', sampling.temperature, context, notes),
    top_p: unlessFixed('top_p', sampling.topP, context, notes),
    seed: formed('seed', sampling.seed),
    frequency_penalty: formed('frequency_penalty', sampling.frequencyPenalty),
    presence_penalty: formed('presence_penalty', sampling.presencePenalty),
    logit_bias: formed('logit_bias', sampling.logitBias),
    n: formed('count', sampling.count),
    logprobs: formed('logprobs', sampling.logprobs ?? (sampling.topLogprobs === undefined ? undefined : true)),
    top_logprobs: formed('logprobs', sampling.topLogprobs),
    ...flavour.lowerReasoning(request, context, notes),
    verbosity: formed('verbosity', request.verbosity),
    ...lowerEndUser(flavour, request, notes),
    service_tier: lowerServiceTier(flavour, request, notes),
    ...own,
    stream: request.stream ? true : undefined,
    // Without it the stream tells no usage, and the receipt would have none.
    stream_options: request.stream ? { include_usage: true, ...objectIn(streamOptions) } : undefined,
  });
  return { path: flavour.path, body, headers: flavour.headers(request), notes };
}

const USAGE_TOLD: FateNote = {
  concept: 'usage_in_stream',
  fate: 'dropped',
  code: 'gateway_setting',
  note: 'usage is always asked for; the gateway tells it as the caller wishes',
};

/** A model whose sampling is fixed takes no value, not even its own; asking for that one asks for nothing. */
function unlessFixed(concept: Concept, value: number | undefined, { lacks }: LowerContext, notes: FateNote[]): number | undefined {
  if (value !== 1 || !lacks.has(concept)) return value;
  notes.push({ concept, fate: 'renamed', code: 'says_what_happens_anyway', note: 'left out: the only value the model takes' });
  return undefined;
}

function ownMembers(flavour: ChatFlavour, request: IrRequest): IrRequest['vendor'][string] {
  return request.vendor[flavour.id] ?? {};
}

/** A caller of the same dialect keeps the spelling it chose: old servers know only the one, new models only the other. */
function lowerMaxTokens(flavour: ChatFlavour, request: IrRequest): JsonObject {
  if (request.maxTokens === undefined) return {};
  const own = ownMembers(flavour, request);
  const wrote = (['max_tokens', 'max_completion_tokens'] as const).find((name) => typeof own[name] === 'number');
  return { [wrote ?? flavour.maxTokens]: request.maxTokens };
}

/** OpenAI's limit for the id of an end user. */
const MOST_USER_ID = 64;

function lowerEndUser(flavour: ChatFlavour, request: IrRequest, notes: FateNote[]): JsonObject {
  const { endUser } = request;
  if (endUser === undefined || flavour.endUser === undefined || endUser === ownMembers(flavour, request).user) return {};
  if (endUser.length <= MOST_USER_ID) return { [flavour.endUser]: endUser };
  notes.push({
    concept: 'end_user',
    fate: 'dropped',
    code: 'user_too_long',
    note: `the id is longer than the ${MOST_USER_ID} characters that the wire takes`,
  });
  return {};
}

function lowerServiceTier(flavour: ChatFlavour, request: IrRequest, notes: FateNote[]): string | undefined {
  const { serviceTier } = request;
  if (serviceTier === undefined || flavour.names.service_tier === undefined) return undefined;
  const tier = flavour.serviceTiers[serviceTier];
  if (tier === undefined)
    notes.push({ concept: 'service_tier', fate: 'dropped', code: 'no_such_tier', note: `there is no tier "${serviceTier}"` });
  return tier;
}

/** A format without a name comes from a wire that always holds the model to the schema; here that takes `strict` and its subset. */
function lowerOutput(flavour: ChatFlavour, output: IrOutputFormat | undefined, notes: FateNote[]): JsonObject | undefined {
  if (output === undefined) return undefined;
  if (output.kind === 'json') return { type: 'json_object' };
  const { name, description, schema } = output;
  const strict = output.strict ?? (name === undefined ? strictProblem(schema, OPENAI_STRICT) === undefined : undefined);
  if (name === undefined && strict === false) {
    notes.push({
      concept: 'json_schema',
      fate: 'emulated',
      code: 'schema_not_held',
      note: 'the schema is outside the strict subset; the model is asked, not held to it',
    });
  }
  return {
    type: 'json_schema',
    json_schema: compact({ name: name ?? 'answer', description, schema, strict, ...output.meta?.[flavour.id] }),
  };
}

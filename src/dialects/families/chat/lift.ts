import { type Json, jsonOf } from '../../../base/json.ts';
import { parseAt } from '../../../contract/border.ts';
import { AbpError } from '../../../contract/errors.ts';
import { Fields, meansNothing } from '../../../ir/ledger.ts';
import type { IrOutputFormat, IrRequest, IrThinking } from '../../../ir/request.ts';
import type { LiftContext } from '../../dialect.ts';
import { compact, otherMembers, vendorMeta } from '../../members.ts';
import type { ChatFlavour } from './flavour.ts';
import { liftMessages } from './lift-messages.ts';
import { liftToolChoice, liftTools } from './lift-tools.ts';
import { given, Members } from './members.ts';
import type * as wire from './wire.ts';

/** Reads a Chat body. Strict about shapes it knows, silent about members it does not: those stay unclaimed in the ledger. */
export function liftChat(flavour: ChatFlavour, body: Json, context: LiftContext): IrRequest {
  const request = parseAt(flavour.request, body, 'request body');
  refuseTwoReadings(request);
  const f = new Fields(request, '', context.ledger);
  const m = new Members(f, flavour.names);
  const stop = m.read('stop', 'stop_sequences', (value) => value.length === 0) ?? [];
  m.carry('messages');
  return {
    model: m.read('model', 'model') ?? '',
    stream: m.read('stream', 'stream') ?? context.stream ?? false,
    messages: liftMessages(f, flavour),
    tools: liftTools(m, flavour),
    stop: typeof stop === 'string' ? [stop] : stop,
    sampling: liftSampling(m),
    ...given({
      toolChoice: liftToolChoice(m),
      parallelToolCalls: liftParallel(m),
      maxTokens: firstOf(m.read('max_completion_tokens', 'max_tokens'), m.peek('max_tokens', 'max_tokens')),
      output: liftOutput(m, flavour),
      thinking: liftThinking(m),
      effort: m.read('reasoning_effort', 'effort'),
      verbosity: m.read('verbosity', 'verbosity'),
      endUser: liftEndUser(m),
      serviceTier: m.read('service_tier', 'service_tier'),
      includeUsage: f.object('stream_options')?.take('include_usage', 'usage_in_stream') ?? undefined,
    }),
    vendor: liftVendor(m, flavour),
  };
}

/** The new spelling and the old one; both are read, because what nobody reads is an unknown field. */
function firstOf<T>(current: T | undefined, old: T | undefined): T | undefined {
  return current ?? old;
}

/** Beside the identifier that took its place, the old member only tells the vendor which requests are alike, which is what its cache keys do. */
function liftEndUser(m: Members): string | undefined {
  const named = m.read('safety_identifier', 'end_user');
  return firstOf(named, m.peek('user', named === undefined ? 'end_user' : 'cache_mark'));
}

/** An answer to `functions` has room for one call. */
function liftParallel(m: Members): boolean | undefined {
  const asked = m.read('parallel_tool_calls', 'parallel_tool_calls', (value) => value);
  if (!m.f.value.functions?.length) return asked;
  m.f.ledger.leaveIdle('parallel_tool_calls', { code: 'says_what_happens_anyway', note: 'an answer to functions has room for one call' });
  return false;
}

/** Two members that say the same thing in an old and a new way: the vendor refuses one pair and lets the other decide silently. */
function refuseTwoReadings(request: wire.Request): void {
  const { functions, tools, max_tokens: old, max_completion_tokens: current } = request;
  if (functions && tools) {
    throw new AbpError('E003', 'The request has both functions and tools; one of them must decide which tools there are.', {
      reason: 'legacy functions stand beside tools',
      possible_interpretations: ['tools only', 'functions only', 'functions and tools together'],
    });
  }
  // As the vendor does; which of the two counts would otherwise depend on the engine.
  if (typeof request.top_logprobs === 'number' && request.logprobs !== true)
    throw new AbpError('invalid_request', 'top_logprobs: is only taken when logprobs is true');
  if (typeof old === 'number' && typeof current === 'number' && old !== current) {
    throw new AbpError('E003', 'The request has both max_tokens and max_completion_tokens, and they differ.', {
      reason: 'two token limits',
      possible_interpretations: [`a limit of ${old} tokens`, `a limit of ${current} tokens`],
    });
  }
}

/** Takes the members that only this vendor understands, and the defaults that the caller wrote out. */
function liftVendor(m: Members, flavour: ChatFlavour): IrRequest['vendor'] {
  if (m.f.value.stream_options === null) m.peek('stream_options', 'structure');
  const options = m.f.object('stream_options');
  const streamOptions = options && otherMembers(options.value, ['include_usage']);
  for (const key of Object.keys(streamOptions ?? {})) options?.take(key, 'stream_options');
  m.carry('stream_options');
  if (options !== undefined && m.f.value.stream !== true)
    m.f.ledger.leaveIdle('stream_options', meansNothing('unless the answer is streamed'));
  const thinking = m.f.object('thinking');
  const thinkingOptions = thinking && otherMembers(thinking.value, ['type']);
  for (const [name, concept] of Object.entries(flavour.members)) {
    if (JSON.stringify(m.f.value[name]) === flavour.defaults[name]) m.f.takeUsual(name, concept);
    else m.peek(name, concept);
  }
  const members = compact({ ...m.rest(), stream_options: streamOptions, thinking: thinkingOptions });
  return Object.keys(members).length === 0 ? {} : { [flavour.id]: members };
}

function liftSampling(m: Members): IrRequest['sampling'] {
  const zero = (value: number): boolean => value === 0;
  return given({
    temperature: m.read('temperature', 'temperature'),
    topP: m.read('top_p', 'top_p'),
    seed: m.read('seed', 'seed'),
    frequencyPenalty: m.read('frequency_penalty', 'frequency_penalty', zero),
    presencePenalty: m.read('presence_penalty', 'presence_penalty', zero),
    logitBias: m.read('logit_bias', 'logit_bias', (bias) => Object.keys(bias).length === 0),
    count: m.read('n', 'count', (count) => count === 1),
    logprobs: m.read('logprobs', 'logprobs', (wanted) => !wanted),
    topLogprobs: m.read('top_logprobs', 'logprobs'),
  });
}

function liftOutput(m: Members, flavour: ChatFlavour): IrOutputFormat | undefined {
  const format = m.read(
    'response_format',
    m.f.value.response_format?.type === 'json_object' ? 'json_mode' : 'json_schema',
    (value) => value.type === 'text',
    ['type'],
  );
  if (format === undefined || format.type === 'text') return undefined;
  if (format.type === 'json_object') return { kind: 'json' };
  const inner = m.f.object('response_format')?.object('json_schema') as Fields<typeof format.json_schema>; // the schema saw it
  const [name, strict] = [inner.take('name', 'schema_name'), inner.take('strict', 'schema_strict')];
  const { description, schema } = format.json_schema;
  for (const word of ['description', 'schema'] as const) inner.take(word, 'json_schema');
  return {
    kind: 'json-schema',
    schema: jsonOf(schema ?? {}),
    name,
    ...(typeof description === 'string' ? { description } : {}),
    ...(typeof strict === 'boolean' ? { strict } : {}),
    ...vendorMeta(flavour.id, otherMembers(format.json_schema, ['name', 'description', 'schema', 'strict'])),
  };
}

/** Kimi's switch; the rest of the family has no such member. */
function liftThinking(m: Members): IrThinking | undefined {
  const thinking = m.f.object('thinking');
  if (thinking === undefined || !('type' in thinking.value)) return undefined;
  m.carry('thinking');
  m.f.ledger.claim(thinking.at('type'), 'thinking');
  return { mode: thinking.value.type === 'disabled' ? 'disabled' : 'enabled' };
}

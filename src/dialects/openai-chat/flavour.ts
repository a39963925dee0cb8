import type { ChatFlavour, ErrorWords } from '../families/chat/flavour.ts';
import { lowerEffort } from '../families/chat/reasoning.ts';
import { names } from './names.ts';
import * as wire from './wire.ts';

const errors: ChatFlavour['errors'] = {
  'invalid-request': { status: 400, type: 'invalid_request_error' },
  authentication: { status: 401, type: 'invalid_request_error', code: 'invalid_api_key' },
  permission: { status: 403, type: 'request_forbidden' },
  'not-found': { status: 404, type: 'invalid_request_error', code: 'model_not_found' },
  'too-large': { status: 413, type: 'invalid_request_error' },
  'context-length': { status: 400, type: 'invalid_request_error', code: 'context_length_exceeded' },
  'rate-limit': { status: 429, type: 'requests', code: 'rate_limit_exceeded', phrase: 'Rate limit reached' },
  quota: {
    status: 429,
    type: 'insufficient_quota',
    code: 'insufficient_quota',
    phrase: 'You exceeded your current quota, please check your plan and billing details',
  },
  overloaded: { status: 503, type: 'server_error', phrase: 'The engine is currently overloaded, please try again later' },
  timeout: { status: 504, type: 'server_error', code: 'timeout' },
  server: { status: 500, type: 'server_error' },
} satisfies Record<string, ErrorWords>;

/** OpenAI itself. It shows no reasoning and takes none back; engines that speak like it often do, so their answers are read for it. */
export const flavour: ChatFlavour = {
  id: 'openai-chat',
  names,
  path: '/v1/chat/completions',
  request: wire.Request,
  members: {
    store: 'storage',
    metadata: 'metadata',
    modalities: 'modalities',
    audio: 'modalities',
    prediction: 'prediction',
    moderation: 'vendor_option',
    prompt_cache_key: 'cache_mark',
    prompt_cache_retention: 'cache_mark',
    prompt_cache_options: 'cache_mark',
  },
  defaults: { store: 'false', modalities: '["text"]' },
  messageMembers: {
    annotations: 'citation',
    reasoning_content: 'reasoning_state',
    reasoning: 'reasoning_state',
    reasoning_details: 'reasoning_state',
    cache_control: 'cache_mark',
  },
  reasoning: ['reasoning_content', 'reasoning'],
  state: ['reasoning_details'],
  sealed: false,
  details: true,
  prefill: false,
  media: new Set(['image', 'audio', 'document']),
  allowedTools: true,
  maxTokens: 'max_completion_tokens',
  endUser: 'safety_identifier',
  serviceTiers: {
    auto: 'auto',
    default: 'default',
    flex: 'flex',
    scale: 'scale',
    priority: 'priority',
    standard: 'default',
    standard_only: 'default',
  },
  usage: 'own-chunk',
  lowerReasoning: lowerEffort,
  needsReasoning: () => false,
  headers: () => ({}),
  errors,
  contextPhrase: "This model's maximum context length was exceeded.",
  contextLength: (limit, asked) =>
    `This model's maximum context length is ${limit} tokens. However, your messages resulted in ${asked} tokens. Please reduce the length of the messages.`,
  errorMembers: { param: null, code: null },
};

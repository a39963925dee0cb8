import type { ChatFlavour } from '../families/chat/flavour.ts';
import { names } from './names.ts';
import { lowerReasoning, needsReasoning } from './reasoning.ts';
import * as wire from './wire.ts';

/** Its error objects have a type and no code. */
const errors: ChatFlavour['errors'] = {
  'invalid-request': { status: 400, type: 'invalid_request_error' },
  authentication: { status: 401, type: 'invalid_authentication_error' },
  permission: { status: 403, type: 'permission_denied_error' },
  'not-found': { status: 404, type: 'resource_not_found_error' },
  'too-large': { status: 413, type: 'invalid_request_error' },
  'context-length': { status: 400, type: 'invalid_request_error' },
  'rate-limit': { status: 429, type: 'rate_limit_reached_error' },
  quota: { status: 429, type: 'exceeded_current_quota_error' },
  overloaded: {
    status: 429,
    type: 'engine_overloaded_error',
    phrase: 'The engine is currently overloaded, please try again later',
  },
  timeout: { status: 504, type: 'server_error' },
  server: { status: 500, type: 'server_error' },
};

/** Moonshot's Kimi: reasoning as text beside the content, to be sent back with every call. */
export const flavour: ChatFlavour = {
  id: 'kimi',
  names,
  path: '/v1/chat/completions',
  request: wire.Request,
  members: { thinking: 'context_management', prompt_cache_key: 'cache_mark' },
  defaults: {},
  messageMembers: { partial: 'item_identity' },
  reasoning: ['reasoning_content', 'reasoning'],
  reasoningField: 'reasoning_content',
  state: ['reasoning_details'],
  sealed: false,
  details: true,
  prefill: true,
  media: new Set(['image', 'video']),
  allowedTools: false,
  maxTokens: 'max_tokens',
  serviceTiers: {},
  usage: 'choice',
  lowerReasoning,
  needsReasoning,
  headers: () => ({}),
  errors,
  contextPhrase: 'Invalid request: Your request exceeded model token limit',
  contextLength: (limit, asked) => `Invalid request: Your request exceeded model token limit: ${limit} (requested: ${asked})`,
  errorMembers: {},
};

import type { IrRequest } from '../../ir/request.ts';
import type { ChatFlavour } from '../families/chat/flavour.ts';
import { endsInResults } from '../families/chat/lift-messages.ts';
import { holds } from '../families/chat/lower-messages.ts';
import { lowerEffort } from '../families/chat/reasoning.ts';
import { names } from './names.ts';
import * as wire from './wire.ts';

const errors: ChatFlavour['errors'] = {
  'invalid-request': { status: 400, code: 'invalid_request_body' },
  authentication: { status: 401, code: 'unauthorized' },
  permission: { status: 403, code: 'forbidden' },
  'not-found': { status: 400, type: 'invalid_request_error', code: 'model_not_supported' },
  'too-large': { status: 413, code: 'request_too_large' },
  'context-length': { status: 400, code: 'model_max_prompt_tokens_exceeded' },
  'rate-limit': { status: 429, code: 'rate_limited', phrase: 'rate limit exceeded' },
  quota: { status: 402, code: 'quota_exceeded', phrase: 'quota exceeded' },
  overloaded: { status: 503, code: 'overloaded' },
  timeout: { status: 504, code: 'timeout' },
  server: { status: 500, code: 'internal_server_error' },
};

/** The initiator decides whether a call counts against the user's quota; without the vision header images are refused. */
function headers(request: IrRequest): Readonly<Record<string, string>> {
  return {
    'openai-intent': 'conversation-edits',
    'x-initiator': endsInResults(request) ? 'agent' : 'user',
    ...(holds(request, 'image') ? { 'copilot-vision-request': 'true' } : {}),
  };
}

/** GitHub Copilot: models of several vendors behind one chat endpoint, reasoning with a seal that must come back. */
export const flavour: ChatFlavour = {
  id: 'copilot',
  names,
  path: '/chat/completions',
  request: wire.Request,
  members: {},
  defaults: {},
  messageMembers: { padding: 'structure' },
  reasoning: ['reasoning_text'],
  reasoningField: 'reasoning_text',
  state: ['reasoning_opaque'],
  sealed: true,
  carrier: 'reasoning_opaque',
  details: false,
  prefill: false,
  media: new Set(['image']),
  allowedTools: false,
  maxTokens: 'max_tokens',
  serviceTiers: {},
  usage: 'finishing-chunk',
  lowerReasoning: lowerEffort,
  needsReasoning: () => false,
  headers,
  errors,
  contextPhrase: 'prompt token count exceeds the limit',
  contextLength: (limit, asked) => `prompt token count of ${asked} exceeds the limit of ${limit}`,
  errorMembers: {},
};

import type { Dialect } from '../dialect.ts';
import { CLAUDE_STRICT } from '../strict-subset.ts';
import { answers } from './answer-shape.ts';
import { liftError, limitHeaders, lowerError, wrapError } from './errors.ts';
import { liftRequest, liftResponse } from './lift.ts';
import { liftTokenCount, lowerCount, modelList, tokenCount } from './lists.ts';
import { lowerRequest, lowerResponse, resumed } from './lower.ts';
import { names } from './names.ts';
import { observeBody, observeStream } from './observe.ts';
import { emitter, stepper } from './stream.ts';

/** Anthropic's Messages API. */
export const claude: Dialect = {
  id: 'claude',
  style: 'claude-style',
  aliases: ['anthropic'],
  paths: [
    { operation: 'generate', method: 'POST', path: '/v1/messages' },
    { operation: 'count-tokens', method: 'POST', path: '/v1/messages/count_tokens' },
  ],
  ownPaths: ['/v1/messages', '/v1/complete', '/v1/files', '/v1/skills', '/v1/organizations'],
  featureHeaders: ['anthropic-beta'],
  versionHeaders: ['anthropic-version'],
  names,
  rules: {
    toolCallId: /^[a-zA-Z0-9_-]+$/,
    toolName: /^[a-zA-Z0-9_-]{1,128}$/,
    maxStopSequences: 8191,
    argumentsAreObjects: true,
    toolResultMedia: true,
    assistantMedia: false,
    blankText: false,
    plainRoot: true,
    thinkingBudgets: true,
    strict: CLAUDE_STRICT,
    output: CLAUDE_STRICT,
    opening: 'user',
    stopSequence: /\S/,
  },
  answers,
  liftRequest,
  lowerRequest,
  liftResponse,
  lowerResponse,
  resumed,
  stepper,
  emitter,
  tokenCount,
  lowerCount,
  liftTokenCount,
  modelList,
  liftError,
  lowerError,
  wrapError,
  limitHeaders,
  observeStream,
  observeBody,
};

import type { Dialect } from '../dialect.ts';
import { OPENAI_STRICT } from '../strict-subset.ts';
import { failedResponse } from './answer.ts';
import { answers } from './answer-shape.ts';
import { echoOf } from './echo.ts';
import { emitter } from './emit.ts';
import { liftError, lowerError, wrapError } from './errors.ts';
import { liftRequest, liftResponse } from './lift.ts';
import { liftTokenCount, lowerCount, modelList, tokenCount } from './lists.ts';
import { lowerRequest, lowerResponse } from './lower.ts';
import { names } from './names.ts';
import { observeBody, observeStream } from './observe.ts';
import { stepper } from './stream.ts';

/** OpenAI's Responses API. */
export const openaiResponses: Dialect = {
  id: 'openai-responses',
  style: 'codex-style',
  aliases: ['responses'],
  paths: [
    { operation: 'generate', method: 'POST', path: '/v1/responses' },
    { operation: 'count-tokens', method: 'POST', path: '/v1/responses/input_tokens' },
  ],
  ownPaths: ['/v1/responses', '/v1/conversations'],
  featureHeaders: ['openai-beta'],
  names,
  rules: {
    toolCallId: /^[\s\S]{1,64}$/,
    toolName: /^(?:[^/]+\/)?[a-zA-Z0-9_-]{1,64}$/,
    maxStopSequences: 0,
    argumentsAreObjects: false,
    toolResultMedia: true,
    assistantMedia: false,
    blankText: true,
    plainRoot: true,
    strict: OPENAI_STRICT,
    opening: 'somebody',
  },
  answers,
  echoOf,
  failedResponse,
  liftRequest,
  lowerRequest,
  liftResponse,
  lowerResponse,
  stepper,
  emitter,
  tokenCount,
  lowerCount,
  liftTokenCount,
  modelList,
  liftError,
  lowerError,
  wrapError,
  observeStream,
  observeBody,
};

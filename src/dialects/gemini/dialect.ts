import type { Dialect } from '../dialect.ts';
import { answers } from './answers/answer-shape.ts';
import { lowerResponse } from './answers/lower-answer.ts';
import { liftError, lowerError, wrapError } from './errors.ts';
import { liftRequest, liftResponse } from './lift.ts';
import { liftTokenCount, lowerCount, modelList, tokenCount } from './lists.ts';
import { lowerRequest } from './lower.ts';
import { MAX_STOP_SEQUENCES } from './lower-config.ts';
import { names } from './names.ts';
import { observeBody, observeStream } from './observe.ts';
import { emitter, stepper } from './stream.ts';

/** Google's generateContent API. */
export const gemini: Dialect = {
  id: 'gemini',
  style: 'gemini-style',
  aliases: ['google'],
  paths: [
    { operation: 'generate', method: 'POST', path: '/v1beta/models/{model}:generateContent', stream: false },
    { operation: 'generate', method: 'POST', path: '/v1beta/models/{model}:streamGenerateContent', stream: true },
    { operation: 'count-tokens', method: 'POST', path: '/v1beta/models/{model}:countTokens', stream: false },
    // The stable version of the same API, which newer SDKs ask first.
    { operation: 'generate', method: 'POST', path: '/v1/models/{model}:generateContent', stream: false },
    { operation: 'generate', method: 'POST', path: '/v1/models/{model}:streamGenerateContent', stream: true },
    { operation: 'count-tokens', method: 'POST', path: '/v1/models/{model}:countTokens', stream: false },
  ],
  ownPaths: ['/v1beta', '/v1alpha', '/upload', '/download'],
  names,
  rules: {
    toolName: /^[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}$/,
    maxStopSequences: MAX_STOP_SEQUENCES,
    argumentsAreObjects: true,
    toolResultMedia: true,
    assistantMedia: true,
    blankText: false,
    plainRoot: false,
    thinkingBudgets: true,
    opening: 'user',
  },
  answers,
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

import type { Dialect } from '../dialect.ts';
import { chatAnswers } from '../families/chat/answers/answer-shape.ts';
import { liftError } from '../families/chat/errors.ts';
import { modelList } from '../families/chat/lists.ts';
import { echoOf } from '../families/chat/lower-response.ts';
import { lowerError, wrapError } from './errors.ts';
import { flavour } from './flavour.ts';
import { liftRequest, liftResponse } from './lift.ts';
import { liftTokenCount, lowerCount, tokenCount } from './lists.ts';
import { lowerRequest, lowerResponse } from './lower.ts';
import { names } from './names.ts';
import { observeBody, observeStream } from './observe.ts';
import { emitter, stepper } from './stream.ts';

/** Moonshot's Kimi API. Ids of its calls (`functions.bash:0`) are kept: the model expects its own. */
export const kimi: Dialect = {
  id: 'kimi',
  style: 'kimi-style',
  aliases: ['moonshot'],
  prefix: '/kimi',
  paths: [
    { operation: 'generate', method: 'POST', path: '/kimi/v1/chat/completions' },
    { operation: 'count-tokens', method: 'POST', path: '/kimi/v1/tokenizers/estimate-token-count' },
  ],
  ownPaths: ['/v1/chat', '/v1/files', '/v1/batches', '/v1/embeddings', '/v1/tokenizers', '/v1/users'],
  names,
  rules: {
    toolName: /^[a-zA-Z][a-zA-Z0-9_-]{0,63}$/,
    maxStopSequences: 5,
    toolResultMedia: false,
    argumentsAreObjects: false,
    blankText: false,
    assistantMedia: false,
    plainRoot: false,
    opening: 'anyone',
  },
  answers: chatAnswers(flavour),
  echoOf,
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

import type { Dialect } from '../dialect.ts';
import { chatAnswers } from '../families/chat/answers/answer-shape.ts';
import { liftError } from '../families/chat/errors.ts';
import { modelList, noTokenCount, tokenCount } from '../families/chat/lists.ts';
import { echoOf } from '../families/chat/lower-response.ts';
import { OPENAI_STRICT } from '../strict-subset.ts';
import { lowerError, wrapError } from './errors.ts';
import { flavour } from './flavour.ts';
import { liftRequest, liftResponse } from './lift.ts';
import { lowerRequest, lowerResponse } from './lower.ts';
import { names } from './names.ts';
import { observeBody, observeStream } from './observe.ts';
import { emitter, stepper } from './stream.ts';

const OWN_PATHS = [
  ...['/v1/chat', '/v1/completions', '/v1/embeddings', '/v1/files', '/v1/uploads', '/v1/batches', '/v1/audio', '/v1/images', '/v1/videos'],
  ...[
    '/v1/moderations',
    '/v1/fine_tuning',
    '/v1/vector_stores',
    '/v1/containers',
    '/v1/evals',
    '/v1/realtime',
    '/v1/assistants',
    '/v1/threads',
  ],
];

/** OpenAI's Chat Completions API, and everything that speaks like it. */
export const openaiChat: Dialect = {
  id: 'openai-chat',
  style: 'codex-style',
  aliases: ['codex', 'openai'],
  paths: [
    { operation: 'generate', method: 'POST', path: '/v1/chat/completions' },
    { operation: 'embeddings', method: 'POST', path: '/v1/embeddings' },
  ],
  ownPaths: OWN_PATHS,
  featureHeaders: ['openai-beta'],
  names,
  rules: {
    toolCallId: /^.{1,40}$/su,
    toolName: /^[a-zA-Z0-9_-]{1,64}$/,
    maxStopSequences: 4,
    argumentsAreObjects: false,
    toolResultMedia: false,
    assistantMedia: false,
    blankText: true,
    plainRoot: true,
    strict: OPENAI_STRICT,
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
  liftTokenCount: noTokenCount,
  modelList,
  liftError,
  lowerError,
  wrapError,
  observeStream,
  observeBody,
};

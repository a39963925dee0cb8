import type { Dialect } from '../dialect.ts';
import { chatAnswers } from '../families/chat/answers/answer-shape.ts';
import { liftError } from '../families/chat/errors.ts';
import { noTokenCount, tokenCount } from '../families/chat/lists.ts';
import { echoOf } from '../families/chat/lower-response.ts';
import { lowerError, wrapError } from './errors.ts';
import { flavour } from './flavour.ts';
import { liftRequest, liftResponse } from './lift.ts';
import { modelList } from './lists.ts';
import { lowerRequest, lowerResponse } from './lower.ts';
import { names } from './names.ts';
import { observeBody, observeStream } from './observe.ts';
import { emitter, stepper } from './stream.ts';

/** GitHub Copilot's chat endpoint; its paths have no version. */
export const copilot: Dialect = {
  id: 'copilot',
  style: 'copilot-style',
  aliases: ['github-copilot'],
  prefix: '/copilot',
  paths: [{ operation: 'generate', method: 'POST', path: '/copilot/chat/completions' }],
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

import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openaiChat } from '../../src/dialects/openai-chat/dialect.ts';
import { besideCorpus, NO_CORPUS } from '../support/corpus.ts';
import { needing } from '../support/needs.ts';
import { openapiChecker } from '../support/openapi-schema.ts';
import { describeRecordings } from './chat-suite.ts';

const SCHEMAS = {
  request: 'CreateChatCompletionRequest',
  answer: 'CreateChatCompletionResponse',
  chunk: 'CreateChatCompletionStreamResponse',
} as const;

const descriptions = besideCorpus('vendor-openapi');
const description = descriptions === undefined ? undefined : await openapiChecker(join(descriptions, 'openai-openapi'));

test.skipIf(description === undefined)(
  needing("OpenAI's API description checks what is written", description === undefined ? NO_CORPUS : undefined),
  () => {
    expect(description?.(SCHEMAS.chunk, { id: 'x', object: 'chat.completion.chunk', created: 0, model: 'm' })).toEqual([
      ' must have required property \'choices\' {"missingProperty":"choices"}',
    ]);
  },
);

describeRecordings({
  dialect: openaiChat,
  folder: 'openai-chat',
  least: [60, 30, 25],
  unclaimed: /^$/,
  ...(description === undefined ? {} : { check: (type, value) => description(SCHEMAS[type], value) }),
});

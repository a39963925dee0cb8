import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Json } from '../../src/base/json.ts';
import { besideCorpus } from '../support/corpus.ts';
import { discoveryChecker } from '../support/discovery-schema.ts';
import { openapiChecker } from '../support/openapi-schema.ts';

/** Complaints about a body, by the dialect that it is written in. */
export type Checks = ReadonlyMap<string, (body: Json) => string[]>;

/** What the vendors themselves publish about their requests and whole answers; a vendor whose description cannot be read has no check. */
export interface Descriptions {
  readonly requests: Checks;
  readonly answers: Checks;
}

/** Reads the descriptions that lie beside the recorded exchanges. */
export async function readDescriptions(): Promise<Descriptions> {
  const folder = besideCorpus('vendor-openapi');
  if (folder === undefined) return { requests: new Map(), answers: new Map() };
  const openai = await openapiChecker(join(folder, 'openai-openapi'));
  const anthropic = await openapiChecker(join(folder, 'anthropic-openapi'));
  const google = join(folder, 'google-discovery.json');
  const discovery = existsSync(google) ? discoveryChecker(google) : undefined;
  const requests = new Map<string, (body: Json) => string[]>();
  const answers = new Map<string, (body: Json) => string[]>();
  if (anthropic !== undefined) requests.set('claude', (body) => anthropic('CreateMessageParams', body));
  if (openai !== undefined) {
    requests.set('openai-chat', (body) => openai('CreateChatCompletionRequest', body));
    requests.set('openai-responses', (body) => openai('CreateResponse', body));
    answers.set('openai-chat', (body) => openai('CreateChatCompletionResponse', body));
    answers.set('openai-responses', (body) => openai('Response', body));
  }
  if (discovery !== undefined) {
    requests.set('gemini', (body) => discovery('GenerateContentRequest', body));
    answers.set('gemini', (body) => discovery('GenerateContentResponse', body));
  }
  return { requests, answers };
}

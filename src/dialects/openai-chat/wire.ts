import { z } from 'zod';
import { JsonRecord } from '../../contract/json-value.ts';
import { Request as ChatRequest } from '../families/chat/wire.ts';

/** `POST /v1/chat/completions` with the members that only OpenAI has. */
export const Request = ChatRequest.extend({
  store: z.boolean().nullish(),
  metadata: JsonRecord.nullish(),
  modalities: z.array(z.string()).nullish(),
  web_search_options: JsonRecord.nullish(),
});

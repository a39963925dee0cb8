import { z } from 'zod';
import { Request as ChatRequest } from '../families/chat/wire.ts';

/** `POST /v1/chat/completions` with the members that only OpenAI has. */
export const Request = ChatRequest.extend({
  store: z.boolean().nullish(),
  metadata: z.record(z.string(), z.json()).nullish(),
  modalities: z.array(z.string()).nullish(),
  web_search_options: z.record(z.string(), z.json()).nullish(),
});

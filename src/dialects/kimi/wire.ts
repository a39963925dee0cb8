import { z } from 'zod';
import { Request as ChatRequest } from '../families/chat/wire.ts';

/** `POST /v1/chat/completions` with Kimi's switch for thinking; `keep` says whether reasoning of earlier turns stays in view. */
export const Request = ChatRequest.extend({
  thinking: z.looseObject({ type: z.enum(['enabled', 'disabled']), keep: z.string().nullish() }).nullish(),
});

/** Answer of `POST /v1/tokenizers/estimate-token-count`. */
export const TokenEstimate = z.looseObject({ data: z.looseObject({ total_tokens: z.number() }) });

import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts';

/** Parameters of a request that the vendor repeats in its answers, and SDKs read there. */
const REPEATED = [
  'instructions',
  'max_output_tokens',
  'max_tool_calls',
  'metadata',
  'parallel_tool_calls',
  'prompt_cache_key',
  'safety_identifier',
  'temperature',
  'tool_choice',
  'tools',
  'top_logprobs',
  'top_p',
  'truncation',
  'user',
];

/** A stream holds the echo as long as it lasts; what is larger is left out, as the vendor's own default. */
const MOST_CHARACTERS = 32 * 1024;

/** Members of the request that a mapped answer repeats, as OpenAI's own answers do. */
export function echoOf(body: Json): JsonObject | undefined {
  if (!isJsonObject(body)) return undefined;
  const echo: Record<string, Json> = {};
  let left = MOST_CHARACTERS;
  for (const key of REPEATED) {
    const value = body[key];
    if (value === undefined || value === null) continue;
    const length = JSON.stringify(value).length;
    if (length > left) continue;
    left -= length;
    echo[key] = value;
  }
  if (isJsonObject(body.reasoning)) echo.reasoning = { effort: null, summary: null, ...body.reasoning };
  if (isJsonObject(body.text)) echo.text = { format: { type: 'text' }, ...body.text };
  return Object.keys(echo).length === 0 ? undefined : echo;
}

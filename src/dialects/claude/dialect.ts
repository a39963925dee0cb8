import type { Dialect } from '../dialect.ts';
import { liftError, lowerError, wrapError } from './errors.ts';
import { liftRequest, liftResponse } from './lift.ts';
import { lowerRequest, lowerResponse } from './lower.ts';
import { observeBody, observeStream } from './observe.ts';
import { emitter, stepper } from './stream.ts';

/** Anthropic's Messages API. */
export const claude: Dialect = {
  id: 'claude',
  style: 'claude-style',
  aliases: ['anthropic'],
  paths: [
    { operation: 'generate', method: 'POST', path: '/v1/messages' },
    { operation: 'count-tokens', method: 'POST', path: '/v1/messages/count_tokens' },
  ],
  streamType: 'text/event-stream; charset=utf-8',
  names: {
    model: 'model',
    max_tokens: 'max_tokens',
    stop_sequences: 'stop_sequences',
    system: 'system',
    tool: 'input_schema',
    tool_choice: 'tool_choice',
    tool_call: 'tool_use',
    tool_result: 'tool_result',
    json_schema: 'output_config.format',
    temperature: 'temperature',
    top_p: 'top_p',
    top_k: 'top_k',
    effort: 'output_config.effort',
    end_user: 'metadata.user_id',
  },
  liftRequest,
  lowerRequest,
  liftResponse,
  lowerResponse,
  stepper,
  emitter,
  tokenCount: (count) => ({ input_tokens: count }),
  liftError,
  lowerError,
  wrapError,
  observeStream,
  observeBody,
};

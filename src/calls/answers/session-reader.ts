import type { AnswerReader } from '../../mapping/answers/account.ts';

/**
 * A session of the agent plane as a reader of answers. It keeps the parts of an answer as they are, opaque state included, so that they
 * can go back to their engine; parts without neutral words become labelled text.
 */
export const SESSION: AnswerReader = {
  id: 'session',
  answers: {
    claims: {},
    stops: {},
    textCalls: true,
    names: {
      structure: 'structure',
      answer_id: 'answer_id',
      text: 'text',
      refusal: 'refusal',
      thinking: 'thinking',
      reasoning_state: 'state',
      tool_call: 'tool_call',
      call_state: 'state',
      citation: 'citations',
      citation_place: 'citations',
      logprobs: 'logprobs',
      logprob_bytes: 'logprobs',
      stop_reason: 'finish',
      stop_sequence: 'stop_sequence',
      usage_input: 'usage.input_tokens',
      usage_output: 'usage.output_tokens',
      usage_cache_read: 'usage.cache_read_tokens',
      usage_cache_write: 'usage.cache_write_tokens',
      usage_cache_write_beside: 'usage.cache_write_tokens',
      usage_thinking: 'usage.thinking_tokens',
      usage_search: 'usage.web_search_requests',
      error: 'error',
    },
    show: () => undefined,
    places: () => [],
  },
};

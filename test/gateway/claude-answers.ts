/** A short answer of Claude in one piece. */
export const claudeAnswer = {
  id: 'm',
  type: 'message',
  role: 'assistant',
  model: 'x',
  content: [{ type: 'text', text: 'hi' }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 1, output_tokens: 1 },
};

/** The same as a stream. */
export const claudeStream = [
  { type: 'message_start', message: { ...claudeAnswer, content: [], stop_reason: null } },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'hi' } },
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 1 } },
  { type: 'message_stop' },
]
  .map((data) => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`)
  .join('');

import type { JsonObject } from '../../src/base/json.ts';
import type { Settings } from './rival-settings.ts';

const PICTURE = 'data:image/png;base64,QUJDRA==';

const said = (content: readonly JsonObject[]): JsonObject => ({ messages: [{ role: 'user', content }] });
const chatTurns = (message: JsonObject): JsonObject => ({
  messages: [{ role: 'user', content: 'hi' }, message, { role: 'user', content: 'go on' }],
});
const claudeTurns = (content: readonly JsonObject[]): JsonObject => ({
  max_tokens: 2000,
  messages: [
    { role: 'user', content: 'hi' },
    { role: 'assistant', content },
    { role: 'user', content: 'go on' },
  ],
});

/** Rivals inside of one message or part. */
export const WITHIN: Readonly<Record<string, Settings>> = {
  'openai-chat': [
    said([{ type: 'file', file: { file_id: 'file-1', file_data: 'data:application/pdf;base64,QUJDRA==', filename: 'a.pdf' } }]),
    said([{ type: 'file', file: { file_data: 'data:application/pdf;base64,QUJDRA==' } }]),
    said([
      { type: 'text', text: 'hi' },
      { type: 'image_url', image_url: { url: PICTURE, detail: 'high' } },
    ]),
    chatTurns({ role: 'assistant', content: 'I am here.', refusal: 'No.' }),
    chatTurns({
      role: 'assistant',
      content: [
        { type: 'text', text: 'here' },
        { type: 'refusal', refusal: 'No.' },
      ],
      refusal: 'Never.',
    }),
    chatTurns({ role: 'assistant', content: null, tool_calls: [], refusal: null }),
    chatTurns({ role: 'assistant', content: 'x', audio: { id: 'audio_1' } }),
    chatTurns({ role: 'assistant', content: 'x', reasoning_content: 'because', reasoning: 'why' }),
    {
      messages: [
        { role: 'user', content: 'hi' },
        {
          role: 'assistant',
          content: null,
          function_call: { name: 'find', arguments: '{}' },
          tool_calls: [{ id: 'c1', type: 'function', function: { name: 'look', arguments: '{}' } }],
        },
        { role: 'tool', tool_call_id: 'c1', content: 'x' },
      ],
    },
    {
      messages: [
        { role: 'user', content: 'hi' },
        { role: 'assistant', content: null, tool_calls: [{ id: 'c1', type: 'function', function: { name: 'look', arguments: '{}' } }] },
        { role: 'tool', tool_call_id: 'c1', name: 'look', content: [{ type: 'text', text: 'x' }] },
      ],
    },
    {
      messages: [
        { role: 'system', content: 'a' },
        { role: 'developer', content: 'b' },
        { role: 'user', content: 'hi', name: 'ann' },
      ],
    },
  ],
  'openai-responses': [
    { input: [{ role: 'user', content: [{ type: 'input_image', image_url: PICTURE, file_id: 'file-1', detail: 'low' }] }] },
    {
      input: [
        {
          role: 'user',
          content: [
            {
              type: 'input_file',
              file_data: 'data:application/pdf;base64,QUJDRA==',
              file_url: 'https://a.example/x.pdf',
              file_id: 'file-1',
              filename: 'a.pdf',
            },
          ],
        },
      ],
    },
    {
      input: [
        {
          role: 'user',
          content: [{ type: 'input_file', file_data: 'data:application/pdf;base64,QUJDRA==', file_url: 'https://a.example/x.pdf' }],
        },
      ],
    },
    {
      input: [
        { role: 'user', content: 'hi' },
        {
          type: 'message',
          id: 'msg_1',
          role: 'assistant',
          status: 'completed',
          phase: 'final_answer',
          content: [{ type: 'output_text', text: 'x', annotations: [], logprobs: [] }],
        },
        { role: 'user', content: 'go on' },
      ],
    },
    {
      input: [
        { role: 'user', content: 'hi' },
        { role: 'assistant', status: 'completed', phase: 'commentary', content: 'x' },
        { role: 'user', content: 'go on' },
      ],
    },
    {
      input: [
        { role: 'user', content: 'hi' },
        {
          type: 'reasoning',
          id: 'rs_1',
          summary: [{ type: 'summary_text', text: 'short' }],
          content: [{ type: 'reasoning_text', text: 'long' }],
          encrypted_content: 'QUJD',
          status: 'completed',
        },
        { role: 'assistant', content: 'x' },
        { role: 'user', content: 'go on' },
      ],
    },
    { input: [{ role: 'user', content: 'hi', status: 'completed', phase: 'commentary' }] },
    {
      input: [
        { role: 'user', content: 'hi' },
        { type: 'function_call', id: 'fc_1', call_id: 'c1', name: 'look', arguments: '{}', status: 'completed', namespace: 'n' },
        { type: 'function_call_output', id: 'fo_1', call_id: 'c1', output: [{ type: 'input_text', text: 'x' }], status: 'completed' },
      ],
    },
  ],
  claude: [
    { max_tokens: 2000, ...said([{ type: 'text', text: 'hi', cache_control: { type: 'ephemeral' } }]) },
    {
      max_tokens: 2000,
      ...said([
        {
          type: 'document',
          title: 't',
          context: 'c',
          citations: { enabled: true },
          cache_control: { type: 'ephemeral' },
          source: { type: 'text', media_type: 'text/plain', data: 'words' },
        },
      ]),
    },
    claudeTurns([
      { type: 'thinking', thinking: 'why', signature: 'QUJD' },
      { type: 'text', text: 'x', citations: null },
    ]),
    claudeTurns([
      {
        type: 'text',
        text: 'x',
        citations: [
          { type: 'char_location', cited_text: 'w', document_index: 0, document_title: 't', start_char_index: 0, end_char_index: 1 },
        ],
      },
    ]),
    {
      max_tokens: 2000,
      messages: [
        { role: 'user', content: 'hi' },
        { role: 'assistant', content: [{ type: 'tool_use', id: 't1', name: 'look', input: {}, caller: { type: 'direct' } }] },
        {
          role: 'user',
          content: [
            {
              type: 'tool_result',
              tool_use_id: 't1',
              is_error: true,
              content: [{ type: 'text', text: 'x' }],
              cache_control: { type: 'ephemeral' },
            },
          ],
        },
      ],
    },
  ],
  gemini: [
    { contents: [{ role: 'user', parts: [{ text: 'hi', inlineData: { mimeType: 'image/png', data: 'QUJDRA==' } }] }] },
    {
      contents: [
        {
          role: 'user',
          parts: [{ inlineData: { mimeType: 'image/png', data: 'QUJDRA==' }, inline_data: { mime_type: 'image/jpeg', data: 'QUJDREVG' } }],
        },
      ],
    },
    {
      contents: [
        {
          role: 'user',
          parts: [
            {
              inlineData: { mimeType: 'image/png', data: 'QUJDRA==', displayName: 'a.png' },
              mediaResolution: { level: 'MEDIA_RESOLUTION_LOW' },
            },
          ],
        },
      ],
    },
    {
      contents: [
        { role: 'user', parts: [{ text: 'hi' }] },
        {
          role: 'model',
          parts: [
            { text: 'why', thought: true, thoughtSignature: 'QUJD' },
            { text: 'x', thought_signature: 'QUJDRA==' },
          ],
        },
        { role: 'user', parts: [{ text: 'go on' }] },
      ],
    },
    {
      contents: [
        { role: 'user', parts: [{ text: 'hi' }] },
        { role: 'model', parts: [{ functionCall: { id: 'f1', name: 'look', args: { a: 1 } }, thoughtSignature: 'QUJD' }] },
        {
          role: 'user',
          parts: [
            {
              functionResponse: {
                id: 'f1',
                name: 'look',
                response: { output: 'x', result: 'y' },
                parts: [{ inlineData: { mimeType: 'image/png', data: 'QUJDRA==' } }],
                willContinue: false,
                scheduling: 'SILENT',
              },
            },
          ],
        },
      ],
    },
  ],
};

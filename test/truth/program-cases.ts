import type { Json, JsonObject } from '../../src/base/json.ts';
import type { SampleRequest } from './sources.ts';

/** What programs and the helpers of SDKs send without a second thought: each vendor takes it, so every engine must be able to serve it. */

const PICTURE = 'iVBORw0KGgo=';
const TABLE = Buffer.from('a,b\n1,ü\n').toString('base64');
const SCHEMA: JsonObject = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'], additionalProperties: false };

function request(from: string, name: string, body: JsonObject): SampleRequest {
  return { id: `program ${from}: ${name}`, from, body, address: { model: 'asked-model', stream: false } };
}

const claudeUser = (content: Json): JsonObject => ({ model: 'm', max_tokens: 100, messages: [{ role: 'user', content }] });
const chatUser = (content: Json): JsonObject => ({ model: 'm', messages: [{ role: 'user', content }] });
const responsesUser = (content: Json): JsonObject => ({ model: 'm', input: [{ role: 'user', content }] });
const geminiUser = (...parts: Json[]): JsonObject => ({ contents: [{ role: 'user', parts: [...parts, { text: 'hi' }] }] });

const FOUND: JsonObject = {
  type: 'search_result',
  source: 'https://example.test/owl',
  title: 'Owl',
  content: [{ type: 'text', text: 'A bird.' }],
};

/** The conversation of a tool loop whose result is these blocks. */
function loop(content: Json): JsonObject {
  return {
    model: 'm',
    max_tokens: 100,
    messages: [
      { role: 'user', content: 'look' },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'look', input: {} }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content }] },
    ],
    tools: [{ name: 'look', input_schema: SCHEMA }],
  };
}

/** Types of media as programs spell them. */
const SPELLINGS = ['image/jpg', 'image/jpeg;charset=utf-8', 'IMAGE/PNG'];
/** Documents whose bytes are words. */
const WORDS = ['text/csv', 'text/markdown', 'application/json', 'text/html; charset=utf-8'];

function media(): SampleRequest[] {
  return [
    ...SPELLINGS.flatMap((type) => [
      request(
        'openai-chat',
        `a picture of type ${type}`,
        chatUser([{ type: 'image_url', image_url: { url: `data:${type};base64,${PICTURE}` } }]),
      ),
      request(
        'openai-responses',
        `a picture of type ${type}`,
        responsesUser([{ type: 'input_image', image_url: `data:${type};base64,${PICTURE}`, detail: 'auto' }]),
      ),
      request('gemini', `a picture of type ${type}`, geminiUser({ inlineData: { mimeType: type, data: PICTURE } })),
    ]),
    ...WORDS.flatMap((type) => [
      request(
        'openai-chat',
        `a document of type ${type}`,
        chatUser([{ type: 'file', file: { filename: 'a.csv', file_data: `data:${type};base64,${TABLE}` } }]),
      ),
      request(
        'openai-responses',
        `a document of type ${type}`,
        responsesUser([{ type: 'input_file', filename: 'a.csv', file_data: `data:${type};base64,${TABLE}` }]),
      ),
      request('gemini', `a document of type ${type}`, geminiUser({ inlineData: { mimeType: type, data: TABLE } })),
    ]),
  ];
}

const CHATS = ['openai-chat', 'kimi', 'copilot'];

/** Old and new spellings of one wish, which vendors take beside each other. */
function pairs(): SampleRequest[] {
  return [
    ...CHATS.map((from) => request(from, 'both token limits', { ...chatUser('hi'), max_tokens: 30, max_completion_tokens: 30 })),
    ...CHATS.map((from) => request(from, 'both names of the end user', { ...chatUser('hi'), user: 'u', safety_identifier: 's' })),
    request('openai-responses', 'both names of the end user', { ...responsesUser('hi'), user: 'u', safety_identifier: 's' }),
    request('openai-responses', 'a limit of hosted calls beside functions', {
      ...responsesUser('hi'),
      max_tool_calls: 3,
      tools: [{ type: 'function', name: 'look', parameters: SCHEMA, strict: true }],
    }),
  ];
}

/** Requests of programs, none of which asks for more than every engine has. */
export function programCases(): SampleRequest[] {
  return [
    ...media(),
    ...pairs(),
    // The SDK's tool runner asks for a thread in its first request, unless told not to.
    request('claude', 'the begin of a thread', { ...claudeUser('hi'), thread: { type: 'create' } }),
    request('gemini', 'one of several texts', {
      ...geminiUser(),
      generationConfig: { responseMimeType: 'text/x.enum', responseSchema: { type: 'STRING', enum: ['red', 'blue'] } },
    }),
    request('claude', 'a search result', claudeUser([FOUND, { type: 'text', text: 'hi' }])),
    request('claude', 'a search result in a tool result', loop([FOUND, { type: 'text', text: 'and more' }])),
    request('claude', 'a found tool in a tool result', loop([{ type: 'tool_reference', tool_name: 'look' }])),
    request(
      'claude',
      'a document of blocks',
      claudeUser([
        { type: 'document', title: 'Owl', context: 'a book', source: { type: 'content', content: [{ type: 'text', text: 'A bird.' }] } },
        { type: 'text', text: 'hi' },
      ]),
    ),
    request(
      'claude',
      'a document of one text',
      claudeUser([
        { type: 'document', source: { type: 'content', content: 'A bird.' } },
        { type: 'text', text: 'hi' },
      ]),
    ),
  ];
}

import { describe, expect, it } from 'vitest';
import { isJsonObject, type Json, type JsonObject, parseJson } from '../../src/base/json.ts';
import { answered, streamed } from '../cases/translation.ts';

/** `Rain. Sun 😀.`: the second sentence rests on a page, and a letter of it has four bytes. */
const [FIRST, SECOND] = ['Rain. ', 'Sun 😀.'];
const PAGE = { url: 'https://example.test/sun', title: 'Sun' };
const PLACE = { start_index: FIRST.length, end_index: FIRST.length + SECOND.length };
const USAGE = { input_tokens: 3, output_tokens: 2 };

/** The same answer of each engine, whole and as the events of a stream. */
const ENGINES: Readonly<Record<string, { readonly whole: JsonObject; readonly stream: readonly JsonObject[] }>> = {
  claude: claudeAnswer(),
  'openai-chat': chatAnswer(),
  'openai-responses': responsesAnswer(),
  gemini: geminiAnswer(),
};

function claudeAnswer(): { whole: JsonObject; stream: JsonObject[] } {
  const citation = { type: 'web_search_result_location', ...PAGE, cited_text: 'It shines.', encrypted_index: 'secret' };
  const content = [
    { type: 'text', text: FIRST },
    { type: 'text', text: SECOND, citations: [citation] },
  ];
  const stream = content.flatMap(({ text, citations = [] }, index): JsonObject[] => [
    { type: 'content_block_start', index, content_block: { type: 'text', text: '' } },
    ...citations.map((one) => ({ type: 'content_block_delta', index, delta: { type: 'citations_delta', citation: one } })),
    { type: 'content_block_delta', index, delta: { type: 'text_delta', text } },
    { type: 'content_block_stop', index },
  ]);
  return {
    whole: { id: 'm1', model: 'm', content, stop_reason: 'end_turn', usage: USAGE },
    stream: [
      { type: 'message_start', message: { id: 'm1', model: 'm', usage: USAGE } },
      ...stream,
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: USAGE },
      { type: 'message_stop' },
    ],
  };
}

function chatAnswer(): { whole: JsonObject; stream: JsonObject[] } {
  const annotations = [{ type: 'url_citation', url_citation: { ...PAGE, ...PLACE } }];
  const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };
  const message = { role: 'assistant', content: FIRST + SECOND, annotations };
  return {
    whole: { id: 'c1', model: 'm', choices: [{ index: 0, message, finish_reason: 'stop' }], usage },
    stream: [
      { id: 'c1', model: 'm', choices: [{ index: 0, delta: { content: FIRST + SECOND } }] },
      { id: 'c1', model: 'm', choices: [{ index: 0, delta: { annotations } }] },
      { id: 'c1', model: 'm', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], usage },
    ],
  };
}

function responsesAnswer(): { whole: JsonObject; stream: JsonObject[] } {
  const content = [{ type: 'output_text', text: FIRST + SECOND, annotations: [{ type: 'url_citation', ...PAGE, ...PLACE }] }];
  const item = { id: 'msg_1', type: 'message', role: 'assistant', status: 'completed', content };
  const whole = { id: 'resp_1', model: 'm', status: 'completed', output: [item], usage: { ...USAGE, total_tokens: 5 } };
  const started = { id: 'msg_1', type: 'message', role: 'assistant', status: 'in_progress', content: [] };
  return {
    whole,
    stream: [
      { type: 'response.created', response: { id: 'resp_1', model: 'm', status: 'in_progress', output: [] } },
      { type: 'response.output_item.added', output_index: 0, item: started },
      { type: 'response.output_text.delta', item_id: 'msg_1', output_index: 0, content_index: 0, delta: FIRST + SECOND },
      { type: 'response.output_item.done', output_index: 0, item },
      { type: 'response.completed', response: whole },
    ],
  };
}

function geminiAnswer(): { whole: JsonObject; stream: JsonObject[] } {
  const groundingMetadata = {
    webSearchQueries: ['sun'],
    groundingChunks: [{ web: { uri: PAGE.url, title: PAGE.title } }],
    groundingSupports: [{ segment: { startIndex: 6, endIndex: 6 + Buffer.byteLength(SECOND), text: SECOND }, groundingChunkIndices: [0] }],
  };
  const usageMetadata = { promptTokenCount: 3, candidatesTokenCount: 2, totalTokenCount: 5 };
  const part = (text: string, more: object = {}): JsonObject => ({ index: 0, content: { role: 'model', parts: [{ text }] }, ...more });
  return {
    whole: { candidates: [part(FIRST + SECOND, { finishReason: 'STOP', groundingMetadata })], usageMetadata, responseId: 'r' },
    stream: [
      { candidates: [part(FIRST)], usageMetadata, responseId: 'r' },
      { candidates: [part(SECOND)], usageMetadata, responseId: 'r' },
      { candidates: [part('', { finishReason: 'STOP', groundingMetadata })], usageMetadata, responseId: 'r' },
    ],
  };
}

/** All objects inside a value that have a member of this name. */
function objectsWith(value: Json, name: string): JsonObject[] {
  if (Array.isArray(value)) return value.flatMap((one: Json) => objectsWith(one, name));
  if (!isJsonObject(value)) return [];
  return [...(value[name] === undefined ? [] : [value]), ...Object.values(value).flatMap((one) => objectsWith(one, name))];
}

function dataOf(text: string): Json[] {
  return text.split(/\r?\n/).flatMap((line) => {
    const parsed = line.startsWith('data: {') ? parseJson(line.slice('data: '.length)) : undefined;
    return parsed?.ok ? [parsed.value] : [];
  });
}

/** Where each wire names the page. */
const CALLERS: Readonly<Record<string, string>> = { claude: 'url', 'openai-chat': 'url', 'openai-responses': 'url', gemini: 'uri' };

describe.each(Object.keys(ENGINES))('a page that %s searched for', (engine) => {
  const { whole, stream } = ENGINES[engine] ?? { whole: {}, stream: [] };

  it.each(Object.keys(CALLERS).filter((caller) => caller !== engine))('is named to callers of %s, whole and streamed', (caller) => {
    const name = CALLERS[caller] ?? '';
    const told = [answered(engine, caller, whole), dataOf(streamed(engine, caller, stream))];
    for (const value of told) {
      const [page] = objectsWith(value as Json, name);
      expect([page?.[name], page?.title]).toEqual([PAGE.url, PAGE.title]);
    }
  });

  it.each(['openai-chat', 'openai-responses'].filter((caller) => caller !== engine))('has its place in the text for %s', (caller) => {
    const [page] = objectsWith(answered(engine, caller, whole), 'start_index');
    // Claude's two blocks are two messages of Responses, and the place is in the second one.
    const before = engine === 'claude' && caller === 'openai-responses' ? 0 : FIRST.length;
    expect(page).toMatchObject({ start_index: before, end_index: before + SECOND.length });
    const [again] = objectsWith(dataOf(streamed(engine, caller, stream)), 'start_index');
    expect(again).toEqual(page);
  });
});

it('Gemini callers get the place in bytes', () => {
  const answer = answered('openai-chat', 'gemini', ENGINES['openai-chat']?.whole ?? {});
  expect(objectsWith(answer, 'groundingSupports')[0]).toEqual({
    groundingChunks: [{ web: { uri: PAGE.url, title: PAGE.title } }],
    groundingSupports: [{ segment: { startIndex: 6, endIndex: 15, text: SECOND }, groundingChunkIndices: [0] }],
  });
});

it('Claude callers get the words of the page where the engine tells them, and no index that nobody issued', () => {
  const answer = answered('gemini', 'claude', ENGINES.gemini?.whole ?? {});
  expect(objectsWith(answer, 'encrypted_index')).toEqual([
    { type: 'web_search_result_location', cited_text: '', ...PAGE, encrypted_index: '' },
  ]);
});

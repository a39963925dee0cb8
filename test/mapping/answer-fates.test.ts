import { describe, expect, test } from 'vitest';
import type { FidelityEntry } from '../../src/contract/negotiation.ts';
import { dialects } from '../../src/dialects/index.ts';
import { entryAt, streamedAnswer, wholeAnswer } from '../support/answer-translation.ts';

const PNG = 'iVBORw0KGgo=';
const geminiImage = {
  candidates: [
    { content: { parts: [{ inlineData: { mimeType: 'image/png', data: PNG } }], role: 'model' }, finishReason: 'STOP', index: 0 },
  ],
  usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 1290, totalTokenCount: 1293 },
  modelVersion: 'gemini-2.5-flash-image',
  responseId: 'r1',
};
const IMAGE_AT = 'candidates[*].content.parts[*]<inlineData>.inlineData<image>';

/** A Claude answer with these blocks. */
function claude(content: readonly object[], more: object = {}): object {
  return {
    ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'claude-sonnet-4-5', content, stop_reason: 'end_turn' },
    ...{ stop_sequence: null, usage: { input_tokens: 5, output_tokens: 7 }, ...more },
  };
}

const json = (value: object): never => JSON.parse(JSON.stringify(value)) as never;

describe('an image that the engine generated', () => {
  const callers = dialects.map(({ id }) => id).filter((id) => id !== 'gemini');

  test.each(callers)('reaches a caller of %s whole, and the account says how', (caller) => {
    const { body, fidelity } = wholeAnswer('gemini', caller, json(geminiImage));
    expect(JSON.stringify(body)).toContain(PNG);
    expect(entryAt(fidelity, IMAGE_AT)).toMatchObject({ fate: caller === 'openai-responses' ? 'renamed' : 'emulated', count: 2 });
  });

  test.each(callers)('reaches a caller of %s streamed', (caller) => {
    const { text, fidelity } = streamedAnswer('gemini', caller, [json(geminiImage)]);
    expect(text).toContain(PNG);
    expect(entryAt(fidelity, IMAGE_AT)).toMatchObject({ count: 2 });
  });

  test('is Markdown in the content of a Chat answer', () => {
    expect(wholeAnswer('gemini', 'openai-chat', json(geminiImage)).body).toMatchObject({
      choices: [{ message: { content: `![generated image](data:image/png;base64,${PNG})\n\n` }, finish_reason: 'stop' }],
    });
  });

  test('is told by its address where the engine keeps it, and the account says so', () => {
    const part = { fileData: { mimeType: 'image/png', fileUri: 'https://example.com/i.png' } };
    const { body, fidelity } = wholeAnswer(
      'gemini',
      'openai-chat',
      json({ candidates: [{ content: { parts: [part] }, finishReason: 'STOP' }] }),
    );
    expect(JSON.stringify(body)).toContain('![generated image](https://example.com/i.png)');
    expect(entryAt(fidelity, 'candidates[*].content.parts[*]<fileData>.fileData<image>')).toMatchObject({ fate: 'emulated', count: 2 });
  });

  test('is an item of its own in Responses, and a part in Gemini', () => {
    const item = wholeAnswer('gemini', 'openai-responses', json(geminiImage)).body;
    expect(item).toMatchObject({ output: [{ type: 'image_generation_call', status: 'completed', result: PNG }] });
    const { id: _gone, ...answer } = item;
    expect(wholeAnswer('openai-responses', 'gemini', json({ id: 'resp_1', ...answer })).body).toMatchObject({
      candidates: [{ content: { parts: [{ inlineData: { mimeType: 'image/png', data: PNG } }] } }],
    });
  });

  test('leaves an answer in JSON empty, which is an error', () => {
    const asked = { changes: [{ kind: 'json-answer' } as const] };
    expect(() => wholeAnswer('gemini', 'openai-chat', json(geminiImage), asked)).toThrow(
      /nothing but image, for which openai-chat has no form/,
    );
    expect(streamedAnswer('gemini', 'openai-chat', [json(geminiImage)], asked).error).toMatch(/nothing but image/);
  });
});

describe('audio of a Chat engine and the words in it', () => {
  const head = { id: 'c', object: 'chat.completion', model: 'm' };
  const audio = { id: 'audio_1', expires_at: 9, data: 'UklGRgAA', transcript: 'hello there' };
  const whole = { ...head, choices: [{ index: 0, message: { role: 'assistant', content: null, audio }, finish_reason: 'stop' }] };
  const pieces = [{ id: 'audio_1', transcript: 'hello ' }, { transcript: 'there' }, { data: 'UklGRgAA' }, { expires_at: 9 }];
  const streamed = [...pieces.map((piece) => ({ delta: { audio: piece } })), { delta: {}, finish_reason: 'stop' }].map((choice) => ({
    ...head,
    choices: [{ index: 0, ...choice }],
  }));
  const fatesOf = (fidelity: readonly FidelityEntry[]): unknown =>
    fidelity.flatMap(({ path, fate }) => (path.includes('.audio') ? [[path.slice(path.indexOf('audio')), fate]] : [])).sort();

  test.each([
    ['gemini', 'renamed', 'emulated'],
    ['claude', 'emulated', 'emulated'],
    ['openai-responses', 'emulated', 'emulated'],
    ['openai-chat', 'exact', 'exact'],
  ])('reach a caller of %s, whole and streamed', (caller, data, transcript) => {
    const one = wholeAnswer('openai-chat', caller, json(whole));
    const many = streamedAnswer('openai-chat', caller, json(streamed));
    const rest = caller === 'openai-chat' ? 'exact' : 'dropped';
    for (const { text, fidelity } of [{ ...one, text: JSON.stringify(one.body) }, many]) {
      expect(text).toContain('UklGRgAA');
      expect(fatesOf(fidelity)).toEqual([
        ['audio', rest],
        ['audio.data', data],
        ['audio.transcript', transcript],
      ]);
    }
    expect(JSON.stringify(one.body)).toContain('hello there');
    expect(many.text).toContain(caller === 'openai-chat' ? '{"transcript":"there"}' : '[generated audio: hello there]');
  });
});

describe('hosted tools', () => {
  const searched = claude([
    { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'owls' } },
    {
      type: 'web_search_tool_result',
      tool_use_id: 'srvtoolu_1',
      content: [{ type: 'web_search_result', url: 'https://owls.example/', title: 'Owls', encrypted_content: 'x' }],
    },
    { type: 'text', text: 'Owls fly.' },
  ]);

  test('pages that were found are sources of the text', () => {
    const { body, fidelity } = wholeAnswer('claude', 'openai-chat', json(searched));
    expect(body).toMatchObject({
      choices: [
        {
          message: {
            content: 'Owls fly.',
            annotations: [{ type: 'url_citation', url_citation: { url: 'https://owls.example/', title: 'Owls' } }],
          },
        },
      ],
    });
    expect(entryAt(fidelity, 'content[*]<web_search_tool_result>.content[*].url')).toMatchObject({ fate: 'emulated' });
    expect(entryAt(fidelity, 'content[*]<web_search_tool_result>')).toMatchObject({ fate: 'dropped' });
    expect(entryAt(fidelity, 'content[*]<server_tool_use>')).toMatchObject({ fate: 'dropped' });
  });

  test.each(['kimi', 'copilot'])('pages that were found are told in words to a caller of %s, whose texts have no sources', (caller) => {
    const { body, fidelity } = wholeAnswer('claude', caller, json(searched));
    expect(JSON.stringify(body)).toContain('[pages that the engine found]\\n- Owls: https://owls.example/');
    const at = 'content[*]<web_search_tool_result>.content[*].url';
    expect(entryAt(fidelity, at)).toMatchObject({ fate: 'emulated', code: 'as_labelled_text' });
  });

  test('pages that Gemini grounds an answer on reach a caller without a text that names them', () => {
    const parts = [{ functionCall: { name: 'f', args: {} } }];
    const groundingMetadata = { groundingChunks: [{ web: { uri: 'https://owls.example/', title: 'Owls' } }], groundingSupports: [] };
    const answer = { candidates: [{ content: { parts }, finishReason: 'STOP', groundingMetadata }] };
    const one = wholeAnswer('gemini', 'claude', json(answer));
    const many = streamedAnswer('gemini', 'claude', [json(answer)]);
    for (const { text, fidelity } of [{ ...one, text: JSON.stringify(one.body) }, many]) {
      expect(text).toContain('[pages that the engine found]\\n- Owls: https://owls.example/');
      expect(entryAt(fidelity, 'candidates[*].groundingMetadata.groundingChunks[*].web')).toMatchObject({
        ...{ fate: 'emulated', code: 'as_labelled_text', count: 2 },
      });
    }
  });

  test('a page that Gemini names without a place stands at the end of the text', () => {
    const groundingChunks = ['a', 'b'].map((name) => ({ web: { uri: `https://${name}.example/`, title: name } }));
    const groundingSupports = [{ segment: { startIndex: 0, endIndex: 4 }, groundingChunkIndices: [0] }];
    const candidate = { content: { parts: [{ text: 'Owls fly.' }] }, finishReason: 'STOP' };
    const answer = { candidates: [{ ...candidate, groundingMetadata: { groundingChunks, groundingSupports } }] };
    const { body } = wholeAnswer('gemini', 'openai-responses', json(answer));
    expect(body).toMatchObject({
      output: [
        {
          content: [
            {
              text: 'Owls fly.',
              annotations: [
                { url: 'https://a.example/', start_index: 0, end_index: 4 },
                { url: 'https://b.example/', start_index: 9, end_index: 9 },
              ],
            },
          ],
        },
      ],
    });
  });

  test('pages without a text after them are a text', () => {
    const content = (searched as { content: object[] }).content.slice(0, 2);
    expect(JSON.stringify(wholeAnswer('claude', 'gemini', json(claude(content))).body)).toContain('Owls: https://owls.example/');
  });

  test('code and what came of it are labelled text, or Gemini’s own parts', () => {
    const ran = claude([
      { type: 'server_tool_use', id: 'srvtoolu_1', name: 'bash_code_execution', input: { command: 'expr 6 \\* 7' } },
      {
        type: 'bash_code_execution_tool_result',
        tool_use_id: 'srvtoolu_1',
        content: { type: 'bash_code_execution_result', stdout: '42', stderr: '', return_code: 0, content: [] },
      },
    ]);
    const chat = wholeAnswer('claude', 'openai-chat', json(ran));
    expect(JSON.stringify(chat.body)).toMatch(/code that the engine ran.*expr 6.*result of the code.*42/s);
    expect(entryAt(chat.fidelity, 'content[*]<bash_code_execution_tool_result>')).toMatchObject({ fate: 'emulated' });
    expect(wholeAnswer('claude', 'gemini', json(ran)).body).toMatchObject({
      candidates: [{ content: { parts: [{ executableCode: {} }, { codeExecutionResult: { outcome: 'OUTCOME_OK', output: '42' } }] } }],
    });
  });

  test('an item that holds both is labelled text for Gemini’s callers, whose SDKs take no result without the code before it', () => {
    const item = { type: 'code_interpreter_call', id: 'ci_1', status: 'completed', container_id: 'c', code: 'print(42)' };
    const outputs = [{ type: 'logs', logs: '42' }];
    const answer = { id: 'r', object: 'response', status: 'completed', model: 'gpt-5', output: [{ ...item, outputs }], usage: null };
    const { body, fidelity } = wholeAnswer('openai-responses', 'gemini', json(answer));
    expect(body).toMatchObject({ candidates: [{ content: { parts: [{ text: expect.stringMatching(/print\(42\).*42/s) }] } }] });
    expect(entryAt(fidelity, 'output[*]<code_interpreter_call>.code')).toMatchObject({ fate: 'emulated', code: 'as_labelled_text' });
  });

  test('arguments of a hosted tool that come in pieces are the fate of that call, not of a call to make', () => {
    const block = (index: number, content_block: object, piece: string): object[] => [
      { type: 'content_block_start', index, content_block },
      { type: 'content_block_delta', index, delta: { type: 'input_json_delta', partial_json: piece } },
      { type: 'content_block_stop', index },
    ];
    const { text, fidelity } = streamedAnswer('claude', 'openai-chat', [
      { type: 'message_start', message: { id: 'msg_1', model: 'm', usage: { input_tokens: 1, output_tokens: 1 } } },
      ...block(0, { type: 'server_tool_use', id: 's1', name: 'web_search', input: {} }, '{"query":"owls"}'),
      ...block(1, { type: 'server_tool_use', id: 's2', name: 'bash_code_execution', input: {} }, '{"command":"ls"}'),
      ...block(2, { type: 'tool_use', id: 't1', name: 'f', input: {} }, '{"a":1}'),
      { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 3 } },
      { type: 'message_stop' },
    ] as never);
    const piecesOf = (kind: string): unknown => entryAt(fidelity, `<${kind}>.delta<input_json_delta>.partial_json`);
    expect(text).not.toContain('owls');
    expect(piecesOf('content_block_delta:hosted')).toMatchObject({ fate: 'dropped', code: 'told_by_result', count: 1 });
    expect(piecesOf('content_block_delta:code')).toMatchObject({ fate: 'emulated', code: 'as_labelled_text', count: 1 });
    expect(piecesOf('content_block_delta')).toMatchObject({ fate: 'renamed', count: 1 });
  });

  test.each([
    [
      'claude',
      claude([
        {
          type: 'bash_code_execution_tool_result',
          tool_use_id: 's1',
          content: { stdout: 'done', stderr: '', return_code: 0, content: [{ type: 'bash_code_execution_output', file_id: 'file_plot' }] },
        },
      ]),
      'done\\n[file] file_plot',
    ],
    [
      'claude',
      claude([
        {
          type: 'web_fetch_tool_result',
          tool_use_id: 's1',
          content: { type: 'web_fetch_result', url: 'https://example.com/', content: { type: 'document', title: 'Owls of the north' } },
        },
      ]),
      'Owls of the north: https://example.com/',
    ],
    [
      'claude',
      claude([
        {
          ...{ type: 'text', text: 'so' },
          citations: [{ type: 'search_result_location', source: 'https://example.com/a', title: 'A', cited_text: 'x' }],
        },
      ]),
      '[source] A, https://example.com/a: “x”',
    ],
    [
      'gemini',
      {
        candidates: [
          {
            ...{ content: { parts: [{ text: 'so' }] }, finishReason: 'STOP' },
            groundingMetadata: { groundingChunks: [{ maps: { uri: 'https://maps.example.com/1', title: 'A café', placeId: 'p' } }] },
          },
        ],
      },
      '"title":"A café","url":"https://maps.example.com/1"',
    ],
    [
      'openai-responses',
      { id: 'resp_1', status: 'completed', output: [{ id: 'ig_1', type: 'image_generation_call', status: 'failed', result: null }] },
      '[failure of image generation]',
    ],
  ])('what came of a tool of %s is told with its files, titles and addresses', (engine, answer, told) => {
    expect(JSON.stringify(wholeAnswer(engine, 'openai-chat', json(answer)).body)).toContain(told);
  });

  test('an answer that holds nothing but a call of a hosted tool is an error', () => {
    const called = claude([{ type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'owls' } }]);
    expect(() => wholeAnswer('claude', 'openai-chat', json(called))).toThrow(/nothing but calls of hosted tools/);
  });
});

test('citations of documents stand below the text that rests on them', () => {
  const citation = {
    type: 'page_location',
    cited_text: 'Owls see.',
    document_index: 0,
    document_title: 'Birds',
    start_page_number: 3,
    end_page_number: 5,
  };
  const { body, fidelity } = wholeAnswer(
    'claude',
    'openai-responses',
    json(claude([{ type: 'text', text: 'They see.', citations: [citation] }])),
  );
  expect(JSON.stringify(body)).toContain('[source] Birds, page 3–4: “Owls see.”');
  expect(entryAt(fidelity, 'content[*]<text>.citations[*]<*>.cited_text')).toMatchObject({ fate: 'emulated' });
  expect(entryAt(fidelity, 'content[*]<text>.citations[*]<*>')).toMatchObject({ fate: 'dropped', count: 1 });
});

test('a member that nobody knows is listed as dropped', () => {
  const { fidelity } = wholeAnswer('claude', 'gemini', json(claude([{ type: 'text', text: 'a' }], { novelty: { size: 3 } })));
  expect(entryAt(fidelity, 'novelty.size')).toEqual({
    path: 'novelty.size',
    fate: 'dropped',
    code: 'unknown_member',
    note: 'it is not a member we know',
    count: 1,
  });
});

describe.each([
  ['claude', claude([{ type: 'text', text: 'a' }], { stop_reason: 'novel' }), 'stop_reason'],
  ['gemini', { candidates: [{ content: { parts: [{ text: 'a' }] }, finishReason: 'novel' }] }, 'candidates[*].finishReason'],
  [
    'openai-chat',
    { id: 'c', model: 'm', choices: [{ index: 0, message: { role: 'assistant', content: 'a' }, finish_reason: 'novel' }] },
    'choices[*].finish_reason',
  ],
  ['openai-responses', { id: 'resp_1', status: 'novel', output: [] }, 'status'],
  ['openai-responses', { id: 'resp_1', status: 'incomplete', incomplete_details: { reason: 'novel' }, output: [] }, 'incomplete_details'],
])('a reason to stop of %s that nobody knows', (engine, answer, path) => {
  test.each(dialects.map(({ id }) => id).filter((id) => id !== engine))('is not said to have reached a caller of %s', (caller) => {
    expect(entryAt(wholeAnswer(engine, caller, json(answer)).fidelity, path)).toEqual({
      ...{ path, fate: 'dropped', code: 'unknown_stop_reason', count: 1 },
      note: '“novel” is no reason to stop that we know, and the caller is not told it',
    });
  });
});

test('a status that only some servers of Responses write is understood', () => {
  const { fidelity } = wholeAnswer('openai-responses', 'claude', json({ id: 'resp_1', status: 'complete', output: [] }));
  expect(entryAt(fidelity, 'status')).toMatchObject({ fate: 'renamed', note: 'stop_reason' });
});

test('a stream that ends for a reason that nobody knows has the same fate', () => {
  const { fidelity } = streamedAnswer('openai-chat', 'claude', [
    { id: 'c', model: 'm', choices: [{ index: 0, delta: { content: 'a' }, finish_reason: null }] },
    { id: 'c', model: 'm', choices: [{ index: 0, delta: {}, finish_reason: 'novel' }] },
  ]);
  expect(entryAt(fidelity, 'choices[*].finish_reason')).toMatchObject({ fate: 'dropped', code: 'unknown_stop_reason' });
});

test('what every answer has is accounted for', () => {
  const { fidelity } = wholeAnswer('claude', 'openai-chat', json(claude([{ type: 'text', text: 'a' }])));
  expect(fidelity).toEqual([
    { path: 'id', fate: 'exact', count: 1 },
    { path: 'type', fate: 'exact', count: 1 },
    { path: 'role', fate: 'exact', count: 1 },
    {
      path: 'model',
      fate: 'dropped',
      code: 'value_of_gateway',
      note: 'the caller reads the model name that it asked for; the receipt holds the engine’s',
      count: 1,
    },
    { path: 'content[*]<text>.text', fate: 'renamed', code: 'other_name_at_caller', note: 'message.content', count: 1 },
    { path: 'stop_reason', fate: 'renamed', code: 'other_name_at_caller', note: 'finish_reason', count: 1 },
    { path: 'usage.input_tokens', fate: 'renamed', code: 'other_name_at_caller', note: 'usage.prompt_tokens', count: 1 },
    { path: 'usage.output_tokens', fate: 'renamed', code: 'other_name_at_caller', note: 'usage.completion_tokens', count: 1 },
  ]);
});

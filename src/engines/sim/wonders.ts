import type { JsonObject } from '../../base/json.ts';
import type { Citation, VendorMeta } from '../../ir/part.ts';
import type { WholePart } from './plan.ts';

/** Things that real engines put into answers beside words and calls, which sim shows on demand. */
export type Wonder = 'image' | 'audio' | 'code' | 'search' | 'document';

/** One red pixel, and a WAV file of eight silent samples. */
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==';
const WAV = 'UklGRiwAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQgAAACAgICAgICAgA==';
const PAGE = { url: 'https://example.com/owls', title: 'Owls' };
const QUOTE = 'Owls hunt at night.';
const CODE = 'print(6 * 7)';

/** Each wonder as the vendor of a dialect writes it; a vendor without a row does not have it. */
const BLOCKS: Readonly<Record<Wonder, Readonly<Record<string, readonly JsonObject[]>>>> = {
  image: {
    gemini: [{ inlineData: { mimeType: 'image/png', data: PNG } }],
    'openai-responses': [{ id: 'ig_sim', type: 'image_generation_call', status: 'completed', output_format: 'png', result: PNG }],
    'openai-chat': [{ images: [{ type: 'image_url', image_url: { url: `data:image/png;base64,${PNG}` } }] }],
  },
  audio: {
    gemini: [{ inlineData: { mimeType: 'audio/wav', data: WAV } }],
    'openai-chat': [{ audio: { id: 'audio_sim', data: WAV, expires_at: 1_767_229_200, transcript: '' } }],
  },
  code: {
    claude: [
      { type: 'server_tool_use', id: 'srvtoolu_sim', name: 'code_execution', input: { code: CODE } },
      {
        type: 'code_execution_tool_result',
        tool_use_id: 'srvtoolu_sim',
        content: { type: 'code_execution_result', stdout: '42\n', stderr: '', return_code: 0, content: [] },
      },
    ],
    gemini: [{ executableCode: { language: 'PYTHON', code: CODE } }, { codeExecutionResult: { outcome: 'OUTCOME_OK', output: '42\n' } }],
    'openai-responses': [
      {
        id: 'ci_sim',
        type: 'code_interpreter_call',
        status: 'completed',
        container_id: 'cntr_sim',
        code: CODE,
        outputs: [{ type: 'logs', logs: '42\n' }],
      },
    ],
  },
  search: {
    claude: [
      { type: 'server_tool_use', id: 'srvtoolu_sim', name: 'web_search', input: { query: 'owls' } },
      {
        type: 'web_search_tool_result',
        tool_use_id: 'srvtoolu_sim',
        content: [{ type: 'web_search_result', ...PAGE, encrypted_content: 'c2lt', page_age: null }],
      },
    ],
    'openai-responses': [
      {
        id: 'ws_sim',
        type: 'web_search_call',
        status: 'completed',
        action: { type: 'search', query: 'owls', sources: [{ type: 'url', url: PAGE.url }] },
      },
    ],
  },
  document: {},
};

/** How each vendor names a place in a document, beside the text that rests on it. */
const PLACES: Readonly<Record<string, VendorMeta>> = {
  claude: {
    claude: {
      citations: [
        {
          type: 'page_location',
          cited_text: QUOTE,
          document_index: 0,
          document_title: 'Birds',
          start_page_number: 3,
          end_page_number: 4,
          file_id: null,
        },
      ],
    },
  },
  'openai-responses': {
    'openai-responses': { annotations: [{ type: 'file_citation', file_id: 'file_sim', filename: 'birds.pdf', index: 19 }] },
  },
};

/** The parts that show a wonder in the words of one dialect; undefined where its vendor has no such thing. */
export function wonderParts(wonder: Wonder, dialect: string): readonly WholePart[] | undefined {
  if (wonder === 'document')
    return PLACES[dialect] === undefined ? undefined : [{ start: { kind: 'text' }, text: QUOTE, endMeta: PLACES[dialect] }];
  const blocks = BLOCKS[wonder][dialect];
  const parts = blocks?.map((block): WholePart => {
    const type = typeof block.type === 'string' ? block.type : (Object.keys(block)[0] ?? wonder);
    return { start: { kind: 'vendor', dialect, type, meta: { [dialect]: block } }, text: '' };
  });
  if (wonder !== 'search') return parts;
  const citations: Citation[] = [{ ...PAGE, start: 0, end: QUOTE.length }];
  return [...(parts ?? []), { start: { kind: 'text' }, text: QUOTE, citations }];
}

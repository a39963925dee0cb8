import type { JsonObject } from '../../src/base/json.ts';

/** A request to a path of an engine, what the engine answers, and what the receipt says. */
export interface MeteredPath {
  readonly engine: string;
  readonly path: string;
  readonly method?: 'GET' | 'POST';
  /** A body of JSON, or the fields of a form. */
  readonly asks?: JsonObject | { readonly form: readonly (readonly [name: string, value: string | Uint8Array])[] };
  readonly answers: JsonObject | string;
  readonly type?: string;
  /** Members of the usage; null where nothing was used. */
  readonly usage: JsonObject | null;
  /** By hand, from the price of the table; null where nobody knows one. */
  readonly nanoUsd: number | null;
}

const image = { input_tokens: 50, output_tokens: 1056, total_tokens: 1106, input_tokens_details: { text_tokens: 10, image_tokens: 40 } };
const chat = { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 };
const units = (unit: string, amount: number, kind?: string): JsonObject => ({
  details: { units: [{ unit, amount, ...(kind === undefined ? {} : { kind }) }] },
});
const file = new Uint8Array(300_000).fill(120);
const heard = (model: string) => ({
  form: [
    ['file', file],
    ['model', model],
    ['response_format', 'json'],
  ] as const,
});
const sse = (...events: JsonObject[]): string =>
  events.map((event) => `event: ${String(event.type)}\ndata: ${JSON.stringify(event)}\n\n`).join('');

export const METERED: readonly MeteredPath[] = [
  {
    ...{ engine: 'openai', path: '/v1/responses/compact', asks: { model: 'gpt-5' } },
    answers: { id: 'r', model: 'gpt-5', output: [], usage: { input_tokens: 100, output_tokens: 10 } },
    ...{ usage: { input_tokens: 100, output_tokens: 10 }, nanoUsd: 225_000 },
  },
  {
    ...{ engine: 'openai', path: '/v1/completions', asks: { model: 'gpt-3.5-turbo-instruct' } },
    answers: { id: 'c', model: 'gpt-3.5-turbo-instruct', choices: [{ text: 'x', index: 0 }], usage: chat },
    ...{ usage: { input_tokens: 100, output_tokens: 10 }, nanoUsd: 170_000 },
  },
  {
    ...{ engine: 'mistral', path: '/v1/fim/completions', asks: { model: 'codestral-latest' } },
    answers: { id: 'c', model: 'codestral-latest', choices: [{ message: { content: 'x' } }], usage: chat },
    ...{ usage: { input_tokens: 100, output_tokens: 10 }, nanoUsd: 39_000 },
  },
  {
    ...{ engine: 'openai', path: '/v1/embeddings', asks: { model: 'text-embedding-3-small', input: 'hello' } },
    answers: { object: 'list', data: [], model: 'text-embedding-3-small', usage: { prompt_tokens: 100, total_tokens: 100 } },
    ...{ usage: { input_tokens: 100, output_tokens: 0, estimated: false }, nanoUsd: 2000 },
  },
  {
    ...{ engine: 'mistral', path: '/v1/embeddings', asks: { model: 'mistral-embed', input: ['12345678', '1234'] } },
    answers: { object: 'list', data: [{ embedding: [1] }], model: 'mistral-embed' },
    ...{ usage: { output_tokens: 0, estimated: true }, nanoUsd: 1400 },
  },
  {
    ...{ engine: 'openai', path: '/v1/images/generations', asks: { model: 'gpt-image-1', prompt: 'a cat' } },
    answers: { created: 1, data: [{ b64_json: 'AAAA' }], usage: image },
    ...{ usage: { input_tokens: 50, output_tokens: 1056, details: { image_input_tokens: 40 } }, nanoUsd: 42_690_000 },
  },
  {
    ...{ engine: 'openai', path: '/v1/images/generations', asks: { model: 'gpt-image-1-mini', prompt: 'a cat', stream: true } },
    answers: sse(
      { type: 'image_generation.partial_image', b64_json: 'AA' },
      { type: 'image_generation.completed', b64_json: 'AA', usage: image },
    ),
    type: 'text/event-stream',
    ...{ usage: { input_tokens: 50, output_tokens: 1056 }, nanoUsd: 8_568_000 },
  },
  {
    ...{ engine: 'openai', path: '/v1/images/edits' },
    asks: {
      form: [
        ['image', file],
        ['model', 'gpt-image-1'],
        ['prompt', 'a hat'],
      ],
    },
    answers: { created: 1, data: [{ b64_json: 'AAAA' }], usage: image },
    ...{ usage: { input_tokens: 50, output_tokens: 1056 }, nanoUsd: 42_690_000 },
  },
  {
    ...{ engine: 'openai', path: '/v1/images/generations', asks: { model: 'dall-e-3', prompt: 'x', quality: 'hd', size: '1792x1024' } },
    answers: { created: 1, data: [{ url: 'https://x.test/1.png' }] },
    ...{ usage: units('images', 1, 'hd 1792x1024'), nanoUsd: 120_000_000 },
  },
  {
    ...{
      engine: 'openai',
      path: '/v1/images/variations',
      asks: {
        form: [
          ['image', file],
          ['n', '2'],
          ['size', '256x256'],
        ],
      },
    },
    answers: { created: 1, data: [{ url: 'https://x.test/1.png' }, { url: 'https://x.test/2.png' }] },
    ...{ usage: units('images', 2, 'standard 256x256'), nanoUsd: 32_000_000 },
  },
  {
    ...{ engine: 'openai', path: '/v1/audio/transcriptions', asks: heard('gpt-4o-transcribe') },
    answers: { text: 'hi', usage: { type: 'tokens', input_tokens: 100, output_tokens: 10, input_token_details: { audio_tokens: 100 } } },
    ...{ usage: { input_tokens: 100, output_tokens: 10, details: { audio_input_tokens: 100 } }, nanoUsd: 700_000 },
  },
  {
    ...{ engine: 'openai', path: '/v1/audio/transcriptions', asks: heard('whisper-1') },
    answers: { text: 'hi', usage: { type: 'duration', seconds: 90 } },
    ...{ usage: { estimated: false, ...units('audio_seconds', 90) }, nanoUsd: 9_000_000 },
  },
  {
    ...{ engine: 'openai', path: '/v1/audio/translations', asks: heard('whisper-1') },
    ...{ answers: '1\n00:00:00,000 --> 00:01:30,200\nhello\n', type: 'text/plain' },
    ...{ usage: { estimated: true, ...units('audio_seconds', 90) }, nanoUsd: 9_000_000 },
  },
  {
    ...{ engine: 'openai', path: '/v1/audio/transcriptions', asks: heard('whisper-1') },
    ...{ answers: 'one two three four five', type: 'text/plain' },
    ...{ usage: { estimated: true, ...units('audio_seconds', 2) }, nanoUsd: 200_000 },
  },
  {
    ...{ engine: 'openai', path: '/v1/audio/speech', asks: { model: 'tts-1', input: 'hällo', voice: 'alloy' } },
    ...{ answers: 'ID3 sound', type: 'audio/mpeg' },
    ...{ usage: { estimated: false, ...units('characters', 5) }, nanoUsd: 75_000 },
  },
  {
    ...{ engine: 'openai', path: '/v1/audio/speech', asks: { model: 'gpt-4o-mini-tts', input: 'a'.repeat(90), voice: 'alloy' } },
    ...{ answers: 'ID3 sound', type: 'audio/mpeg' },
    ...{ usage: { estimated: true, input_tokens: 23, output_tokens: 125 }, nanoUsd: 1_513_800 },
  },
  {
    ...{ engine: 'openai', path: '/v1/audio/speech', asks: { model: 'gpt-4o-mini-tts', input: 'hi', stream_format: 'sse' } },
    answers: sse(
      { type: 'speech.audio.delta', audio: 'AA' },
      { type: 'speech.audio.done', usage: { input_tokens: 14, output_tokens: 101 } },
    ),
    type: 'text/event-stream',
    ...{ usage: { estimated: false, input_tokens: 14, output_tokens: 101 }, nanoUsd: 1_220_400 },
  },
  {
    ...{
      engine: 'openai',
      path: '/v1/videos',
      asks: {
        form: [
          ['model', 'sora-2'],
          ['prompt', 'a cat'],
          ['seconds', '8'],
        ],
      },
    },
    answers: { id: 'v', object: 'video', model: 'sora-2', status: 'queued', seconds: '8', size: '1280x720' },
    ...{ usage: { estimated: true, ...units('video_seconds', 8, '1280x720') }, nanoUsd: 800_000_000 },
  },
  {
    ...{ engine: 'openai', path: '/v1/containers', asks: { name: 'c' } },
    answers: { id: 'cntr', object: 'container', name: 'c', status: 'running', memory_limit: '4g' },
    ...{ usage: units('containers', 1, '4g'), nanoUsd: 120_000_000 },
  },
  {
    ...{ engine: 'gemini', path: '/v1beta/interactions', asks: { model: 'gemini-2.5-flash', input: 'hi' } },
    answers: { id: 'i', model: 'gemini-2.5-flash', usage: { total_input_tokens: 100, total_output_tokens: 10 } },
    ...{ usage: { input_tokens: 100, output_tokens: 10 }, nanoUsd: 55_000 },
  },
  {
    ...{ engine: 'gemini', path: '/v1beta/models/gemini-embedding-001:embedContent' },
    ...{ asks: { content: { parts: [{ text: 'a'.repeat(400) }] } }, answers: { embedding: { values: [1] } } },
    ...{ usage: { estimated: true, input_tokens: 100, output_tokens: 0 }, nanoUsd: 15_000 },
  },
  {
    ...{ engine: 'gemini', path: '/v1beta/models/gemini-embedding-001:batchEmbedContents' },
    asks: { requests: [{ content: { parts: [{ text: 'a'.repeat(400) }] } }, { content: { parts: [{ text: 'a'.repeat(400) }] } }] },
    ...{ answers: { embeddings: [{ values: [1] }, { values: [1] }] }, usage: { estimated: true, input_tokens: 200 }, nanoUsd: 30_000 },
  },
  {
    ...{ engine: 'gemini', path: '/v1beta/models/gemini-embedding-2:embedContent', asks: { content: { parts: [{ text: 'x' }] } } },
    answers: {
      embedding: { values: [1] },
      usageMetadata: {
        promptTokenCount: 300,
        promptTokenDetails: [
          { modality: 'TEXT', tokenCount: 100 },
          { modality: 'IMAGE', tokenCount: 200 },
        ],
      },
    },
    ...{ usage: { estimated: false, input_tokens: 300, details: { image_input_tokens: 200 } }, nanoUsd: 110_000 },
  },
  {
    ...{ engine: 'gemini', path: '/v1/models/gemini-embedding-001:predict', asks: { instances: [{ content: 'x' }] } },
    answers: { predictions: [{ embeddings: { values: [1], statistics: { token_count: 7, truncated: false } } }] },
    ...{ usage: { estimated: false, input_tokens: 7 }, nanoUsd: 1050 },
  },
  {
    ...{ engine: 'gemini', path: '/v1beta/models/imagen-4.0-generate-001:predict', asks: { instances: [{ prompt: 'a cat' }] } },
    answers: { predictions: [{ bytesBase64Encoded: 'AA' }, { bytesBase64Encoded: 'AA' }, { raiFilteredReason: 'x' }] },
    ...{ usage: units('images', 2), nanoUsd: 80_000_000 },
  },
  {
    ...{ engine: 'gemini', path: '/v1beta/models/veo-3.1-generate-preview:predictLongRunning' },
    asks: { instances: [{ prompt: 'a cat' }], parameters: { durationSeconds: 4, resolution: '1080p' } },
    ...{ answers: { name: 'models/veo/operations/o' }, usage: { estimated: true, ...units('video_seconds', 4, '1080p') } },
    nanoUsd: 1_600_000_000,
  },
  {
    ...{ engine: 'gemini', path: '/v1beta/cachedContents', asks: { model: 'models/gemini-2.5-flash', ttl: '3600s' } },
    answers: {
      name: 'cachedContents/c',
      model: 'models/gemini-2.5-flash',
      createTime: '2026-11-20T00:00:00Z',
      expireTime: '2026-11-20T02:00:00Z',
      usageMetadata: { totalTokenCount: 50_000 },
    },
    ...{ usage: { estimated: true, ...units('cache_token_hours', 100_000) }, nanoUsd: 100_000_000 },
  },
  {
    ...{ engine: 'gemini', path: '/v1beta/tunedModels/mine:generateContent', asks: { contents: [] } },
    answers: {
      candidates: [{ content: { parts: [{ text: 'x' }] }, finishReason: 'STOP' }],
      usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 6 },
    },
    ...{ usage: { input_tokens: 5, output_tokens: 6 }, nanoUsd: null },
  },
  {
    ...{ engine: 'claude', path: '/v1/complete', asks: { model: 'claude-2.1', prompt: 'x'.repeat(80) } },
    ...{
      answers: { type: 'completion', completion: 'hi', model: 'claude-2.1', stop_reason: 'stop_sequence' },
      usage: { estimated: true, input_tokens: 29, output_tokens: 23 },
    },
    nanoUsd: 784_000,
  },
];

/** Paths that cost nothing, or whose cost another call has: their receipts tell no usage. */
export const FREE: readonly (readonly [engine: string, method: 'GET' | 'POST', path: string, answers: JsonObject])[] = [
  ['openai', 'POST', '/v1/moderations', { id: 'm', model: 'omni-moderation-latest', results: [] }],
  ['openai', 'POST', '/v1/files', { id: 'file-1', object: 'file' }],
  ['openai', 'GET', '/v1/files', { object: 'list', data: [] }],
  ['openai', 'POST', '/v1/batches', { id: 'batch_1', object: 'batch', status: 'validating' }],
  [
    'openai',
    'GET',
    '/v1/responses/resp_1',
    { id: 'resp_1', status: 'completed', model: 'gpt-5', output: [], usage: { input_tokens: 9, output_tokens: 9 } },
  ],
  ['openai', 'GET', '/v1/chat/completions/c_1', { id: 'c_1', model: 'gpt-5', choices: [], usage: chat }],
  ['openai', 'GET', '/v1/videos/v_1', { id: 'v_1', object: 'video', model: 'sora-2', status: 'completed', seconds: '8' }],
  ['openai', 'GET', '/v1/containers/c_1', { id: 'c_1', object: 'container', memory_limit: '1g' }],
  ['claude', 'POST', '/v1/messages/batches', { id: 'msgbatch_1', processing_status: 'in_progress' }],
  ['claude', 'GET', '/v1/messages/batches/msgbatch_1', { id: 'msgbatch_1', processing_status: 'ended' }],
  ['gemini', 'GET', '/v1beta/cachedContents/c', { name: 'cachedContents/c', usageMetadata: { totalTokenCount: 50_000 } }],
  ['gemini', 'POST', '/v1beta/models/gemini-2.5-flash:batchGenerateContent', { name: 'batches/b', metadata: {} }],
  ['gemini', 'POST', '/v1beta/files', { file: { name: 'files/f' } }],
];

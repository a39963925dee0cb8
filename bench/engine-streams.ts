/** Words of one chunk, the same in every dialect. */
export const CHUNK_TEXT = ' a few words of text';

const CHAT_HEAD =
  '"id":"chatcmpl-01","object":"chat.completion.chunk","created":1767225600,"model":"gpt-5-mini-2025-08-07","service_tier":"default"';

function chatChunk(delta: string, finish: string): string {
  const choice = `{"index":0,"delta":${delta},"logprobs":null,"finish_reason":${finish}}`;
  return `data: {${CHAT_HEAD},"choices":[${choice}],"usage":null,"obfuscation":"x7"}\n\n`;
}

/** A Chat Completions stream of `count` network chunks, one event each; the last holds all that ends a stream. */
export function chatStream(count: number): Buffer[] {
  const start = chatChunk('{"role":"assistant","content":"","refusal":null}', 'null');
  const delta = chatChunk(`{"content":"${CHUNK_TEXT}"}`, 'null');
  const usage = `data: {${CHAT_HEAD},"choices":[],"usage":{"prompt_tokens":412,"completion_tokens":903,"total_tokens":1315}}\n\n`;
  return chunks(count, start, delta, `${chatChunk('{}', '"stop"')}${usage}data: [DONE]\n\n`);
}

function geminiChunk(text: string, finish: string): string {
  const candidate = `{"content":{"parts":[{"text":"${text}"}],"role":"model"},${finish}"index":0}`;
  const usage = '"usageMetadata":{"promptTokenCount":412,"candidatesTokenCount":903,"totalTokenCount":1315}';
  return `data: {"candidates":[${candidate}],${usage},"modelVersion":"gemini-3-flash-preview","responseId":"rEsP0nSe-1"}\r\n\r\n`;
}

/** A Gemini stream of `count` network chunks, one event each. */
export function geminiStream(count: number): Buffer[] {
  const delta = geminiChunk(CHUNK_TEXT, '');
  return chunks(count, delta, delta, geminiChunk(CHUNK_TEXT, '"finishReason":"STOP",'));
}

/** One opening chunk, as many equal ones as are needed, one closing chunk. */
export function chunks(count: number, start: string, delta: string, stop: string): Buffer[] {
  return [start, ...Array.from({ length: count - 2 }, () => delta), stop].map((text) => Buffer.from(text));
}

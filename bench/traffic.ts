import { CHUNK_TEXT, chatStream, chunks, geminiStream } from './engine-streams.ts';

/** A kind of traffic: what callers send and what the engine answers. */
export interface Traffic {
  readonly id: string;
  readonly label: string;
  readonly request: Buffer;
  readonly answer: Buffer | readonly Buffer[];
  /** Pause between two chunks of a stream. */
  readonly pauseMs?: number;
  /** Calls of one sample. */
  readonly count: number;
  /** Calls that come before the first sample. V8 goes on compiling what serves them for tens of thousands: a server does so once in its life. */
  readonly warmUp: number;
}

const MODEL = 'claude-sonnet-4-5';
const WORDS = 'The quick brown fox jumps over the lazy dog and says \\"hello\\" to the world. ';

function request(bytes: number, stream: boolean): Buffer {
  const head = `{"model":"${MODEL}","max_tokens":1024,${stream ? '"stream":true,' : ''}"system":"You are a helpful assistant.","messages":[{"role":"user","content":"`;
  const tail = '"}],"temperature":0.2}';
  return Buffer.from(head + filler(bytes - head.length - tail.length) + tail);
}

function filler(length: number): string {
  return WORDS.repeat(Math.ceil(length / WORDS.length))
    .slice(0, length)
    .replace(/\\$/, '.');
}

const USAGE = '"usage":{"input_tokens":412,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":903}';

function body(bytes: number): Buffer {
  const head = `{"id":"msg_01ABC","type":"message","role":"assistant","model":"${MODEL}","content":[{"type":"text","text":"`;
  const tail = `"}],"stop_reason":"end_turn","stop_sequence":null,${USAGE}}`;
  return Buffer.from(head + filler(bytes - head.length - tail.length) + tail);
}

function event(name: string, data: string): string {
  return `event: ${name}\ndata: {"type":"${name}",${data}}\n\n`;
}

/** `count` network chunks: one event each, the opening and the closing ones together. */
function stream(count: number): Buffer[] {
  const start =
    event('message_start', `"message":{"id":"msg_01ABC","type":"message","role":"assistant","model":"${MODEL}","content":[],${USAGE}}`) +
    event('content_block_start', '"index":0,"content_block":{"type":"text","text":""}');
  const delta = event('content_block_delta', `"index":0,"delta":{"type":"text_delta","text":"${CHUNK_TEXT}"}`);
  const stop =
    event('content_block_stop', '"index":0') +
    event('message_delta', `"delta":{"stop_reason":"end_turn","stop_sequence":null},${USAGE}`) +
    'event: message_stop\ndata: {"type":"message_stop"}\n\n';
  return chunks(count, start, delta, stop);
}

export const TRAFFIC: readonly Traffic[] = [
  { id: 'small', label: '2 KB request, 4 KB answer', request: request(2048, false), answer: body(4096), count: 3000, warmUp: 50_000 },
  { id: 'large', label: '80 KB request, 4 KB answer', request: request(81_920, false), answer: body(4096), count: 1500, warmUp: 15_000 },
  { id: 'stream', label: '2 KB request, stream of 200 chunks', request: request(2048, true), answer: stream(200), count: 112, warmUp: 800 },
];

/** Dialects in which an engine of a mapped call answers, and that of the caller. */
const ENGINE_STREAMS = { claude: stream, 'openai-chat': chatStream, gemini: geminiStream } as const;
export type EngineDialect = keyof typeof ENGINE_STREAMS;

/** What an engine answers to a streamed Claude request of 2 KB: `gemini-400` is a Gemini stream of 400 chunks. */
function engineStream(id: string): Traffic | undefined {
  const [, dialect = '', count] = /^(.+)-(\d+)$/.exec(id) ?? [];
  if (!isEngineDialect(dialect)) return undefined;
  const answer = ENGINE_STREAMS[dialect](Number(count));
  return { id, label: `stream of ${count} ${dialect} chunks`, request: request(2048, true), answer, count: 96, warmUp: 400 };
}

function isEngineDialect(id: string): id is EngineDialect {
  return id in ENGINE_STREAMS;
}

/** Many callers with long conversations, served by a slow model. */
export const SLOW: Traffic = {
  id: 'slow',
  label: '80 KB request, one chunk a second for 15 s',
  request: request(81_920, true),
  answer: stream(16),
  pauseMs: 1000,
  count: 2000,
  warmUp: 0,
};

export function trafficOf(id = ''): Traffic {
  const found = [...TRAFFIC, SLOW].find((traffic) => traffic.id === id) ?? engineStream(id);
  if (found === undefined) throw new Error(`there is no traffic ${id}`);
  return found;
}

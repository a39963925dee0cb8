import { Agent, type Dispatcher, errors, request } from 'undici';
import { parseJson } from '../base/json.ts';
import { decodeSse, SseFrames } from '../base/sse.ts';
import type { Answer, Call } from './case.ts';

const SILENCE_MS = 120_000;

/** Where the calls go and what every one of them carries. */
export interface Line {
  /** The address that vendor paths are appended to. */
  readonly base: string;
  /** The address that the server's own paths are appended to. */
  readonly root: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly agent: Dispatcher;
}

export function openAgent(): Agent {
  return new Agent({ headersTimeout: SILENCE_MS, bodyTimeout: SILENCE_MS });
}

/** SDKs are given a URL with or without the version; vendor paths bring their own. Routes of the backplane lie before its prefixes. */
export function addresses(url: string): { base: string; root: string } {
  const base = url.replace(/(?<!\/)\/+$/, '').replace(/\/v1(?:beta)?$/, '');
  return { base, root: base.replace(/(?:\/k\/[^/]+)?(?:\/e\/[^/]+)?$/, '') };
}

/** One call. A connection that breaks leaves an answer of what had arrived; one that never opens throws. */
export async function exchange(line: Line, call: Call): Promise<Answer> {
  const response = await send(line, call);
  if (response === undefined) return { call, status: 0, headers: {}, text: '', json: undefined, events: [], complete: false };
  const { statusCode, headers, body } = response;
  const chunks: Buffer[] = [];
  let complete = true;
  try {
    for await (const chunk of body) chunks.push(Buffer.from(chunk));
  } catch {
    // A broken answer is judged by the case, like any other.
    complete = false;
  }
  const bytes = Buffer.concat(chunks);
  const flat = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value ?? '')]));
  const text = bytes.toString('utf8');
  const parsed = parseJson(text);
  return {
    call,
    status: statusCode,
    headers: flat,
    text,
    json: parsed.ok ? parsed.value : undefined,
    events: flat['content-type']?.startsWith('text/event-stream') ? eventsOf(bytes) : [],
    complete,
  };
}

/** Undefined when the connection closed without an answer. */
async function send(line: Line, call: Call): Promise<Dispatcher.ResponseData | undefined> {
  try {
    return await request(`${call.root ? line.root : line.base}${call.path}`, {
      method: call.method,
      dispatcher: line.agent,
      headers: { ...line.headers, ...(call.body === undefined ? {} : { 'content-type': 'application/json' }), ...call.headers },
      ...(call.body === undefined ? {} : { body: call.body }),
    });
  } catch (error) {
    if (error instanceof errors.SocketError) return undefined;
    throw error;
  }
}

function eventsOf(bytes: Buffer): Answer['events'] {
  const frames = new SseFrames();
  return [...frames.push(bytes), ...frames.flush()].map(decodeSse);
}

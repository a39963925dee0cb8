import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import {
  chunk,
  chunkedHead,
  lastChunk,
  type RecordedRequest,
  type RecordingUpstream,
  startUpstream,
  whole,
} from '../support/recording-upstream.ts';

/** Which dialect a request line belongs to. */
const PATHS: readonly (readonly [pattern: RegExp, dialect: string])[] = [
  [/\/v1\/messages/, 'claude'],
  [/\/v1\/chat\/completions/, 'openai-chat'],
  [/\/v1\/responses/, 'openai-responses'],
  [/:(?:stream)?[gG]enerateContent/, 'gemini'],
];

function fixture(dialect: string, name: string, file: string): Buffer {
  return readFileSync(fileURLToPath(new URL(`../../src/dialects/${dialect}/fixtures/${name}/${file}`, import.meta.url)));
}

function dialectOf({ line }: RecordedRequest): string {
  const found = PATHS.find(([pattern]) => pattern.test(line))?.[1];
  if (found === undefined) throw new Error(`no vendor has ${line}`);
  return found;
}

export function isStreamed({ line, body }: RecordedRequest): boolean {
  return line.includes(':streamGenerateContent') || /"stream":\s*true/.test(body.toString());
}

/** Plays the vendors' fixtures: the dialect by the path, plain or streamed by the request. */
export async function startVendors(): Promise<RecordingUpstream & { play(name: string): void }> {
  const upstream = await startUpstream();
  const play = (name: string): void =>
    upstream.answer((socket, request) => {
      const dialect = dialectOf(request);
      if (!isStreamed(request)) socket.write(whole(fixture(dialect, name, 'response.json'), { headers: HEADERS }));
      else {
        socket.write(chunkedHead(['content-type: text/event-stream', 'request-id: req_vendor']));
        const stream = fixture(dialect, name, 'stream.sse');
        // In two pieces, cut in the middle of an event.
        const middle = Math.floor(stream.length / 2) + 3;
        socket.write(chunk(stream.subarray(0, middle)));
        setImmediate(() => socket.write(Buffer.concat([chunk(stream.subarray(middle)), Buffer.from(lastChunk())])));
      }
    });
  return { ...upstream, play };
}

const HEADERS = ['content-type: application/json', 'request-id: req_vendor'];

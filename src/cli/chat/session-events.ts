import { createParser } from 'eventsource-parser';
import { request } from 'undici';
import { isJsonObject, type JsonObject, parseJsonObject } from '../../base/json.ts';
import { CliError } from '../failure.ts';

const RECONNECT_MS = 500;
const MOST_RECONNECTS = 20;

/** An event of a session, stored or in passing. */
export interface SessionEvent {
  readonly type: string;
  readonly data: JsonObject;
  /** As the server sent it: a stored event has an id, a number and a time. */
  readonly whole: JsonObject;
}

export interface SessionAt {
  readonly url: string;
  readonly token: string;
  readonly sessionId: string;
}

/** The events of a session from a place on; a connection that breaks is opened again after the last one seen. */
export async function* sessionEvents(at: SessionAt, sinceId: string | undefined, signal: AbortSignal): AsyncGenerator<SessionEvent> {
  let last = sinceId;
  for (let tries = 0; !signal.aborted; tries += 1) {
    try {
      for await (const { id, ...event } of connection(at, last, signal)) {
        tries = 0;
        last = id ?? last;
        yield event;
      }
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof CliError || tries >= MOST_RECONNECTS) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, RECONNECT_MS));
  }
}

async function* connection(
  { url, token, sessionId }: SessionAt,
  last: string | undefined,
  signal: AbortSignal,
): AsyncGenerator<SessionEvent & { readonly id?: string | undefined }> {
  const since = last === undefined ? '' : `?since_id=${encodeURIComponent(last)}`;
  const answer = await request(`${url}/v1/sessions/${sessionId}/events${since}`, {
    headers: { 'x-abp-key': token, accept: 'text/event-stream' },
    bodyTimeout: 0,
    signal,
  });
  if (answer.statusCode !== 200) {
    throw new CliError('no_server', `the server answered ${answer.statusCode} to the events of ${sessionId}`, {
      hint: 'abp agents list shows the agents; the session may be gone.',
    });
  }
  const heard: (SessionEvent & { readonly id?: string | undefined })[] = [];
  const parser = createParser({
    onEvent: ({ id, event: type = '', data: text }) => {
      const body = parseJsonObject(text) ?? {};
      const data = isJsonObject(body.data) ? body.data : body;
      heard.push({ id, type, data, whole: body.type === undefined ? { type, data } : body });
    },
  });
  const decoder = new TextDecoder();
  for await (const chunk of answer.body) {
    parser.feed(decoder.decode(chunk, { stream: true }));
    yield* heard.splice(0);
  }
}

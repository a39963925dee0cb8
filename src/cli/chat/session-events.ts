import { isJsonObject, type JsonObject, parseJsonObject } from '../../base/json.ts';
import { nodeFetch } from '../../base/node-fetch.ts';
import { followEvents } from '../../client/events.ts';
import { AbpError } from '../../contract/errors.ts';
import { CliError } from '../failure.ts';

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

/** The events of a session from a place on. */
export async function* sessionEvents(at: SessionAt, sinceId: string | undefined, signal: AbortSignal): AsyncGenerator<SessionEvent> {
  const { url, token, sessionId } = at;
  const path = `/v1/sessions/${sessionId}/events`;
  try {
    for await (const { event: type = '', data: text } of followEvents({ url, key: token, fetch: nodeFetch }, path, {
      after: sinceId,
      signal,
    })) {
      const body = parseJsonObject(text) ?? {};
      const data = isJsonObject(body.data) ? body.data : body;
      yield { type, data, whole: body.type === undefined ? { type, data } : body };
    }
  } catch (error) {
    if (!AbpError.is(error)) throw error;
    throw new CliError('no_server', `the events of ${sessionId} cannot be read: ${error.message}`, {
      hint: 'abp agents list shows the agents; the session may be gone.',
      cause: error,
    });
  }
}

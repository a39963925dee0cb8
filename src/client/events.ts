import { createParser } from 'eventsource-parser';
import { AbpError } from '../contract/errors.ts';
import type { Receipt } from '../contract/receipts/receipt.ts';
import { type Connection, rest, send } from './http.ts';

/** One server-sent event, as it came. */
export interface ServerEvent {
  readonly id: string | undefined;
  readonly event: string | undefined;
  readonly data: string;
}

export interface FollowOptions {
  /** The id of the event to go on after; without it from where the server begins. */
  readonly after?: string | undefined;
  readonly signal: AbortSignal;
  /**
   * Called when the connection broke (or, without an error, ended), with how often that has happened since the last event. What it
   * throws ends the reader; otherwise it goes on. By default an error that the server answers ends it, and so do too many breaks.
   */
  readonly onBreak?: (error: unknown, breaks: number) => void;
}

const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 10_000;
const MOST_BREAKS = 20;

/**
 * The one reader of event streams: runs, sessions and receipts, in the SDK and on the command line. A connection that breaks is opened
 * again after the last event that came, so that none is lost and none comes twice. Ends when the signal aborts or the caller leaves.
 */
export async function* followEvents(connection: Connection, path: string, options: FollowOptions): AsyncGenerator<ServerEvent> {
  const { signal, onBreak = giveUp } = options;
  let { after } = options;
  for (let breaks = 0; !signal.aborted; breaks += 1) {
    let failure: unknown;
    try {
      for await (const event of connectionEvents(connection, path, { after, signal })) {
        after = event.id ?? after;
        breaks = 0;
        yield event;
      }
    } catch (error) {
      failure = error;
    }
    if (isAborted(signal)) return;
    onBreak(failure, breaks);
    await rest(Math.min(FIRST_PAUSE_MS * 2 ** breaks, LONGEST_PAUSE_MS), signal);
  }
}

async function* connectionEvents(
  connection: Connection,
  path: string,
  { after, signal }: Pick<FollowOptions, 'after' | 'signal'>,
): AsyncGenerator<ServerEvent> {
  const headers = { accept: 'text/event-stream', ...(after === undefined ? {} : { 'last-event-id': after }) };
  const answer = await send(connection, path, { headers, signal });
  const heard: ServerEvent[] = [];
  const parser = createParser({ onEvent: ({ id, event, data }) => heard.push({ id, event, data }) });
  const decoder = new TextDecoder();
  for await (const chunk of answer.body ?? []) {
    parser.feed(decoder.decode(chunk, { stream: true }));
    yield* heard.splice(0);
  }
}

function giveUp(error: unknown, breaks: number): void {
  if (AbpError.is(error)) throw error;
  if (breaks >= MOST_BREAKS) throw error ?? new AbpError('engine_failed', 'the events broke off again and again');
}

/** Asked anew, because the signal may have changed while something was awaited. */
function isAborted(signal: AbortSignal): boolean {
  return signal.aborted;
}

export interface StreamOptions {
  readonly onReceipt: (receipt: Receipt) => void;
  /** The connection broke, or a receipt's callback threw; the stream goes on. */
  readonly onError: (error: unknown) => void;
  /** A sequence or a run id to go on after; from now on unless told. */
  readonly after?: string | undefined;
  readonly signal: AbortSignal;
}

/** Reads sealed receipts until the signal aborts, whatever happens to the server meanwhile. */
export async function followReceipts(connection: Connection, { after, signal, onReceipt, onError }: StreamOptions): Promise<void> {
  const onBreak = (error: unknown): void => {
    if (error !== undefined) onError(error);
  };
  for await (const { event, data } of followEvents(connection, '/v1/receipts/stream', { after, signal, onBreak })) {
    if (event !== 'receipt') continue;
    try {
      onReceipt((await new Response(data).json()) as Receipt); // the server's own document
    } catch (error) {
      onError(error);
    }
  }
}

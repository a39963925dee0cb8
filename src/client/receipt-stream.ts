import { createParser } from 'eventsource-parser';
import type { Receipt } from '../contract/receipts/receipt.ts';
import { type Connection, get, rest } from './http.ts';

export interface StreamOptions {
  readonly onReceipt: (receipt: Receipt) => void;
  /** The connection broke, or a receipt's callback threw; the stream goes on. */
  readonly onError: (error: unknown) => void;
  /** A sequence or a run id to go on after; from now on unless told. */
  readonly after?: string | undefined;
  readonly signal: AbortSignal;
}

const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 10_000;

/** Reads sealed receipts until the signal aborts. After a break it goes on where it was, so that none is lost and none comes twice. */
export async function followReceipts(connection: Connection, { after, ...options }: StreamOptions): Promise<void> {
  const { signal, onError } = options;
  const place: Place = { after };
  let pause = FIRST_PAUSE_MS;
  while (!signal.aborted) {
    try {
      const answer = await get(connection, '/v1/receipts/stream', { signal, headers: lastEventId(place) });
      pause = FIRST_PAUSE_MS;
      await read(answer, place, options);
    } catch (error) {
      if (isAborted(signal)) return;
      onError(error);
    }
    await rest(pause, signal);
    pause = Math.min(pause * 2, LONGEST_PAUSE_MS);
  }
}

/** The event after which the stream goes on. */
interface Place {
  after: string | undefined;
}

/** Asked anew, because the signal may have changed while something was awaited. */
function isAborted(signal: AbortSignal): boolean {
  return signal.aborted;
}

function lastEventId({ after }: Place): Record<string, string> {
  return { accept: 'text/event-stream', ...(after === undefined ? {} : { 'last-event-id': after }) };
}

async function read(answer: Response, place: Place, { onReceipt, onError }: Omit<StreamOptions, 'after'>): Promise<void> {
  const received: string[] = [];
  const parser = createParser({
    onEvent: ({ id, event, data }) => {
      place.after = id ?? place.after;
      if (event === 'receipt') received.push(data);
    },
  });
  const decoder = new TextDecoder();
  for await (const chunk of answer.body ?? []) {
    parser.feed(decoder.decode(chunk, { stream: true }));
    for (const data of received.splice(0)) await deliver(data, onReceipt, onError);
  }
}

async function deliver(data: string, onReceipt: StreamOptions['onReceipt'], onError: StreamOptions['onError']): Promise<void> {
  try {
    onReceipt((await new Response(data).json()) as Receipt); // the server's own document
  } catch (error) {
    onError(error);
  }
}

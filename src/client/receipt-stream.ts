import type { Receipt } from '../contract/receipts/receipt.ts';
import { followEvents } from './events.ts';
import type { Connection } from './http.ts';

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

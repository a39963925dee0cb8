import { queryOptions } from '@tanstack/react-query';
import { get } from './client.ts';
import type { Receipt, ReceiptStub, RecordingLine, Report } from './types.ts';

/** The receipt of a run; while the run goes on, what is known of it. */
export const receiptQuery = (run: string) =>
  queryOptions({
    queryKey: ['receipt', run],
    queryFn: ({ signal }) => get<Receipt>(`/v1/receipts/${run}`, signal),
    // A sealed receipt never changes.
    staleTime: ({ state }) => (state.data?.seal ? Number.POSITIVE_INFINITY : 500),
    refetchInterval: ({ state }) => (state.data !== undefined && !state.data.seal ? 1000 : false),
  });

/** A call of a turn is a call like any other; the turn itself has no mode. */
export function isCall({ plane, mode }: { readonly plane: string; readonly mode?: string | null }): boolean {
  return plane === 'gateway' || (plane === 'agent' && (mode ?? null) !== null);
}

/** A run that goes on: what it used, cost and said is not known yet. */
export function isUnderWay({ completed_at }: { readonly completed_at?: string | null }): boolean {
  return (completed_at ?? null) === null;
}

/** What is left of a receipt whose content was removed; undefined of every other one. The server answers with either. */
export function stubOf(receipt: Receipt | ReceiptStub): ReceiptStub | undefined {
  return 'removed_at' in receipt ? receipt : undefined;
}

/** The bodies of a run. Asked for only where the receipt says that they were kept. */
export const recordingQuery = (receipt: Receipt | undefined) =>
  queryOptions({
    queryKey: ['recording', receipt?.run_id],
    queryFn: () => get<RecordingLine>(`/v1/recordings/${receipt?.run_id}`),
    enabled: receipt?.recording === 'full' && receipt.seal !== null && isCall(receipt) && receipt.request !== null,
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });

/** A run as people read it: its session, its calls of tools, and the files it changed with their lines. */
export const reportQuery = (run: string) =>
  queryOptions({
    queryKey: ['report', run],
    queryFn: () => get<Report>(`/v1/receipts/${run}/report`),
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });

type Body = { readonly text: string } | { readonly base64: string };

export function textOfBody(body: Body): string {
  return 'text' in body ? body.text : new TextDecoder().decode(Uint8Array.from(atob(body.base64), (char) => char.charCodeAt(0)));
}

/** When each piece of an answer came, in milliseconds after the request; nothing where no pieces were kept. */
export function ticksOf(recording: RecordingLine | undefined): readonly number[] {
  return recording?.response?.chunks.map(({ at_us }) => at_us / 1000) ?? [];
}

export function textOfAnswer(answer: RecordingLine['response']): string {
  return answer === null ? '' : answer.chunks.map(textOfBody).join('');
}

import { queryOptions } from '@tanstack/react-query';
import { ApiError, get, parsed, send } from '../../api/client.ts';
import type { Explained, RecordingLine } from '../../api/types.ts';

export interface Asked {
  readonly from: string;
  readonly to: string;
  readonly compatibility: string;
  readonly emulate: readonly string[];
  readonly request: unknown;
}

export const explainQuery = (asked: Asked | null) =>
  queryOptions({
    queryKey: ['explain', asked],
    queryFn: () => send<Explained>('POST', '/v1/explain', asked),
    enabled: asked !== null,
    staleTime: 60_000,
    retry: false,
    placeholderData: (before) => before,
  });

export const loadQuery = (run: string | undefined) =>
  queryOptions({
    queryKey: ['recording', run],
    queryFn: () => get<RecordingLine>(`/v1/recordings/${run}`),
    enabled: run !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });

export interface Sent {
  readonly runId: string | null;
  readonly text: string;
  readonly done: boolean;
  readonly error: unknown;
}

/** Sends a request on the vendor's own path and hands on what arrives, piece by piece. */
export async function sendRequest(
  { path, body, asked }: { readonly path: string; readonly body: string; readonly asked: Asked },
  onPiece: (sent: Sent) => void,
  signal: AbortSignal,
): Promise<void> {
  let runId: string | null = null;
  let text = '';
  try {
    const answer = await fetch(path, {
      method: 'POST',
      signal,
      headers: {
        'content-type': 'application/json',
        'anthropic-version': '2023-06-01',
        'x-abp-compatibility': asked.compatibility,
        ...(asked.emulate.length === 0 ? {} : { 'x-abp-emulate': asked.emulate.join(', ') }),
      },
      body,
    });
    runId = answer.headers.get('x-abp-run-id');
    if (!answer.ok) throw new ApiError(answer.status, parsed(await answer.text()), runId);
    const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
    for (let piece = await reader?.read(); piece !== undefined && !piece.done; piece = await reader?.read()) {
      text += piece.value;
      onPiece({ runId, text, done: false, error: null });
    }
    onPiece({ runId, text, done: true, error: null });
  } catch (error) {
    onPiece({ runId, text, done: true, error: signal.aborted ? new Error('Stopped.') : error });
  }
}

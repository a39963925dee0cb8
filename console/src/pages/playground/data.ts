import { queryOptions } from '@tanstack/react-query';
import type { z } from 'zod';
import type { ExplainResponse } from '../../../../src/gateway/api/explain.ts';
import type { ModelCatalogue } from '../../../../src/gateway/api/model-catalogue.ts';
import type { RecordingList } from '../../../../src/gateway/api/recordings.ts';
import { ApiError, get, send, withQuery } from '../../api/client.ts';
import type { Explained, RecordingLine } from '../../api/types.ts';
import { parsed } from '../../base/parsed.ts';
import { type Target, withModel } from './models.ts';

export interface Asked {
  readonly from: string;
  readonly to: string;
  readonly compatibility: string;
  readonly emulate: readonly string[];
  readonly request: unknown;
  /** Where the address says it and not the body. */
  readonly model?: string;
  readonly stream?: boolean;
}

const EXPLAINING = {
  staleTime: 60_000,
  retry: false,
  // The old verdict stays until the new one is there.
  placeholderData: <T>(before: T): T => before,
} as const;

export const explainQuery = (asked: Asked | null) =>
  queryOptions({
    queryKey: ['explain', asked],
    queryFn: ({ signal }) => send<Explained>('POST', '/v1/explain', asked, signal),
    enabled: asked !== null,
    ...EXPLAINING,
  });

type Several = Extract<z.infer<typeof ExplainResponse>, { results: unknown }>;

/** The same request on many engines, one question for those that get the same model. */
export const elsewhereQuery = (asked: Asked | null, targets: readonly Target[]) =>
  queryOptions({
    queryKey: ['explain', asked, targets],
    queryFn: async ({ signal }) => {
      if (asked === null) return new Map<string, Explained>();
      const groups = Map.groupBy(targets, ({ model }) => model);
      const found = [...groups].map(async ([model, group]) => {
        const to = group.map((target) => target.to);
        const { results } = await send<Several>('POST', '/v1/explain', { ...withModel(asked, model), to }, signal);
        return to.flatMap((engine, at): [string, Explained][] => (results[at] === undefined ? [] : [[engine, results[at]]]));
      });
      return new Map((await Promise.all(found)).flat());
    },
    enabled: asked !== null && targets.length > 0,
    ...EXPLAINING,
  });

export const loadQuery = (run: string | undefined) =>
  queryOptions({
    queryKey: ['recording', run],
    queryFn: () => get<RecordingLine>(`/v1/recordings/${run}`),
    enabled: run !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });

type Recordings = z.infer<typeof RecordingList>;

export const recordingsQuery = queryOptions({
  queryKey: ['recordings'],
  queryFn: () => get<Recordings>('/v1/recordings?limit=100'),
  staleTime: 2000,
  retry: false,
});

export const modelNamesQuery = (engine: string) =>
  queryOptions({
    queryKey: ['model-names', engine],
    queryFn: () => get<z.infer<typeof ModelCatalogue>>(withQuery('/v1/matrix/models', { engine })),
    staleTime: 3_600_000,
    retry: false,
  });

/** A request that was sent, and what has come back of it so far. */
export interface Sent {
  readonly id: number;
  readonly title: string;
  readonly dialect: string;
  /** The body, so that a conversation can go on from it. */
  readonly body: string;
  readonly startedAt: number;
  readonly runId: string | null;
  readonly text: string;
  readonly done: boolean;
  readonly error: unknown;
}

/** Everything that was sent in this visit, newest first. */
let history: readonly Sent[] = [];
const MOST_KEPT = 50;

export function sentBefore(): readonly Sent[] {
  return history;
}

function kept(sent: Sent): Sent {
  history = [sent, ...history.filter(({ id }) => id !== sent.id)].slice(0, MOST_KEPT);
  return sent;
}

export interface Sending {
  readonly path: string;
  readonly body: string;
  readonly asked: Asked;
}

function callHeaders({ compatibility, emulate }: Asked): Record<string, string> {
  return {
    'content-type': 'application/json',
    'x-abp-compatibility': compatibility,
    ...(emulate.length === 0 ? {} : { 'x-abp-emulate': emulate.join(', ') }),
  };
}

/** Sends a request on the vendor's own path and hands on what arrives, piece by piece. */
export async function sendRequest({ path, body, asked }: Sending, onPiece: (sent: Sent) => void, signal: AbortSignal): Promise<void> {
  const head = { id: performance.now(), title: `${asked.from} → ${asked.to}`, dialect: asked.from, body, startedAt: Date.now() };
  let runId: string | null = null;
  let text = '';
  const tell = (done: boolean, error: unknown): void => onPiece(kept({ ...head, runId, text, done, error }));
  tell(false, null);
  try {
    const headers = { ...callHeaders(asked), ...(asked.from === 'claude' ? { 'anthropic-version': '2023-06-01' } : {}) };
    const answer = await fetch(path, { method: 'POST', signal, headers, body });
    runId = answer.headers.get('x-abp-run-id');
    if (!answer.ok) throw new ApiError(answer.status, parsed(await answer.text()), runId);
    const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
    for (let piece = await reader?.read(); piece !== undefined && !piece.done; piece = await reader?.read()) {
      text += piece.value;
      tell(false, null);
    }
    tell(true, null);
  } catch (error) {
    tell(true, signal.aborted ? new Error('Stopped.') : error);
  }
}

/** The same call for a terminal. The body is a document of its own, so that nothing in it needs quoting. */
export function curlOf({ path, body, asked }: Sending): string {
  const headers = Object.entries(callHeaders(asked)).map(([name, value]) => `  -H '${name}: ${value}' \\\n`);
  return `curl -N '${location.origin}${path}' \\\n${headers.join('')}  --data-binary @- <<'JSON'\n${body}\nJSON\n`;
}

import { followEvents } from './events.ts';
import type { Connection } from './http.ts';

/** Which runs are followed. */
export interface RunLineFilter {
  readonly plane?: 'gateway' | 'run' | 'agent';
  readonly engine?: string;
  readonly model?: string;
  readonly status?: string;
  /** The id of a key, or its name. */
  readonly key?: string;
  readonly tag?: string;
  readonly agent?: string;
  /** Calls of this run. */
  readonly parent?: string;
}

/** A run in one line: what it is, what it has used so far and what that cost. */
export interface RunLine {
  /** It has begun, gone on or ended. */
  readonly event: 'started' | 'progress' | 'ended';
  /** To go on after this line (`after`); lines of runs under way have none. */
  readonly id?: string;
  readonly runId: string;
  readonly parentRunId: string | null;
  readonly plane: string;
  readonly status: string;
  readonly reason: string | null;
  readonly task: string;
  readonly engine: string | null;
  readonly agent: string | null;
  readonly model: string | null;
  readonly upstreamModel: string | null;
  readonly keyId: string | null;
  readonly keyName: string | null;
  readonly tags: readonly string[];
  readonly startedAt: string;
  readonly completedAt: string | null;
  readonly tokens: { readonly in: number; readonly out: number; readonly cacheRead: number; readonly thinking: number } | null;
  /** Null: the model has no price. */
  readonly costNanoUsd: number | null;
  readonly firstByteMs: number | null;
  readonly totalMs: number | null;
  readonly error: { readonly code: string; readonly message: string } | null;
}

export interface RunLineOptions extends RunLineFilter {
  readonly after?: string;
  readonly signal?: AbortSignal;
}

const EVENTS: Readonly<Record<string, RunLine['event']>> = {
  'run.started': 'started',
  'run.progress': 'progress',
  'run.ended': 'ended',
};

/** Lines of runs as they begin, go on and end, until the caller leaves. A connection that breaks goes on after the last line. */
export async function* followRuns(connection: Connection, { after, signal, ...filter }: RunLineOptions): AsyncGenerator<RunLine> {
  const left = new AbortController();
  const ended = signal === undefined ? left.signal : AbortSignal.any([signal, left.signal]);
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(filter)) if (value !== undefined) query.set(name, value);
  try {
    for await (const { id, event = '', data } of followEvents(connection, `/v1/runs/stream?${query}`, { after, signal: ended })) {
      const kind = EVENTS[event];
      if (kind === undefined) continue;
      const row = (await new Response(data).json()) as object; // the server's own document
      yield { event: kind, ...(id === undefined ? {} : { id }), ...(camelled(row) as Omit<RunLine, 'event' | 'id'>) }; // its members by our names
    }
  } finally {
    left.abort();
  }
}

function camelled(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(camelled);
  if (typeof value !== 'object' || value === null) return value;
  const name = (key: string): string => key.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [name(key), camelled(one)]));
}

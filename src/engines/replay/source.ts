import type { Chunk } from '../../store/recordings/recording-line.ts';

/** A request's body as it came, and the headers that say how it is encoded. */
export interface RequestBytes<Bytes = Buffer> {
  readonly bytes: Bytes;
  readonly headers: readonly string[];
}

/** A request for which a recorded answer is looked for. */
export interface Ask {
  readonly dialect: string;
  readonly method: string;
  /** Path and query without credentials. */
  readonly path: string;
  /** The path in the engine's address, which stands before the paths that its callers write. */
  readonly base?: string;
  readonly body: RequestBytes;
  readonly sha256: string;
  /** Whose recordings may answer; null for those made without a key. */
  readonly keyId: string | null;
}

/** An answer to be played. */
export interface Playable {
  readonly status: number;
  readonly headers: readonly string[];
  readonly trailers: readonly string[];
  readonly headUs: number;
  readonly chunks: readonly Chunk[];
}

/** A recorded exchange in one dialect: that of the caller, or that of the engine. */
export interface Candidate {
  readonly runId: string;
  readonly startedAt: number;
  readonly method: string;
  readonly path: string;
  /** Why it cannot be played, if it cannot. */
  readonly obstacle: string | undefined;
  /** Undefined when it is gone. */
  request(): Promise<RequestBytes | undefined>;
  /** Undefined when it is gone. */
  play(): Promise<Playable | undefined>;
}

/** Whether a recording was made at the address of the call, as its caller or its engine wrote it. */
export function sameAddress({ method, path }: Pick<Candidate, 'method' | 'path'>, ask: Ask): boolean {
  return method === ask.method && (path === ask.path || `${ask.base ?? ''}${path}` === ask.path);
}

/** Where recordings come from. */
export interface Source {
  /** Those with the very same body, newest first. */
  exact(ask: Ask): Promise<readonly Candidate[]>;
  /** The newest in the dialect. */
  recent(ask: Ask, limit: number): Promise<readonly Candidate[]>;
  /** Waits for what was recorded a moment ago. */
  refresh?(): Promise<void>;
  /** Its name inside a sentence: "the recordings of this home". */
  readonly name: string;
}

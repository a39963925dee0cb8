import type { Json } from '../base/json.ts';
import type { SseEvent } from '../base/sse.ts';
import type { Mode } from '../contract/support.ts';

/** Groups of cases in the tables. */
export const CATEGORIES = ['parity', 'stream', 'mapped', 'receipt', 'errors'] as const;
export type Category = (typeof CATEGORIES)[number];

/** One HTTP call of a case. */
export interface Call {
  readonly method: 'GET' | 'POST';
  /** Below the base URL, or below the root of the server for its own routes. */
  readonly path: string;
  readonly root?: true;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** The answer that came back. */
export interface Answer {
  readonly call: Call;
  /** 0 when the connection closed without an answer. */
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  /** The body as JSON, when it is. */
  readonly json: Json | undefined;
  /** The body as server-sent events, when its content type says so. */
  readonly events: readonly SseEvent[];
  /** False when the connection broke before the answer was whole. */
  readonly complete: boolean;
}

/** The gateway that is tried, as its first answer describes it. */
export interface Target {
  readonly model: string;
  /** It names a run of the backplane in its answers. */
  readonly ours: boolean;
  /** The rest is known of a backplane only: from the receipt of the first call. */
  readonly engine?: string;
  readonly mode?: Mode;
  /** Equal requests give equal answers. */
  readonly deterministic: boolean;
}

/** Something that not every gateway has; a case that needs it is skipped elsewhere, with the reason. */
export type Need = 'ours' | 'deterministic' | 'sim' | 'mapped';

/** Nothing wrong, what is wrong, or why it cannot be told. */
export type Finding = readonly string[] | { readonly skip: string };

/** The next call, from the answers so far; undefined when they leave nothing to go on with. */
export type Step = (answers: readonly Answer[], target: Target) => Call | undefined;

/** One thing that a gateway must get right. */
export interface Case {
  /** Unique inside its dialect. */
  readonly id: string;
  readonly category: Category;
  readonly title: string;
  readonly needs: readonly Need[];
  /** A reason not to ask at all, where the dialect has no form for it. */
  readonly skip?: string;
  readonly steps: readonly Step[];
  check(answers: readonly Answer[], target: Target): Finding;
}

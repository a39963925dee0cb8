import type { Json, JsonObject } from '../base/json.ts';
import type { SseEvent } from '../base/sse.ts';
import type { Call } from './case.ts';

/** A tool call in an answer; `id` is empty where the dialect gives none. */
export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly input: Json;
}

interface Tokens {
  readonly input: number;
  readonly output: number;
}

/** The content of an answer, whatever its dialect, and the places where it is not well formed. */
export interface Reading {
  readonly text: string;
  readonly calls: readonly ToolCall[];
  /** The vendor's own word. */
  readonly finish: string;
  readonly tokens: Tokens;
  readonly problems: readonly string[];
}

/** The answer that a stream adds up to, in the shape of a plain one, and what is wrong with the stream. */
export interface Folded {
  readonly body: JsonObject;
  /** How many pieces of text or arguments arrived. */
  readonly pieces: number;
  readonly problems: readonly string[];
}

/** A turn of a conversation. An answer goes back in the vendor's own form, as its SDK would send it. */
export type Turn =
  | { readonly kind: 'ask'; readonly text: string }
  | { readonly kind: 'answer'; readonly body: JsonObject }
  | { readonly kind: 'results'; readonly results: readonly { readonly call: ToolCall; readonly text: string }[] };

export interface Ask {
  readonly model: string;
  readonly turns: readonly Turn[];
  readonly stream?: boolean;
  readonly tools?: boolean;
  readonly maxTokens?: number;
  readonly stop?: readonly string[];
  /** Members that the vendor's API does not have. */
  readonly extra?: JsonObject;
}

/** Ways an answer ends. */
export type Ending = 'stop' | 'length' | 'tool-calls' | 'stop-sequence';

/** How one dialect is spoken by a caller: written from the vendor's documentation, apart from the translator that it tests. */
export interface Voice {
  readonly id: string;
  /** The vendor's words for each ending; engines of other dialects may not tell a stop sequence from a stop. */
  readonly endings: Readonly<Record<Ending, readonly string[]>>;
  /** The vendor's status for an engine that has too much to do. */
  readonly overloaded: number;
  /** Features that the dialect has no form for, with the reason. */
  readonly lacks: { readonly stop?: string };
  credentials(key: string): Readonly<Record<string, string>>;
  ask(ask: Ask): Call;
  /** A call to the same path with any body. */
  raw(model: string, body: string): Call;
  /** A request without the member that holds the conversation. */
  incomplete(model: string): JsonObject;
  read(body: JsonObject): Reading;
  fold(events: readonly SseEvent[]): Folded;
  /** Where an error's body is not the vendor's shape. */
  errorProblems(body: Json | undefined, status: number): readonly string[];
}

/** The one tool of the cases. */
export const LOOKUP = {
  name: 'lookup',
  description: 'Returns the value of a key.',
  schema: { type: 'object', properties: { key: { type: 'string', description: 'The key.' } }, required: ['key'] },
} as const;

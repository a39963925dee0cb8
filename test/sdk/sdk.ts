import type { JsonObject } from '../../src/base/json.ts';

/** What a test asks of a model. */
export interface Ask {
  readonly prompt: string;
  readonly tools?: boolean;
  /** The answer must be JSON of `SCHEMA`. */
  readonly structured?: boolean;
}

/** An answer in words that all SDKs share; `whole` is the SDK's own message without what differs from run to run. */
export interface Said {
  readonly text: string;
  readonly calls: readonly { readonly name: string; readonly input: unknown }[];
  readonly whole: unknown;
}

/** How an SDK says a failure: its class and its status. */
export interface Failure {
  readonly is: (error: unknown) => boolean;
  readonly status: number;
}

/** An official SDK as a client of the gateway. */
export interface Sdk {
  readonly id: string;
  readonly dialect: string;
  plain(base: string, ask: Ask): Promise<Said>;
  streamed(base: string, ask: Ask): Promise<Said>;
  /** Runs the tools of an answer until there is none; the texts of all answers and the number of turns. */
  loop(base: string, prompt: string): Promise<{ readonly text: string; readonly inputs: readonly unknown[]; readonly turns: number }>;
  readonly failures: Readonly<Record<'limited' | 'broken' | 'overloaded', Failure>>;
}

export const MODEL = 'sim-1';
export const SCHEMA: JsonObject & { type: 'object' } = {
  type: 'object',
  properties: { city: { type: 'string' }, degrees: { type: 'integer' } },
  required: ['city', 'degrees'],
  additionalProperties: false,
};
export const TOOL = {
  name: 'search',
  description: 'Searches.',
  schema: { type: 'object', properties: { query: { type: 'string' } }, required: ['query'], additionalProperties: false } as const,
};

/** What the tool of the tests returns. */
export function search(input: unknown): string {
  return `found ${JSON.stringify(input)}`;
}

export const MOST_TURNS = 6;

import { sha256 } from '../base/canonical-json.ts';
import type { Json, JsonObject } from '../base/json.ts';
import { AbpError } from '../contract/errors.ts';
import { countRequest } from '../ir/token-estimate.ts';
import type { AnswerChange } from './answer-filter.ts';
import { type Mapping, type MappingInput, map } from './mapping.ts';
import { readRequest } from './request-text.ts';

/** A request as its text, and where it should go. */
export interface PrepareInput extends Omit<MappingInput, 'body'> {
  /** How many values the scan has found in the text. */
  readonly values?: number;
}

/** Facts about the request that its call and receipt need after the translation. */
export interface Asked {
  readonly model: string;
  readonly stream: boolean;
  readonly includeUsage: boolean;
  /** Names of the tools it offers. */
  readonly tools: readonly string[];
  /** Some of them are the engine's own, with which it may take so long that it pauses. */
  readonly hosted?: true;
  /** Our estimate of what the model would read, where a count was asked for. */
  readonly inputTokens?: number;
  /** Members of the request that the caller's dialect repeats in its answer. */
  readonly echo?: JsonObject;
}

/** The bytes for the engine, and where on it they go. */
export interface Sendable {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  readonly sha256: string;
}

/** A mapped request made ready: bytes for the engine, the account for the receipt, and the little that its answer needs. Plain data. */
export interface Prepared extends Pick<Mapping, 'negotiation' | 'emulations' | 'fidelity'> {
  readonly asked?: Asked;
  readonly upstream?: Sendable;
  readonly changes: readonly AnswerChange[];
  /** Why nothing may be sent. */
  readonly error?: AbpError;
}

/** A request that nothing else is known of than why it is refused. */
export function refusedWith(error: AbpError): Prepared {
  return { negotiation: null, emulations: [], fidelity: [], changes: [], error };
}

/** Reads, checks, translates and writes a request: everything that takes longer the larger it is. */
export function prepare(text: Buffer, input: PrepareInput): Prepared {
  let body: Json;
  try {
    body = readRequest(text, input.values);
  } catch (error) {
    if (AbpError.is(error)) return refusedWith(error);
    throw error;
  }
  const { asked, upstream, error, ...account } = map({ ...input, body });
  return {
    ...account,
    ...(asked === undefined ? {} : { asked: { ...askedOf(asked, input.operation === 'count-tokens'), ...echoOf(body, input) } }),
    ...(upstream === undefined ? {} : { upstream: sendable(upstream) }),
    ...(error === undefined ? {} : { error }),
  };
}

function echoOf(body: Json, { source }: PrepareInput): { echo?: JsonObject } {
  const echo = source.echoOf?.(body);
  return echo === undefined ? {} : { echo };
}

function askedOf(request: NonNullable<Mapping['asked']>, counting: boolean): Asked {
  const { model, stream, includeUsage = false, tools } = request;
  const count = counting ? { inputTokens: countRequest(request) } : {};
  const hosted = tools.some(({ kind }) => kind === 'hosted') ? { hosted: true as const } : {};
  return { model, stream, includeUsage, tools: tools.map(({ name }) => name), ...hosted, ...count };
}

function sendable({ path, headers, body }: NonNullable<Mapping['upstream']>): Sendable {
  const bytes = Buffer.from(JSON.stringify(body), 'utf8');
  return { path, headers, body: bytes, sha256: sha256(bytes) };
}

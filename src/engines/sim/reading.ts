import { sha256 } from '../../base/canonical-json.ts';
import { type Json, parseJson } from '../../base/json.ts';
import { AbpError } from '../../contract/errors.ts';
import { matchPath, type PathMatch } from '../../dialects/paths.ts';
import { Ledger } from '../../ir/ledger.ts';
import type { IrRequest } from '../../ir/request.ts';
import type { IrError } from '../../ir/response.ts';
import { countRequest } from '../../ir/token-estimate.ts';
import { type SimPlan, think } from './brain.ts';
import { type Prefix, prefixesOf } from './prompt-cache.ts';

/** A request as it arrived. */
export interface Arrived {
  readonly method: string;
  /** Without its query. */
  readonly path: string;
  readonly dialect: string | undefined;
  readonly body: Buffer;
  /** The body, where it was read before. */
  readonly json?: Json | undefined;
  /** Whether the beginnings of the prompt are wanted, for a cache. */
  readonly prefixes?: true | undefined;
}

/** The sim's reading of a request, as plain data: a request that takes long is read on another thread. */
export type Reading =
  | { readonly kind: 'unknown' }
  | { readonly kind: 'refused'; readonly error: IrError }
  | { readonly kind: 'count'; readonly tokens: number }
  | {
      readonly kind: 'plan';
      readonly plan: SimPlan;
      /** The request stands in for the run: its ids repeat only with it. */
      readonly runHex: string;
      readonly model: string;
      readonly includeUsage: boolean;
      readonly stream: boolean;
      /** Members of the request that the vendor's answers repeat. As JSON, because exact numbers do not survive the way between threads. */
      readonly echo?: string;
      readonly prefixes?: readonly Prefix[];
    };

export function readingOf(arrived: Arrived): Reading {
  const match = matchOf(arrived);
  if (match === undefined || match.path.operation === 'embeddings') return { kind: 'unknown' };
  const parsed = arrived.json === undefined ? parseJson(arrived.body.toString('utf8')) : ({ ok: true, value: arrived.json } as const);
  if (!parsed.ok) return { kind: 'refused', error: invalid(`the request body is not valid JSON: ${parsed.message}`) };
  const lifted = liftRequest(match, parsed.value);
  if ('kind' in lifted) return { kind: 'refused', error: lifted };
  if (match.path.operation === 'count-tokens') return { kind: 'count', tokens: countRequest(lifted) };
  const { model, stream, includeUsage = false } = lifted;
  const plan = think(lifted, match.dialect.id);
  const prefixes = arrived.prefixes === undefined ? {} : { prefixes: prefixesOf(lifted) };
  return {
    kind: 'plan',
    plan,
    runHex: sha256(arrived.body).slice(0, 32),
    model,
    stream,
    includeUsage,
    ...prefixes,
    ...repeated(match, parsed.value),
  };
}

export function matchOf({ method, path, dialect }: Pick<Arrived, 'method' | 'path' | 'dialect'>): PathMatch | undefined {
  return matchPath(method, path, dialect === undefined ? [] : [dialect]);
}

function repeated({ dialect }: PathMatch, body: Json): { echo?: string } {
  const echo = dialect.echoOf?.(body);
  return echo === undefined ? {} : { echo: JSON.stringify(echo) };
}

/** The request in neutral words, or the error a vendor would answer. */
function liftRequest(match: PathMatch, body: Json): IrRequest | IrError {
  try {
    return liftBody(match, body, false);
  } catch (error) {
    if (!AbpError.is(error)) throw error;
    return refusal(match, body);
  }
}

function liftBody(match: PathMatch, body: Json, kept: boolean): IrRequest {
  return match.dialect.liftRequest(body, {
    ledger: new Ledger({ kept }),
    ...(match.model === undefined ? {} : { model: match.model }),
    ...(match.path.stream === undefined ? {} : { stream: match.path.stream }),
  });
}

/** Only a refusal names places, so only a refused body is read with their names. */
function refusal(match: PathMatch, body: Json): IrRequest | IrError {
  try {
    return liftBody(match, body, true);
  } catch (error) {
    if (AbpError.is(error)) return invalid(error.message);
    throw error;
  }
}

function invalid(message: string): IrError {
  return { kind: 'invalid-request', status: 400, message };
}

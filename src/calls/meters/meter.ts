import type { JsonObject } from '../../base/json.ts';
import type { Observed } from '../../dialects/dialect.ts';
import { tokensIn } from '../../ir/token-estimate.ts';
import { type IrUsage, NO_USAGE, type UnitUsage } from '../../ir/usage.ts';
import { uncounted } from './counted-results.ts';
import type { ReadRow } from './rows.ts';

/** What is known of a request whose answer has come. */
export interface Asked {
  readonly path: string;
  /** Members of its body, as far as somebody wants them: of a form its plain fields. */
  readonly fields: JsonObject;
  /** Bytes of its body. */
  readonly bytes: number;
}

/** An answer, besides what was read of it. */
export interface Answered {
  readonly contentType: string;
  readonly bytes: number;
}

/** A path that no dialect describes and that costs something: who reads its answers, and what its requests tell besides. */
export interface Meter {
  readonly method: 'GET' | 'POST';
  readonly path: RegExp;
  /** Engines that speak one of these dialects have the path. */
  readonly dialects: readonly string[];
  /** Who reads the answer, by id: it may happen on another thread. Absent where it tells nothing, such as sound. */
  readonly reader?: string;
  /** Whether the request is read: it names what its answer does not repeat. */
  readonly asks?: true;
  /** Reads one line of an answer that holds the results of a batch, each of which counts once. */
  readonly row?: ReadRow;
  /** The answer tells of work that another call has asked for. */
  readonly retold?: true;
  /** Puts together what was seen of the answer and what was asked. */
  readonly complete?: (seen: Observed, asked: Asked, answered: Answered) => Observed;
}

/** The observation with a usage and its model, where they are not told. */
export function withModel(seen: Observed, model: unknown): Observed {
  return seen.model !== undefined || typeof model !== 'string' || model === '' ? seen : { ...seen, model };
}

/** Work in the background counts with the answer that tells its end; what was answered at once counted then. */
export function onceOnly(seen: Observed): Observed {
  return seen.once === undefined ? uncounted(seen) : seen;
}

/** A usage of things that are no tokens. */
export function unitUsage(units: readonly UnitUsage[], estimated = false): IrUsage {
  return { ...NO_USAGE, ...(estimated ? { estimated } : {}), details: { units } };
}

/** A usage by our own count, because the engine tells none. */
export function estimatedUsage(inputTokens: number, outputTokens = 0): IrUsage {
  return { ...NO_USAGE, inputTokens, outputTokens, estimated: true };
}

/** Tokens of a text of which only the size is known. */
export const tokensOfBytes = tokensIn;

/** A number that a form or a JSON body has, also as text. */
export function numberIn(value: unknown, otherwise: number): number {
  const number = typeof value === 'string' && value !== '' ? Number.parseFloat(value) : value;
  return typeof number === 'number' && Number.isFinite(number) && number >= 0 ? number : otherwise;
}

export function textIn(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

import { hyphenate, uuidHex, uuidv7Hex } from '../base/ids.ts';

/** `run_` and the 32 hex digits of a UUIDv7. */
export type RunId = string & { readonly RunId: unique symbol };

/** The brand is put on here and nowhere else: `hex` is 32 lower-case hex digits. */
function branded(hex: string): RunId {
  return `run_${hex}` as RunId;
}

export function newRunId(): RunId {
  return branded(uuidv7Hex());
}

/** Accepts `run_…` and a UUID in either spelling. */
export function parseRunId(text: string): RunId | undefined {
  const hex = uuidHex(text.startsWith('run_') ? text.slice(4) : text.toLowerCase());
  return hex === undefined ? undefined : branded(hex);
}

/** The version of a UUID that begins with its time. */
const TIMED = '7';

/** When the id was made, in milliseconds since the epoch; undefined for one that does not say so. */
export function runTime(id: RunId): number | undefined {
  const hex = id.slice(4);
  return hex[12] === TIMED ? Number.parseInt(hex.slice(0, 12), 16) : undefined;
}

export function runUuid(id: RunId): string {
  return hyphenate(id.slice(4));
}

export function requestIdOf(id: RunId): string {
  return `req_${id.slice(4)}`;
}

import { hyphenate, uuidHex, uuidv7Hex } from '../base/ids.ts';

/** `run_` and the 32 hex digits of a UUIDv7. */
export type RunId = string & { readonly RunId: unique symbol };

/** The brand of a new id is put on here and nowhere else: `hex` is 32 lower-case hex digits. */
function branded(hex: string): RunId {
  return `run_${hex}` as RunId;
}

/** The id in a journal or a row, which only this program writes. */
export function writtenRunId(text: string): RunId {
  return text as RunId;
}

export function newRunId(): RunId {
  return branded(uuidv7Hex());
}

/** Accepts `run_…`, a UUID in either spelling, and a ULID, which is another spelling of 128 bits. */
export function parseRunId(text: string): RunId | undefined {
  const hex = uuidHex(text.startsWith('run_') ? text.slice(4) : text.toLowerCase()) ?? ulidHex(text);
  return hex === undefined ? undefined : branded(hex);
}

/** The version of a UUID that begins with its time. */
const TIMED = '7';

/**
 * The id that a caller gives its own run; undefined for one that does not begin with its time: runs are kept and listed in the order of
 * their ids.
 */
export function parseNamedRunId(text: string): RunId | undefined {
  const run = parseRunId(text);
  return run !== undefined && (runTime(run) !== undefined || ulidHex(text) !== undefined) ? run : undefined;
}

/** The alphabet of Crockford's base 32. */
const BASE_32 = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
/** 26 characters hold 130 bits; the first one is so small that the value has 128. */
const ULID = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/;

function ulidHex(text: string): string | undefined {
  const upper = text.toUpperCase();
  if (!ULID.test(upper)) return undefined;
  const value = [...upper].reduce((sum, character) => sum * 32n + BigInt(BASE_32.indexOf(character)), 0n);
  return value.toString(16).padStart(32, '0');
}

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

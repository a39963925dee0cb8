import { randomFillSync } from 'node:crypto';

const POOL_BYTES = 4096;
/** Random hex digits in stock: two calls into the platform serve five hundred ids. */
let pool = '';
let poolAt = 0;
let lastMs = 0;
let counter = 0;

function randomHex(digits: number): string {
  if (poolAt + digits > pool.length) {
    pool = randomFillSync(Buffer.allocUnsafe(POOL_BYTES)).toString('hex');
    poolAt = 0;
  }
  poolAt += digits;
  return pool.slice(poolAt - digits, poolAt);
}

/** The two bits that RFC 9562 sets in front of the random part. */
const VARIANT = ['8', '9', 'a', 'b'] as const;

/** A clock that is corrected steps back by less than this; one that was wrong is set right by more. */
const STEP_BACK_MS = 60_000;

/**
 * A UUIDv7 as 32 hex digits. Monotonic inside the process: ids of the same millisecond carry a 12-bit counter,
 * and a clock that steps back a little keeps the last millisecond, so a clustered key hardly ever goes backwards.
 * A clock that was far ahead is followed when it is set right: runs would otherwise be named after times to come.
 */
export function uuidv7Hex(now: number = Date.now()): string {
  if (now > lastMs || now < lastMs - STEP_BACK_MS) {
    lastMs = now;
    counter = Number.parseInt(randomHex(2), 16);
  } else {
    counter += 1;
    if (counter > 0xfff) {
      lastMs += 1;
      counter = 0;
    }
  }
  const time = lastMs.toString(16).padStart(12, '0');
  const sequence = (0x7000 | counter).toString(16);
  const random = randomHex(16);
  return `${time}${sequence}${VARIANT[random.charCodeAt(0) & 3]}${random.slice(1)}`;
}

/** 32 hex digits as the canonical hyphenated UUID. */
export function hyphenate(hex: string): string {
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

const UUID = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/;

/** The 32 hex digits of a UUID in either spelling, or undefined. */
export function uuidHex(text: string): string | undefined {
  return UUID.test(text) ? text.replaceAll('-', '') : undefined;
}

/** Random text for secrets: `bytes` of entropy, URL-safe. */
export function randomToken(bytes: number): string {
  return randomFillSync(Buffer.allocUnsafe(bytes)).toString('base64url');
}

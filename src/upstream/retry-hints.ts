/** No pause that an engine asks for is kept longer: after an hour it is asked again. */
const LONGEST_MS = 3_600_000;

/** The status of an answer that says that a limit was met. */
export const LIMITED = 429;

/** How vendors begin the names of headers about the limits that a call has met: OpenAI and its likes, and Claude. */
const LIMIT_PREFIXES = ['x-ratelimit-', 'anthropic-ratelimit-'];

/** One limit of a key, as far as the engine tells it. */
interface Limit {
  remaining?: number;
  reset?: number | undefined;
}

/**
 * Milliseconds until an engine that turned a call down wants to be asked again, by its own headers: `retry-after-ms`, `retry-after` (seconds or
 * a date), else, where a limit was met, the reset of the one that is used up. Undefined where it does not say: vendors tell the state of their
 * limits with every answer, and where they failed it says nothing of when they are well again.
 */
export function retryAfterMs(status: number, headers: readonly string[], now: number): number | undefined {
  const told: { ms?: number | undefined; seconds?: number | undefined } = {};
  const limits = new Map<string, Limit>();
  for (let at = 0; at < headers.length; at += 2) {
    const name = headers[at]?.toLowerCase() ?? '';
    const value = headers[at + 1] ?? '';
    if (name === 'retry-after-ms') told.ms = fromSeconds(value);
    else if (name === 'retry-after') told.seconds = fromSeconds(value) ?? untilDate(value, now);
    else if (status === LIMITED && name.includes('ratelimit')) noteLimit(limits, name, value, now);
  }
  if (told.ms !== undefined) return bounded(told.ms / 1000);
  return bounded(told.seconds ?? resetOf([...limits.values()]));
}

/** `x-ratelimit-reset-tokens`, `anthropic-ratelimit-input-tokens-remaining`: which limit it is stands before or behind what is told of it. */
function noteLimit(limits: Map<string, Limit>, name: string, value: string, now: number): void {
  const prefix = LIMIT_PREFIXES.find((one) => name.startsWith(one));
  if (prefix === undefined) return;
  const words = name.slice(prefix.length).split('-');
  const kind = words.filter((word) => word !== 'remaining' && word !== 'reset').join('-');
  const limit = limits.get(kind) ?? {};
  limits.set(kind, limit);
  if (words.includes('remaining')) limit.remaining = Number(value);
  else if (words.includes('reset')) limit.reset = durationOf(value) ?? fromSeconds(value) ?? untilDate(value, now);
}

/** The limits that are used up decide, the last of them; where none is, the call was too large for one of them: the first that is there again. */
function resetOf(limits: readonly Limit[]): number | undefined {
  const times = (all: typeof limits): number[] => all.flatMap(({ reset }) => (reset === undefined ? [] : [reset]));
  const usedUp = times(limits.filter(({ remaining }) => remaining === 0));
  if (usedUp.length > 0) return Math.max(...usedUp);
  const any = times(limits);
  return any.length === 0 ? undefined : Math.min(...any);
}

/** Plain numbers above this are times since 1970 in seconds, not pauses. */
const EPOCH_SECONDS = 1e9;

function fromSeconds(text: string): number | undefined {
  const seconds = text.trim() === '' ? Number.NaN : Number(text);
  return Number.isFinite(seconds) && seconds >= 0 && seconds < EPOCH_SECONDS ? seconds * 1000 : undefined;
}

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** No duration is written longer. */
const LONGEST_DURATION = 32;

/** `1s`, `6m0s`, `250ms`. */
function durationOf(text: string): number | undefined {
  let sum = 0;
  let rest = text.slice(0, LONGEST_DURATION);
  if (rest === '') return undefined;
  while (rest !== '') {
    const count = Number.parseFloat(rest);
    const unit = /^[\d.]{1,20}(ms|[smhd])/.exec(rest);
    const ms = UNIT_MS[unit?.[1] ?? ''];
    if (unit === null || ms === undefined || !(count >= 0)) return undefined;
    sum += count * ms;
    rest = rest.slice(unit[0].length);
  }
  return sum;
}

/** A date, or seconds since 1970. */
function untilDate(text: string, now: number): number | undefined {
  const seconds = Number(text);
  const at = seconds >= EPOCH_SECONDS ? (seconds > EPOCH_SECONDS * 1000 ? seconds : seconds * 1000) : Date.parse(text);
  return Number.isFinite(at) ? Math.max(0, at - now) : undefined;
}

function bounded(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : Math.min(ms, LONGEST_MS);
}

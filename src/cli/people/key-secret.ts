import { isJsonObject, type Json } from '../../base/json.ts';
import { CliError } from '../failure.ts';

const DAY_S = 86_400;
const UNITS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: DAY_S };

/** Seconds that a key lives, from days or `never`. */
export function lifeOf(text: string): number | null {
  if (text === 'never') return null;
  const days = Number(text);
  if (days > 0) return days * DAY_S;
  throw new CliError('usage', `'${text}' is not a number of days`, { hint: 'Give a number above 0, such as 30, or never.' });
}

/** Seconds from a text such as `24h`, `90m` or `7d`. */
export function spanOf(text: string): number {
  const [, number = '', unit = ''] = /^(\d+(?:\.\d+)?)([smhd])$/.exec(text) ?? [];
  if (number !== '') return Number(number) * (UNITS[unit] ?? 1);
  if (text === '0') return 0;
  throw new CliError('usage', `'${text}' is not a time span`, {
    hint: 'Give a number with s, m, h or d, such as 24h; 0 ends the old secret at once.',
  });
}

/** The secret of a new key on a line of its own, and what to know of it. */
export function secretLines(created: Json, told: (id: string) => string): string {
  const { id, secret } = isJsonObject(created) ? created : {};
  return `${typeof secret === 'string' ? secret : ''}\n${told(typeof id === 'string' ? id : 'the key')}`;
}

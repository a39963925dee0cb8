import { CliError } from './failure.ts';

const UNITS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 7 * 86_400_000 };

/** A time as people write it, in milliseconds since the epoch: `24h`, `7d`, `yesterday`, `today`, `now`, a date, or a date with a time. */
export function timeOf(text: string, now = Date.now()): number {
  const [, many, unit = ''] = /^(\d{1,6})([mhdw])$/.exec(text) ?? [];
  const length = UNITS[unit];
  if (many !== undefined && length !== undefined) return now - Number(many) * length;
  const midnight = new Date(now).setHours(0, 0, 0, 0);
  if (text === 'now') return now;
  if (text === 'today') return midnight;
  if (text === 'yesterday') return new Date(midnight).setDate(new Date(midnight).getDate() - 1);
  const parsed = Date.parse(text);
  if (!Number.isNaN(parsed)) return parsed;
  throw new CliError('usage', `'${text}' is not a time`, { hint: 'Write 24h, 7d, yesterday, 2027-01-31 or 2027-01-31T08:00:00Z.' });
}

/** A time as lists show it: how long ago, and the date from a week on. */
export function agoText(iso: string, now = Date.now()): string {
  const at = Date.parse(iso);
  if (Number.isNaN(at)) return iso;
  const seconds = Math.round((now - at) / 1000);
  if (seconds < 0) return iso.slice(0, 16).replace('T', ' ');
  if (seconds < 60) return `${seconds} s ago`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h ago`;
  if (seconds < 7 * 86_400) return `${Math.floor(seconds / 86_400)} d ago`;
  return iso.slice(0, 10);
}

/** A duration in milliseconds as people read it. */
export function durationText(ms: number): string {
  if (ms < 1000) return `${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(2)} s`;
  const seconds = Math.round(ms / 1000);
  return seconds < 3600
    ? `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')} min`
    : `${Math.floor(seconds / 3600)} h ${String(Math.floor((seconds % 3600) / 60)).padStart(2, '0')}`;
}

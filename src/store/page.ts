import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { parseJson } from '../base/json.ts';
import { AbpError } from '../contract/errors.ts';
import { storableText } from './text.ts';

const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 1000;

/** One page of a list; `next_cursor` is absent on the last one. */
export interface Page<T> {
  readonly items: readonly T[];
  readonly next_cursor?: string;
}

export interface PageOptions {
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
}

/** The last row a caller has seen. Lists run newest first, ties by id, so rows that arrive later never shift a page. */
export interface Position {
  readonly time: number;
  readonly id: string;
}

export function pageSize(limit: number = DEFAULT_LIMIT): number {
  return Math.min(Math.max(Math.trunc(limit), 1), MAX_LIMIT);
}

export function encodeCursor({ time, id }: Position): string {
  return Buffer.from(JSON.stringify([time, id])).toString('base64url');
}

export function decodeCursor(cursor: string): Position {
  const parsed = parseJson(Buffer.from(cursor, 'base64url').toString());
  const [time, id] = parsed.ok && Array.isArray(parsed.value) ? parsed.value : [];
  if (typeof time !== 'number' || !Number.isSafeInteger(time) || typeof id !== 'string') {
    throw new AbpError('invalid_request', 'the cursor is not one that this list gave out', { cursor: cursor.slice(0, 100) });
  }
  return { time, id: storableText(id) };
}

/** The rows behind a cursor, in a table that is listed by `created_at` and `id`, newest first. */
export function olderThan(cursor: string): RawBuilder<SqlBool> {
  const { time, id } = decodeCursor(cursor);
  return sql`(created_at, id) < (${time}, ${id})`;
}

/** Cuts rows fetched with one row more than the page holds: the surplus row says that there is a next page. */
export function pageOf<T>(rows: readonly T[], size: number, positionOf: (row: T) => Position): Page<T> {
  const items = rows.slice(0, size);
  const last = items.at(-1);
  if (rows.length <= size || last === undefined) return { items };
  return { items, next_cursor: encodeCursor(positionOf(last)) };
}

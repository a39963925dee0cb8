import type { IncomingHttpHeaders } from 'node:http';
import { ownEngine } from '../../engines/index.ts';

/** A header that only a vendor's SDK sends, and the dialect it belongs to. */
const MARKS = [{ header: 'anthropic-version', dialect: 'claude' }] as const;

/** Paths that are ours and a vendor's too. */
const SHARED_PATH = /^\/v1\/(?:agents|sessions)(?:\/|$)/;

/** The engine that a call on such a path is meant for; undefined when it is meant for us. */
export function markedEngine(path: string, headers: IncomingHttpHeaders): string | undefined {
  if (!SHARED_PATH.test(path)) return undefined;
  const mark = MARKS.find(({ header }) => headers[header] !== undefined);
  if (mark === undefined) return undefined;
  return ownEngine(mark.dialect)?.id;
}

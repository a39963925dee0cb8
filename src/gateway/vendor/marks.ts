import type { IncomingHttpHeaders } from 'node:http';
import type { Dialect } from '../../dialects/dialect.ts';
import { findDialect } from '../../dialects/index.ts';
import { chooseEngine, ownEngine } from '../../engines/index.ts';

/** A header that only a vendor's SDK sends, and the dialect it belongs to; `owns` where the vendor has paths that are ours, too. */
const MARKS = [
  { header: 'anthropic-version', dialect: 'claude', owns: true },
  { header: 'x-goog-api-client', dialect: 'gemini', owns: false },
  { header: 'x-goog-api-key', dialect: 'gemini', owns: false },
] as const;

/** Paths that are ours and a vendor's too. */
const SHARED_PATH = /^\/v1\/(?:agents|sessions)(?:\/|$)/;

/** The dialect whose SDK calls, where its headers tell: on paths of no dialect, too, it reads errors in its own shape. */
function markedDialect(headers: IncomingHttpHeaders): Dialect | undefined {
  const mark = MARKS.find(({ header }) => headers[header] !== undefined);
  return mark === undefined ? undefined : findDialect(mark.dialect);
}

/** Whose SDK reads an error on a path of no dialect: its headers tell, else the engine that the path pins. */
export function readerOf(headers: IncomingHttpHeaders, engine: string | undefined): Dialect | undefined {
  const [first] = chooseEngine(engine ?? '')?.engine.dialects ?? [];
  return markedDialect(headers) ?? (first === undefined ? undefined : findDialect(first));
}

/**
 * Paths that SDKs ask of the host alone, without the prefix of their base address. Google's SDK takes the address of an upload from an
 * answer and puts our host into it.
 */
const BARE_PATHS = [{ path: /^\/upload\/v1(?:alpha|beta)?\//, dialect: 'gemini' }] as const;

/** The engine that a call on such a path is meant for; undefined when it is meant for us. */
export function markedEngine(path: string, headers: IncomingHttpHeaders): string | undefined {
  const bare = BARE_PATHS.find((one) => one.path.test(path));
  if (bare !== undefined) return ownEngine(bare.dialect)?.id;
  if (!SHARED_PATH.test(path)) return undefined;
  const mark = MARKS.find(({ header, owns }) => owns && headers[header] !== undefined);
  return mark === undefined ? undefined : ownEngine(mark.dialect)?.id;
}

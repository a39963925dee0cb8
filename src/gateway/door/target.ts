import { AbpError } from '../../contract/errors.ts';

/** A request line taken apart: our prefixes, then the path the vendor or a control route sees. */
export interface Target {
  /** Path without prefixes and query. */
  readonly path: string;
  /** Query with its question mark, or empty. */
  readonly query: string;
  /** `/e/{engine}/…` */
  readonly engine: string | undefined;
  /** `/k/{key}/…` */
  readonly key: string | undefined;
}

/** Some readers take an escaped slash or a backslash for a slash. */
const DOT_SEGMENT = /(?:^|\/|%2f|\\|%5c)(?:\.|%2e){1,2}(?:\/|%2f|\\|%5c|$)/i;

/** No vendor's path is longer; a model's name may stand in it. The prefixes that are ours and the query do not count. */
const LONGEST_PATH = 512;

/** Paths are compared and forwarded as raw text, so everything that two readers could resolve differently is refused. */
export function parseTarget(url: string): Target {
  const mark = url.indexOf('?');
  let path = mark === -1 ? url : url.slice(0, mark);
  const query = mark === -1 ? '' : url.slice(mark);
  if (DOT_SEGMENT.test(path)) throw badPath();
  assertOneSlash(path);
  let key: string | undefined;
  let engine: string | undefined;
  if (path.startsWith('/k/')) [key, path] = firstSegment(path, 3);
  if (path.startsWith('/e/')) [engine, path] = firstSegment(path, 3);
  assertOneSlash(path);
  if (path.length > LONGEST_PATH) throw new AbpError('invalid_request', `The path is longer than ${LONGEST_PATH} characters.`);
  return { path, query, engine, key };
}

/** Behind an origin, a second slash would begin a host name. */
function assertOneSlash(path: string): void {
  if (!path.startsWith('/') || path.startsWith('//')) throw badPath();
}

function badPath(): AbpError {
  return new AbpError('invalid_request', 'The path must start with one slash and hold no dot segments.');
}

function firstSegment(path: string, from: number): [segment: string, rest: string] {
  const slash = path.indexOf('/', from);
  return slash === -1 ? [decode(path.slice(from)), '/'] : [decode(path.slice(from, slash)), path.slice(slash)];
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw new AbpError('invalid_request', 'The path holds a broken escape.');
  }
}

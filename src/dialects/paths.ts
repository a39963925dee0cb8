import type { Dialect, VendorPath } from './dialect.ts';
import { dialects, findDialect } from './index.ts';

/** A vendor call recognised by method and path. */
export interface PathMatch {
  readonly dialect: Dialect;
  readonly path: VendorPath;
  /** The model where the address names it. */
  readonly model?: string;
  /** The address is the vendor's own, without our prefix for the dialect. */
  readonly unprefixed?: boolean;
}

interface Pattern {
  readonly dialect: Dialect;
  readonly path: VendorPath;
  readonly regex: RegExp;
}

const exact = new Map<string, PathMatch>();
const patterns: Pattern[] = [];
for (const dialect of dialects) {
  for (const path of dialect.paths) {
    if (path.path.includes('{model}')) patterns.push({ dialect, path, regex: patternOf(path.path) });
    else exact.set(`${path.method} ${path.path}`, { dialect, path });
  }
}

function patternOf(path: string): RegExp {
  const [before = '', after = ''] = path.split('{model}').map((text) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${before}([^/?]+?)${after}$`);
}

/**
 * The dialect's path that a request line names; the query plays no part. Under a pinned engine its own dialects come first, by the
 * vendor's own path: two dialects that share a path are told apart by the engine.
 */
export function matchPath(method: string, path: string, preferred: readonly string[] = []): PathMatch | undefined {
  const found = exact.get(`${method} ${path}`);
  if (found !== undefined && (preferred.length === 0 || preferred.includes(found.dialect.id))) return found;
  return ownPath(method, path, preferred) ?? found ?? modelPath(method, path);
}

/** A vendor's own path that we serve under a prefix. */
function ownPath(method: string, path: string, preferred: readonly string[]): PathMatch | undefined {
  for (const id of preferred) {
    const prefix = findDialect(id)?.prefix;
    const own = prefix === undefined ? undefined : exact.get(`${method} ${prefix}${path}`);
    if (own !== undefined) return { ...own, unprefixed: true };
  }
  return undefined;
}

function modelPath(method: string, path: string): PathMatch | undefined {
  for (const pattern of patterns) {
    const name = pattern.path.method === method ? decoded(pattern.regex.exec(path)?.[1]) : undefined;
    if (name !== undefined) return { dialect: pattern.dialect, path: pattern.path, model: name };
  }
  return undefined;
}

/** A broken escape names no model. */
function decoded(text: string | undefined): string | undefined {
  try {
    return text === undefined ? undefined : decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/** The path as the engine knows it: without our prefix for the dialect, with the model name the engine gets. */
export function enginePath(match: PathMatch, path: string, model: string): string {
  const { prefix } = match.dialect;
  const own = prefix === undefined || match.unprefixed === true ? path : path.slice(prefix.length);
  return match.model === undefined || match.model === model
    ? own
    : own.replace(/(?<=\/models\/)[^/]+(?=:[a-zA-Z]+$)/, encodeURIComponent(model));
}

const known = new Set(dialects.flatMap((dialect) => dialect.paths.map((path) => path.path)));

/** Whether some method of this path is a vendor's. */
export function isVendorPath(path: string): boolean {
  return known.has(path) || patterns.some((pattern) => pattern.regex.test(path));
}

/** The dialect of the vendor whose path it is, where none of the given dialects has such a path. */
export function foreignOwner(path: string, own: readonly string[]): Dialect | undefined {
  const owners = dialects.filter(({ ownPaths = [] }) => ownPaths.some((start) => path === start || path.startsWith(`${start}/`)));
  return owners.some(({ id }) => own.includes(id)) ? undefined : owners[0];
}

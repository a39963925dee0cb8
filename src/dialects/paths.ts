import type { Dialect, VendorPath } from './dialect.ts';
import { dialects } from './index.ts';

/** A vendor call recognised by method and path. */
export interface PathMatch {
  readonly dialect: Dialect;
  readonly path: VendorPath;
  /** The model where the address names it. */
  readonly model?: string;
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

/** The dialect's path that a request line names; the query plays no part. */
export function matchPath(method: string, path: string): PathMatch | undefined {
  const found = exact.get(`${method} ${path}`);
  if (found !== undefined) return found;
  for (const pattern of patterns) {
    const model = pattern.path.method === method ? pattern.regex.exec(path)?.[1] : undefined;
    const name = model === undefined ? undefined : decoded(model);
    if (name !== undefined) return { dialect: pattern.dialect, path: pattern.path, model: name };
  }
  return undefined;
}

/** A broken escape names no model. */
function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/** The path as the engine knows it: without our prefix for the dialect, with the model name the engine gets. */
export function enginePath(match: PathMatch, path: string, model: string): string {
  const own = match.dialect.prefix === undefined ? path : path.slice(match.dialect.prefix.length);
  return match.model === undefined || match.model === model
    ? own
    : own.replace(/(?<=\/models\/)[^/]+(?=:[a-zA-Z]+$)/, encodeURIComponent(model));
}

const known = new Set(dialects.flatMap((dialect) => dialect.paths.map((path) => path.path)));

/** Whether some method of this path is a vendor's. */
export function isVendorPath(path: string): boolean {
  return known.has(path) || patterns.some((pattern) => pattern.regex.test(path));
}

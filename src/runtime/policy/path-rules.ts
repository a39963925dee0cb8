import { realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { pathGlob, pathGlobBelow, pathGlobOf } from '../../base/glob.ts';
import { SYSTEM_PATHS } from '../../confinement/bubblewrap.ts';
import { AbpError } from '../../contract/errors.ts';

/** Patterns of paths, by where they lie. One that is about both stands in both. */
export interface PathRules {
  /** Relative to the workspace. */
  readonly inside: readonly string[];
  readonly outside: readonly string[];
}

const EVERYTHING = '*';
/**
 * Sorts patterns by what they can match; throws on one that is not well formed. `~` is the home of the user. A path has many names: `..`,
 * links on the way, the name by which the workspace is called and its real one. A rule holds for what it names, by whichever of them.
 */
export function pathRules(patterns: readonly string[], workspace: string): PathRules {
  const names = [...new Set([workspace, realPath(workspace)])];
  const plain = patterns.map((pattern) => plainPattern(pattern, workspace));
  const all = [...new Set(plain.flatMap((pattern) => [pattern, ...throughLinks(pattern, workspace)]))];
  for (const pattern of all) assertGlob(pattern);
  const isWithin = (pattern: string): boolean => !isAbsolute(pattern) || names.some((name) => pattern.startsWith(`${pathGlobOf(name)}/`));
  return {
    inside: [...new Set(all.flatMap((pattern) => (isAbsolute(pattern) ? names.flatMap((name) => insideOf(pattern, name)) : [pattern])))],
    outside: all.filter((pattern) => !isWithin(pattern)),
  };
}

/** Without `~`, `.` and `..`: relative to the workspace as long as it does not lead out of it. */
function plainPattern(pattern: string, workspace: string): string {
  const whole = /^~(?:\/|$)/.test(pattern) ? join(pathGlobOf(homedir()), pattern.slice(1)) : pattern;
  const parts = isAbsolute(whole) ? [''] : [];
  for (const part of whole.split('/')) {
    if (part === '..' && parts.length === 0) parts.push(...pathGlobOf(workspace).split('/'));
    if (part === '..') climb(parts, pattern);
    else if (part !== '' && part !== '.') parts.push(part);
  }
  if (parts.some((part) => /(?:^|[{,])\.\.(?:$|[},])/.test(part))) throw notValid(`the pattern ${pattern} has a .. between braces`);
  return parts.join('/') || (isAbsolute(whole) ? '/' : EVERYTHING);
}

/** Above a name that stands for many there are many folders. */
function climb(parts: string[], pattern: string): void {
  const left = parts.pop() ?? '';
  if (isSpecial(left)) throw notValid(`the pattern ${pattern} has a .. behind a name that stands for many`);
  // Above the root is the root.
  if (left === '') parts.push('');
}

/** Whether a part of a pattern stands for more than one name. */
const isSpecial = (part: string): boolean => /[*?[{]/.test(part.replace(/\\./g, ''));

/** The same pattern by the real path of its beginning; none where that has no other name. */
function throughLinks(pattern: string, workspace: string): string[] {
  const root = isAbsolute(pattern) ? [] : realPath(workspace).split('/').map(pathGlobOf);
  const parts = [...root, ...pattern.split('/')];
  const at = parts.findIndex(isSpecial);
  const fixed = at === -1 ? parts : parts.slice(0, at);
  for (let count = fixed.length; count > Math.max(root.length, 1); count -= 1) {
    const path = unescaped(fixed.slice(0, count).join('/'));
    const real = realPath(path);
    if (real !== path) return [[pathGlobOf(real), ...parts.slice(count)].join('/')];
  }
  return [];
}

const unescaped = (text: string): string => text.replace(/\\(.)/g, '$1');

/** The path without links; the path itself where nothing is there. */
function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path; // Nothing is there, or somebody else's folder is on the way: there is no other name.
  }
}

/** The part of a pattern that lies in the workspace, relative to it: all of the workspace where the pattern means a folder around. */
function insideOf(pattern: string, workspace: string): string[] {
  const matches = pathGlob(pattern);
  for (let path = workspace; path !== ''; path = path.slice(0, path.lastIndexOf('/'))) {
    if (matches(path) || matches(`${path}/`)) return [EVERYTHING];
  }
  return pathGlobBelow(pattern, `${workspace}/`);
}

/** Whether a pattern outside of the workspace is about a folder, or about something in it. */
export const reachesInto = (pattern: string, folder: string): boolean => insideOf(pattern, folder).length > 0;

function assertGlob(pattern: string): void {
  try {
    pathGlob(pattern);
  } catch (error) {
    throw notValid(error instanceof Error ? error.message : String(error));
  }
}

const notValid = (why: string): AbpError => new AbpError('invalid_request', `The policy is not valid: ${why}.`);

/** Paths of the system that a pattern covers whole, and whether it also reaches into ones that are always shown. */
export function systemPathsUnder(pattern: string): { readonly hidden: readonly string[]; readonly reachesShown: boolean } {
  const matches = pathGlob(pattern);
  const hidden = SYSTEM_PATHS.filter((path) => path.startsWith('/etc/') && matches(path));
  const start = pattern.search(/[*?[{]/);
  const fixed = start === -1 ? pattern : pattern.slice(0, start);
  const overlaps = SYSTEM_PATHS.filter(
    (path) => !hidden.includes(path) && (fixed.startsWith(`${path}/`) || path === fixed || `${path}/`.startsWith(fixed)),
  );
  return { hidden, reachesShown: overlaps.length > 0 };
}

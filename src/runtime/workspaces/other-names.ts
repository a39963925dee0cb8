import { type Dirent, realpathSync } from 'node:fs';
import { pathGlob, pathGlobAlternatives, pathGlobBelow, pathGlobOf } from '../../base/glob.ts';
import { childOf, entriesIn, fileOf, lookAt, nameOf, type PathKey, pathsAround, TooLarge, textOf } from './tree.ts';

/** A link of a workspace that leads to something else in it. */
export interface InnerLink {
  readonly name: string;
  /** Relative to the workspace, without links on the way; empty for the workspace itself. */
  readonly target: string;
}

/** Every link leads to a name for what is behind it; a pattern that meets more of them than these is no rule that anybody can follow. */
const MOST_PATTERNS = 2000;

/**
 * Patterns for what others mean by a name that leads through links: with `current` a link to `releases/5`, a rule for `**\/current/*` is one
 * for `releases/5/*`. A link that is meant itself stands for all that it leads to.
 */
export function patternsBehind(patterns: readonly string[], links: readonly InnerLink[]): string[] {
  const found = new Set(patterns.flatMap(pathGlobAlternatives));
  const written = found.size;
  // Names that the loop adds are looked at as well: a name may lead through several links.
  for (const pattern of found) {
    const matches = pathGlob(pattern);
    // A rule for a folder is one for everything in it.
    const means = (path: string): boolean => pathsAround(path).some((place) => matches(place) || matches(`${place}/`));
    for (const { name, target } of links) {
      const behind = means(name)
        ? wholeTarget(target, means)
        : pathGlobBelow(pattern, `${name}/`).flatMap((rest) => placed(rest, target, pattern));
      for (const one of behind) found.add(one);
    }
    if (found.size - written > MOST_PATTERNS) {
      throw new TooLarge(`its links give more than ${MOST_PATTERNS} other names to what the policy denies`);
    }
  }
  return [...found].slice(written);
}

/** A link to the workspace itself is no other name that somebody would have meant all of it by. */
function wholeTarget(target: string, means: (path: string) => boolean): string[] {
  return target === '' || means(target) ? [] : [pathGlobOf(target)];
}

/** The rest of a pattern at another place; none where the pattern is about that place already, because it begins with anything. */
function placed(rest: string, target: string, pattern: string): string[] {
  if (/^\*/.test(pattern) && pattern.endsWith(rest) && /^(?:\*\*\/|\*)*$/.test(pattern.slice(0, pattern.length - rest.length))) return [];
  return [target === '' ? rest : `${pathGlobOf(target)}/${rest}`];
}

/** Whether a path itself is meant, the folders around it aside. */
export type Meant = (path: string, isFolder: boolean) => boolean;

/** Links in dependencies are made by the programs that install them. Where all of these must not be read, they name nothing. */
const DEPENDENCIES = new Set(['node_modules', '.venv']);

/** The links of a workspace that lead to something in it. */
export function innerLinks(root: string, isDenied: Meant): InnerLink[] {
  const start = Buffer.from(`${root}/`);
  const links: InnerLink[] = [];
  for (const { key, entry } of entriesBelow(root, isDenied)) {
    const target = entry.isSymbolicLink() ? realPathOf(fileOf(root, key)) : undefined;
    if (target === undefined) continue;
    if (target.equals(start.subarray(0, -1))) links.push({ name: textOf(key), target: '' });
    else if (target.subarray(0, start.length).equals(start))
      links.push({ name: textOf(key), target: target.subarray(start.length).toString('utf8') });
  }
  return links;
}

/** The marks of files that are denied and have other names as well: a file is the same by each of them. */
export function sharedFiles(root: string, isDenied: Meant): ReadonlySet<string> {
  const marks = new Set<string>();
  for (const { key, entry, denied } of entriesBelow(root, isDenied)) {
    const mark = denied && entry.isFile() ? markOf(root, key) : undefined;
    if (mark !== undefined) marks.add(mark);
  }
  return marks;
}

/** Tells a file that has more than one name; undefined for others. */
export function markOf(root: string, key: PathKey): string | undefined {
  const found = lookAt(fileOf(root, key));
  return found?.isFile() === true && found.nlink > 1 ? `${found.dev} ${found.ino}` : undefined;
}

interface Entry {
  readonly key: PathKey;
  readonly entry: Dirent<Buffer>;
  /** It is meant, or a folder around it is. */
  readonly denied: boolean;
}

function* entriesBelow(root: string, isDenied: Meant): Generator<Entry> {
  const open: { readonly folder: PathKey; readonly within: boolean }[] = [{ folder: '', within: false }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    for (const entry of entriesIn(root, next.folder)) {
      const key = childOf(next.folder, entry);
      const isFolder = entry.isDirectory();
      const denied = next.within || isDenied(textOf(key), isFolder);
      yield { key, entry, denied };
      if (isFolder && nameOf(key) !== '.git' && !(denied && DEPENDENCIES.has(nameOf(key)))) open.push({ folder: key, within: denied });
    }
  }
}

function realPathOf(path: Buffer): Buffer | undefined {
  try {
    return realpathSync(path, 'buffer');
  } catch {
    return undefined; // It leads nowhere.
  }
}

/**
 * The rules of a `.gitignore`, read without git: a repository that an agent has written may tell git to run programs. Matching takes time
 * in proportion to pattern and path, whatever the pattern is, because an agent may have written that, too.
 */
export interface IgnoreRule {
  /** The pattern by segments; `**` stands for any number of them. */
  readonly segments: readonly string[];
  /** `!pattern`: takes back what an earlier rule said. */
  readonly kept: boolean;
  readonly foldersOnly: boolean;
}

/** The rules of one folder, for paths below it. */
export interface IgnoreFile {
  /** The folder, relative to the workspace; `''` for the workspace itself and for folders above it. */
  readonly folder: string;
  /** Where the workspace lies below a folder above it, such as `packages/app`. */
  readonly way?: string;
  readonly rules: readonly IgnoreRule[];
}

const MOST_RULES = 1000;
const LONGEST_PATTERN = 256;

export function parseIgnoreRules(text: string): IgnoreRule[] {
  const lines = text.split(/\r?\n/).slice(0, MOST_RULES);
  return lines.map(parseRule).filter((rule) => rule !== undefined);
}

function parseRule(line: string): IgnoreRule | undefined {
  if (line.startsWith('#') || line.length > LONGEST_PATTERN) return undefined;
  const kept = line.startsWith('!');
  const whole = withoutSpaceAtEnd(kept ? line.slice(1) : line);
  const foldersOnly = whole.endsWith('/');
  const pattern = foldersOnly ? whole.slice(0, -1) : whole;
  const segments = pattern.split('/').filter((segment, at) => segment !== '' || at > 0);
  if (segments.length === 0 || segments.includes('')) return undefined;
  // A pattern without a slash holds at any depth.
  return { segments: pattern.includes('/') ? segments : ['**', ...segments], kept, foldersOnly };
}

/** Spaces at the end mean nothing, unless the last is escaped. */
function withoutSpaceAtEnd(line: string): string {
  let end = line.length;
  while (end > 0 && line[end - 1] === ' ' && line[end - 2] !== '\\') end -= 1;
  return line.slice(0, end);
}

/** Whether a path of the workspace is ignored; the last rule that speaks of it decides. Folders above it are asked about before. */
export function isIgnored(files: readonly IgnoreFile[], path: string, isFolder: boolean): boolean {
  for (const { folder, way, rules } of files.toReversed()) {
    if (folder !== '' && !path.startsWith(`${folder}/`)) continue;
    const below = (way === undefined ? path.slice(folder === '' ? 0 : folder.length + 1) : `${way}/${path}`).split('/');
    const rule = rules.findLast(({ segments, foldersOnly }) => (isFolder || !foldersOnly) && matchesPath(segments, below));
    if (rule !== undefined) return !rule.kept;
  }
  return false;
}

function matchesPath(pattern: readonly string[], path: readonly string[]): boolean {
  // `a/**` names what is in the folder, not the folder.
  const last = pattern.at(-1) === '**' ? [...pattern.slice(0, -1), '*', '**'] : pattern;
  return matches(last, path, { isMany: (part) => part === '**', fits: matchesName });
}

function matchesName(pattern: string, name: string): boolean {
  return matches(tokensOf(pattern), [...name], { isMany: (token) => token === '*', fits: matchesCharacter });
}

interface Wildcards<P, T> {
  /** The part stands for any number of items, also none. */
  isMany(part: P): boolean;
  fits(part: P, item: T): boolean;
}

/** Takes as few items as it can for a wildcard, and one more whenever that fails; earlier wildcards need not be looked at again. */
function matches<P, T>(pattern: readonly P[], items: readonly T[], { isMany, fits }: Wildcards<P, T>): boolean {
  let at = 0;
  let part = 0;
  let wildcard = -1;
  let resume = 0;
  while (at < items.length) {
    const wanted = pattern[part];
    const item = items[at];
    if (wanted !== undefined && isMany(wanted)) {
      wildcard = part;
      resume = at;
      part += 1;
    } else if (wanted !== undefined && item !== undefined && fits(wanted, item)) {
      part += 1;
      at += 1;
    } else if (wildcard !== -1) {
      resume += 1;
      at = resume;
      part = wildcard + 1;
    } else return false;
  }
  return pattern.slice(part).every(isMany);
}

/** Single characters, `*`, `?`, `\x` and `[a-z]`, which is bounded because an agent may have written the pattern. */
function tokensOf(pattern: string): string[] {
  return pattern.match(/\\.|\[[!^]?\]?[^\]]{0,200}\]|./gsu) ?? [];
}

function matchesCharacter(token: string, character: string): boolean {
  if (token === '?') return true;
  if (token.length > 1 && token.startsWith('\\')) return token.slice(1) === character;
  if (token.length > 2 && token.startsWith('[')) return inClass(token.slice(1, -1), character);
  return token === character;
}

function inClass(body: string, character: string): boolean {
  const negated = body.startsWith('!') || body.startsWith('^');
  const members = [...(negated ? body.slice(1) : body)];
  for (let at = 0; at < members.length; at += 1) {
    const first = members[at] ?? '';
    const last = members[at + 1] === '-' ? members[at + 2] : undefined;
    if (last === undefined ? first === character : first <= character && character <= last) return !negated;
    if (last !== undefined) at += 2;
  }
  return negated;
}

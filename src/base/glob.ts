/** Whether `text` matches a pattern in which `*` stands for any run of characters. */
export function globMatch(pattern: string, text: string): boolean {
  const star = pattern.indexOf('*');
  if (star === -1) return pattern === text;
  // Calls ask this of every row about an engine's models, and nearly none of them begins like the model.
  if (!text.startsWith(pattern.slice(0, star))) return false;
  if (star === pattern.length - 1) return true;
  const [first = '', ...rest] = pattern.split('*');
  const last = rest.pop() ?? '';
  if (!text.endsWith(last) || text.length < first.length + last.length) return false;
  let at = first.length;
  for (const part of rest) {
    const found = text.indexOf(part, at);
    if (found === -1 || found + part.length > text.length - last.length) return false;
    at = found + part.length;
  }
  return true;
}

/** Each with the text that it was written as. */
type Token = { readonly text: string } & (
  | {
      readonly kind: 'one';
      readonly accepts: (character: string) => boolean;
      /** The same as a regular expression. */
      readonly source: string;
    }
  /** Any run of characters, slashes too. */
  | { readonly kind: 'run' }
  /** The next token may be left out. */
  | { readonly kind: 'maybe' }
  /** Any run of characters that ends in a slash. */
  | { readonly kind: 'folders' }
);

/** No path is longer. */
const LONGEST_PATTERN = 4096;
const MOST_ALTERNATIVES = 256;
const MOST_NESTED = 16;
/** Of all alternatives together: what one character of a path may cost. */
const MOST_CHARACTERS = 16_384;

/**
 * A pattern for paths: `*` and `?` stand for any characters, slashes too, a leading or inner `**` with its slash also for nothing,
 * `{a,b}` for either, `[a-z]` and `[!a-z]` for one character. Each path is read once. Throws on a pattern that is not well formed, or
 * that is longer than any path has reason to be: patterns come from callers and are matched where others wait.
 */
export function pathGlob(pattern: string): (path: string) => boolean {
  const alternatives = pathGlobAlternatives(pattern).map(tokensOf);
  return (path) => alternatives.some((tokens) => accepts(tokens, path));
}

/** How many characters a pattern stands for, all its alternatives together: what it costs to be read, and compared. Throws as `pathGlob` does. */
export function pathGlobSize(pattern: string): number {
  return sizeOf(pathGlobAlternatives(pattern));
}

const sizeOf = (alternatives: readonly string[]): number => alternatives.reduce((sum, { length }) => sum + length, 0);

/** A pattern with braces as those without that it stands for. */
export function pathGlobAlternatives(pattern: string): string[] {
  if (pattern.length > LONGEST_PATTERN) {
    throw new Error(`the pattern ${pattern.slice(0, 40)}… has ${pattern.length} characters; at most ${LONGEST_PATTERN} are read`);
  }
  const all = expanded(pattern, { pattern, depth: 0 });
  if (sizeOf(all) > MOST_CHARACTERS) throw new Error(`the pattern ${pattern} stands for more than ${MOST_CHARACTERS} characters`);
  return all;
}

/** Cuts a pattern into the text before a brace, its words, and the rest, once: no text is read again for each word. */
function expanded(part: string, within: { readonly pattern: string; readonly depth: number }): string[] {
  const { pattern, depth } = within;
  const open = indexOfBare(part, '{', 0);
  if (open === -1) return [part];
  const close = closingOf(part, open);
  if (close === -1) throw new Error(`the pattern ${pattern} has a { without its }`);
  if (depth === MOST_NESTED) throw new Error(`the pattern ${pattern} has more than ${MOST_NESTED} braces in each other`);
  const start = part.slice(0, open);
  const words = wordsOf(part.slice(open + 1, close)).flatMap((word) => expanded(word, { pattern, depth: depth + 1 }));
  const ends = expanded(part.slice(close + 1), within);
  if (words.length * ends.length > MOST_ALTERNATIVES) {
    throw new Error(`the pattern ${pattern} stands for more than ${MOST_ALTERNATIVES} others`);
  }
  return words.flatMap((word) => ends.map((end) => start + word + end));
}

function indexOfBare(text: string, wanted: string, from: number): number {
  for (let at = from; at < text.length; at += 1) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === wanted) return at;
  }
  return -1;
}

function closingOf(text: string, open: number): number {
  let depth = 0;
  for (let at = open; at < text.length; at += 1) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === '{') depth += 1;
    else if (text[at] === '}') depth -= 1;
    if (depth === 0) return at;
  }
  return -1;
}

/** The words between commas, those inside further braces left whole. */
function wordsOf(text: string): string[] {
  const words = [''];
  let depth = 0;
  let isEscaped = false;
  for (const character of text) {
    if (!isEscaped && character === '{') depth += 1;
    if (!isEscaped && character === '}') depth -= 1;
    if (!isEscaped && character === ',' && depth === 0) words.push('');
    else words[words.length - 1] += character;
    isEscaped = !isEscaped && character === '\\';
  }
  return words;
}

function tokensOf(pattern: string): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  while (at < pattern.length) {
    const { made, length } = tokenAt(pattern, at);
    tokens.push(...made);
    at += length;
  }
  return tokens;
}

function tokenAt(pattern: string, at: number): { readonly made: readonly Token[]; readonly length: number } {
  const character = pattern[at] ?? '';
  if (pattern.startsWith('**/', at) && (at === 0 || pattern[at - 1] === '/'))
    return {
      made: [
        { kind: 'maybe', text: '' },
        { kind: 'folders', text: '**/' },
      ],
      length: 3,
    };
  if (character === '*') return { made: [{ kind: 'run', text: '*' }], length: 1 };
  if (character === '?') return { made: [{ kind: 'one', accepts: () => true, source: '.', text: '?' }], length: 1 };
  if (character === '[') {
    const end = pattern.indexOf(']', at + 2);
    if (end === -1) throw new Error(`the pattern ${pattern} has a [ without its ]`);
    const one = classOf(pattern.slice(at + 1, end));
    const text = pattern.slice(at, end + 1);
    return { made: [{ kind: 'one', accepts: (character) => isIn(one, character), source: classSource(one), text }], length: text.length };
  }
  const isEscape = character === '\\' && at + 1 < pattern.length;
  const literal = isEscape ? (pattern[at + 1] ?? '') : character;
  const text = isEscape ? `\\${literal}` : character;
  return { made: [{ kind: 'one', accepts: (one) => one === literal, source: escaped(literal), text }], length: text.length };
}

/** Patterns, relative to a folder whose name ends in a slash, for all that a pattern matches below it; none where it matches nothing there. */
export function pathGlobBelow(pattern: string, folder: string): string[] {
  const rests = pathGlobAlternatives(pattern).flatMap((one) => {
    const tokens = tokensOf(one);
    const marks = placesAfter(tokens, folder)?.marks;
    const restFrom = (_: unknown, at: number): string[] => (marks?.[at] === 1 ? [textOf(tokens.slice(at))] : []);
    return [...tokens.keys()].flatMap(restFrom);
  });
  return [...new Set(rests)].filter((rest) => rest !== '');
}

const textOf = (tokens: readonly Token[]): string => tokens.map(({ text }) => text).join('');

/** The pattern that matches this path and no other. */
export const pathGlobOf = (path: string): string => path.replace(/[*?[\]{}\\]/g, '\\$&');

/** The pattern as a regular expression without anchors, for programs that take one; it means the same as `pathGlob`. */
export function pathGlobSource(pattern: string): string {
  const sources = pathGlobAlternatives(pattern).map((one) => tokensOf(one).map(sourceOf).join(''));
  return sources.length === 1 ? (sources[0] ?? '') : `(${sources.join('|')})`;
}

/** `maybe` stands before `folders` alone: both are written there. */
function sourceOf(token: Token): string {
  if (token.kind === 'one') return token.source;
  if (token.kind === 'run') return '.*';
  return token.kind === 'folders' ? '(.*/)?' : '';
}

/** Text that a regular expression takes as it is. */
const escaped = (text: string): string => text.replace(/[$()*+.?[\\\]^{|}]/g, '\\$&');

interface CharacterClass {
  readonly negated: boolean;
  readonly ranges: readonly (readonly [from: string, to: string])[];
}

function classOf(text: string): CharacterClass {
  const negated = text.startsWith('!') || text.startsWith('^');
  const body = negated ? text.slice(1) : text;
  const ranges: (readonly [string, string])[] = [];
  for (let at = 0; at < body.length; at += 1) {
    const first = body[at] ?? '';
    const isRange = body[at + 1] === '-' && at + 2 < body.length;
    ranges.push([first, isRange ? (body[at + 2] ?? first) : first]);
    if (isRange) at += 2;
  }
  return { negated, ranges };
}

const isIn = ({ negated, ranges }: CharacterClass, character: string): boolean =>
  ranges.some(([from, to]) => character >= from && character <= to) !== negated;

/** A range that ends before it begins holds nothing. */
function classSource({ negated, ranges }: CharacterClass): string {
  const word = (character: string): string => (/\w/.test(character) ? character : `\\${character}`);
  const held = ranges.filter(([from, to]) => from <= to).map(([from, to]) => `${word(from)}-${word(to)}`);
  if (held.length === 0) return negated ? '.' : '[^\\s\\S]';
  return `[${negated ? '^' : ''}${held.join('')}]`;
}

/** The places of a pattern that a text may have reached; none lies outside of `from` and `to`. */
interface Places {
  readonly marks: Uint8Array;
  from: number;
  to: number;
}

const accepts = (tokens: readonly Token[], text: string): boolean => placesAfter(tokens, text)?.marks[tokens.length] === 1;

/** Follows every place of the pattern that the text so far may have reached; never goes back. Undefined where none is left. */
function placesAfter(tokens: readonly Token[], text: string): Places | undefined {
  let places: Places = { marks: new Uint8Array(tokens.length + 3), from: 0, to: 0 };
  let next: Places = { marks: new Uint8Array(tokens.length + 3), from: 0, to: -1 };
  mark(places, 0);
  // By units of UTF-16, as the pattern was read: a character outside of the first plane is two of them.
  for (let at = 0; at < text.length; at += 1) {
    passEmpty(tokens, places);
    step(tokens, text.charAt(at), places, next);
    places.marks.fill(0, places.from, places.to + 1);
    if (next.to < 0) return undefined;
    places.to = -1;
    [places, next] = [next, places];
  }
  passEmpty(tokens, places);
  return places;
}

function mark(places: Places, at: number): void {
  places.marks[at] = 1;
  if (at < places.from) places.from = at;
  if (at > places.to) places.to = at;
}

/** Marks the places behind one character. */
function step(tokens: readonly Token[], character: string, { marks, from, to }: Places, next: Places): void {
  next.from = tokens.length;
  for (let at = from; at <= to; at += 1) {
    const token = tokens[at];
    if (marks[at] !== 1 || token === undefined || token.kind === 'maybe') continue;
    if (token.kind === 'one') {
      if (token.accepts(character)) mark(next, at + 1);
      continue;
    }
    mark(next, at);
    if (token.kind === 'folders' && character === '/') mark(next, at + 1);
  }
}

/** Adds the places behind tokens that may stand for nothing; they lie further on, so one pass finds all. */
function passEmpty(tokens: readonly Token[], places: Places): void {
  for (let at = places.from; at <= places.to; at += 1) {
    const kind = tokens[at]?.kind;
    if (places.marks[at] !== 1) continue;
    if (kind === 'run' || kind === 'maybe') mark(places, at + 1);
    if (kind === 'maybe') mark(places, at + 2);
  }
}

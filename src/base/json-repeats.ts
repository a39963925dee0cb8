import { isJsonObject, type Json, parseJson } from './json.ts';

/**
 * The commas and opening brackets that a value has when it is written. A text with more of them than its value repeats a member of some
 * object: a parser keeps one of the two, and another parser may keep the other.
 */
export function marksIn(value: Json): number {
  const members = Array.isArray(value) ? value : isJsonObject(value) ? Object.values(value) : undefined;
  if (members === undefined) return 0;
  let marks = Math.max(1, members.length);
  for (const member of members) if (typeof member === 'object' && member !== null) marks += marksIn(member);
  return marks;
}

/** The first member of an object that a JSON text names twice, whichever way its name is written; undefined where there is none. */
export function repeatedMember(text: string): string | undefined {
  const names = new NamesSoFar();
  for (let at = 0; at < text.length; at += 1) {
    const character = text.charAt(at);
    if (character !== '"') {
      names.mark(character);
      continue;
    }
    const end = stringEnd(text, at);
    const repeated = names.string(text.slice(at, end));
    if (repeated !== undefined) return repeated;
    at = end - 1;
  }
  return undefined;
}

/** The names of the members in each object that is open at a place of a text. */
class NamesSoFar {
  /** Nothing for each open list. */
  readonly #open: (Set<string> | undefined)[] = [];
  #before = '';

  mark(character: string): void {
    if (SPACE.has(character)) return;
    this.#before = character;
    if (character === '{') this.#open.push(new Set());
    else if (character === '[') this.#open.push(undefined);
    else if (character === '}' || character === ']') this.#open.pop();
  }

  /** The name in a string that repeats one. */
  string(quoted: string): string | undefined {
    const names = this.#before === '{' || this.#before === ',' ? this.#open.at(-1) : undefined;
    this.#before = '"';
    if (names === undefined) return undefined;
    const name = nameIn(quoted);
    if (names.has(name)) return name;
    names.add(name);
    return undefined;
  }
}

const SPACE: ReadonlySet<string> = new Set([' ', '\n', '\r', '\t']);

function stringEnd(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at + 1;
}

function nameIn(quoted: string): string {
  const parsed = parseJson(quoted);
  return parsed.ok && typeof parsed.value === 'string' ? parsed.value : quoted;
}

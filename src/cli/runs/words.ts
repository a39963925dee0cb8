import { stripVTControlCharacters } from 'node:util';
import { isJsonObject, type Json, parseJsonObject } from '../../base/json.ts';

// Beside escape sequences: what moves the cursor back over a line, and what turns the direction of reading.
const STEERING = /(?![\n\t])[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu;
const MOST_ASKED = 4000;

/** A text that cannot steer the terminal or show itself as another one. */
export function harmless(text: string): string {
  return stripVTControlCharacters(text).replaceAll(STEERING, '');
}

/** The words that a person is asked to allow: all of it, indented, up to a length that says so. */
export function askedWords(text: string): string {
  const kept = harmless(text).slice(0, MOST_ASKED);
  const more = text.length > MOST_ASKED ? `\n… ${text.length - MOST_ASKED} more characters` : '';
  return `${kept}${more}`.trim().replaceAll('\n', '\n  ');
}

/** One line of a text, cut where it gets longer than this. */
export function short(text: string, width: number): string {
  const [line = '', ...more] = harmless(text).trim().split('\n');
  return line.length > width || more.length > 0 ? `${line.slice(0, width)}…` : line;
}

/** The input of a tool call, without the punctuation of JSON: `path: a.txt · content: hello`. */
export function inputWords(input: Json): string {
  const value = typeof input === 'string' ? (parseJsonObject(input) ?? input) : input;
  if (!isJsonObject(value)) return plain(value);
  const members = Object.entries(value);
  // A tool with one input says by its name what that is.
  if (members.length === 1) return members.map(([, only]) => plain(only ?? null)).join('');
  return members.map(([name, member]) => `${name}: ${plain(member ?? null)}`).join(' · ');
}

function plain(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

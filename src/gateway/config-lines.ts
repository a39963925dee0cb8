import { readFileSync } from 'node:fs';
import { basename } from 'node:path';

const HEADER = /^\s*\[\s*([^[\]]+?)\s*\]\s*(?:#.*)?$/;
const LIST_HEADER = /^\s*\[\[\s*([^[\]]+?)\s*\]\]/;
const MEMBER = /^\s*((?:[\w-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[\w-]+|"[^"]*"|'[^']*'))*)\s*=/;
const FENCES = ['"""', "'''"] as const;

/** The steps of a dotted name: quotes keep dots in a step. */
function stepsOf(name: string): string {
  return [...name.matchAll(/"([^"]*)"|'([^']*)'|([\w-]+)/g)].map(([, double, single, bare]) => double ?? single ?? bare).join('.');
}

/** The lines on which the members of a TOML text stand, by their paths, from 1. What stands in a list of tables has no path of its own. */
export function linesOf(toml: string): ReadonlyMap<string, number> {
  const lines = new Map<string, number>();
  let table: string | undefined = '';
  let fence: string | undefined;
  for (const [index, line] of toml.split('\n').entries()) {
    const text = fence === undefined ? line : '';
    const opens = FENCES.find((mark) => text.split(mark).length % 2 === 0);
    if (fence !== undefined && line.includes(fence)) fence = undefined;
    else fence ??= opens;
    const header = HEADER.exec(text)?.[1];
    if (LIST_HEADER.test(text)) table = undefined;
    else if (header !== undefined) table = stepsOf(header);
    const member = MEMBER.exec(text)?.[1];
    if (member === undefined || table === undefined) continue;
    const path = table === '' ? stepsOf(member) : `${table}.${stepsOf(member)}`;
    if (!lines.has(path)) lines.set(path, index + 1);
  }
  return lines;
}

/** Where a value of the configuration stands: `abp.toml:12`. A value inside another one, such as a list, stands where that begins. */
export class ConfigPlaces {
  readonly #file: string;
  readonly #lines: ReadonlyMap<string, number>;

  constructor(file: string) {
    this.#file = basename(file);
    this.#lines = linesOf(readFileSync(file, 'utf8'));
  }

  of(path: string): string | undefined {
    for (let at = path; at !== ''; at = at.slice(0, Math.max(0, at.lastIndexOf('.')))) {
      const line = this.#lines.get(at);
      if (line !== undefined) return `${this.#file}:${line}`;
    }
    return undefined;
  }
}

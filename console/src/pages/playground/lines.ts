import type { FidelityEntry } from '../../api/types.ts';
import { FATES } from '../../components/fate/fate.tsx';
import type { LineFate } from './json-editor.tsx';

interface Place {
  readonly path: string;
  readonly isArray: boolean;
  /** The name under which it stands in what holds it. */
  readonly key: string;
  index: number;
}

/** Walks over the tokens of a JSON text and knows at each of them where it is. The text may be anything: nothing here throws. */
class Walk {
  readonly lines = new Map<string, number>();
  readonly #stack: Place[] = [];
  #key = '';

  take(token: string, line: number): void {
    const top = this.#stack.at(-1);
    if (token === '{' || token === '[') this.#stack.push({ path: this.#here(), isArray: token === '[', key: this.#key, index: 0 });
    else if (token === '}' || token === ']') this.#key = this.#stack.pop()?.key ?? '';
    else if (token === ',' && top !== undefined) top.index += 1;
    else if (token.endsWith(':')) this.#key = token.replace(/\s*:$/, '').slice(1, -1);
    else if (token !== ',') this.lines.set(this.#here(), line);
  }

  #here(): string {
    const top = this.#stack.at(-1);
    if (top === undefined) return '';
    if (top.isArray) return `${top.path}[${top.index}]`;
    return top.path === '' ? this.#key : `${top.path}.${this.#key}`;
  }
}

/** The line on which each leaf of a JSON text stands, by its path. */
function leafLines(text: string): ReadonlyMap<string, number> {
  const walk = new Walk();
  for (const [number, line] of text.split('\n').entries()) {
    for (const [token] of line.matchAll(/"(?:[^"\\]|\\.)*"\s*:?|[{}[\],]|[^\s{}[\],":]+/g)) walk.take(token, number + 1);
  }
  return walk.lines;
}

const matches = (pattern: string, path: string): boolean =>
  path === pattern ||
  (pattern.includes('[*]') && path.replaceAll(/\[\d+\]/g, '[*]') === pattern) ||
  path.startsWith(`${pattern}.`) ||
  path.startsWith(`${pattern}[`);

/** The gravest fate of each line. */
export function fatesOfLines(text: string, fidelity: readonly FidelityEntry[]): readonly LineFate[] {
  const found = new Map<number, LineFate>();
  const leaves = [...leafLines(text)];
  for (const { path, fate, note } of fidelity) {
    for (const [leaf, line] of leaves) {
      if (!matches(path, leaf)) continue;
      const before = found.get(line);
      if (before === undefined || FATES.indexOf(fate) > FATES.indexOf(before.fate)) found.set(line, { line, fate, note: note ?? '' });
    }
  }
  return [...found.values()].sort((a, b) => a.line - b.line);
}

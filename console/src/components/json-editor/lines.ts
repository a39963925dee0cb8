import { FATES, type FateName } from '../../base/fates.ts';

/** The gravest fate of what stands on a line. */
export interface LineFate {
  readonly line: number;
  readonly fate: FateName;
  readonly note: string;
}

/** A field that has a fate: where it stands in the text. */
export interface PlacedFate {
  /** As a fidelity record says it, `messages[0].content`, or as a JSON pointer, `/contents/0`. */
  readonly place: string;
  readonly fate: FateName;
  readonly note?: string | undefined;
}

interface Holder {
  readonly pointer: string;
  readonly isArray: boolean;
  /** The name under which it stands in what holds it. */
  readonly key: string;
  index: number;
}

/** Walks over the tokens of a JSON text and knows at each of them where it is. The text may be anything: nothing here throws. */
class Walk {
  readonly lines = new Map<string, number>();
  readonly #stack: Holder[] = [];
  #key = '';

  take(token: string, line: number): void {
    const top = this.#stack.at(-1);
    if (token === '{' || token === '[') {
      this.#note(line);
      this.#stack.push({ pointer: this.#here(), isArray: token === '[', key: this.#key, index: 0 });
    } else if (token === '}' || token === ']') this.#key = this.#stack.pop()?.key ?? '';
    else if (token === ',' && top !== undefined) top.index += 1;
    else if (token.endsWith(':')) this.#key = token.replace(/\s*:$/, '').slice(1, -1);
    else if (token !== ',') this.#note(line);
  }

  #note(line: number): void {
    const here = this.#here();
    if (here !== '') this.lines.set(here, line);
  }

  #here(): string {
    const top = this.#stack.at(-1);
    if (top === undefined) return '';
    return `${top.pointer}/${top.isArray ? top.index : this.#key}`;
  }
}

/** The line on which each value of a JSON text begins, by its pointer. */
function valueLines(text: string): ReadonlyMap<string, number> {
  const walk = new Walk();
  for (const [number, line] of text.split('\n').entries()) {
    for (const [token] of line.matchAll(/"(?:[^"\\]|\\.)*"\s*:?|[{}[\],]|[^\s{}[\],":]+/g)) walk.take(token, number + 1);
  }
  return walk.lines;
}

/** A pointer with `*` for every index, whichever way the place was written. */
function pointerOf(place: string): string {
  if (place.startsWith('/')) return place.replaceAll('~1', '/').replaceAll('~0', '~');
  return `/${place.replaceAll(/\[(\d+|\*)\]/g, '/$1').replaceAll('.', '/')}`;
}

function matches(pattern: string, pointer: string): boolean {
  if (pattern.includes('*')) {
    const steps = pointer.split('/');
    return pattern.split('/').every((step, at) => step === '*' || step === steps[at]);
  }
  return pointer === pattern || pointer.startsWith(`${pattern}/`);
}

/** The gravest fate of each line. */
export function fatesOfLines(text: string, placed: readonly PlacedFate[]): readonly LineFate[] {
  const found = new Map<number, LineFate>();
  const values = [...valueLines(text)];
  // A place that names a whole object stands for its leaves; the object itself only counts where nothing is in it.
  const leaves = values.filter(([pointer], at) => !values[at + 1]?.[0].startsWith(`${pointer}/`));
  for (const { place, fate, note } of placed) {
    const pattern = pointerOf(place);
    for (const [pointer, line] of leaves) {
      if (!matches(pattern, pointer)) continue;
      const before = found.get(line);
      if (before === undefined || FATES.indexOf(fate) > FATES.indexOf(before.fate)) found.set(line, { line, fate, note: note ?? '' });
    }
  }
  return [...found.values()].sort((a, b) => a.line - b.line);
}

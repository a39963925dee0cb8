/** A piece of a line; marked where the other side has something else. */
interface Piece {
  readonly text: string;
  readonly marked: boolean;
}

/** A line of one side with its number. */
export interface SideLine {
  readonly number: number;
  readonly pieces: readonly Piece[];
}

/** What stands beside each other; null: the other side has nothing there. */
export interface Row {
  readonly equal: boolean;
  readonly left: SideLine | null;
  readonly right: SideLine | null;
}

/** Longer texts are compared line by line only: words would hold the page. */
const MOST_WORDS = 60_000;

const linesOf = (text: string): string[] => text.replace(/\n$/, '').split('\n');

/** Two texts as rows: equal lines beside each other, then what was replaced beside what replaces it, word by word. */
export async function rowsOf(left: string, right: string): Promise<readonly Row[]> {
  const { diffLines, diffWordsWithSpace } = await import('diff');
  const words = left.length + right.length <= MOST_WORDS;
  const rows: Row[] = [];
  let [at, beside] = [0, 0];
  let taken: string[] = [];
  const pair = (old: string | undefined, now: string | undefined): Row => {
    const parts = words && old !== undefined && now !== undefined ? diffWordsWithSpace(old, now) : undefined;
    const side = (text: string | undefined, other: 'added' | 'removed', number: () => number): SideLine | null => {
      if (text === undefined) return null;
      const pieces = parts?.filter((part) => !part[other]).map(({ value, added, removed }) => ({ text: value, marked: added || removed }));
      return { number: number(), pieces: pieces ?? [{ text, marked: true }] };
    };
    return { equal: false, left: side(old, 'added', () => ++at), right: side(now, 'removed', () => ++beside) };
  };
  const settle = (now: readonly string[]): void => {
    for (let index = 0; index < Math.max(taken.length, now.length); index += 1) rows.push(pair(taken[index], now[index]));
    taken = [];
  };
  for (const { value, added, removed } of diffLines(left, right)) {
    const lines = linesOf(value);
    if (removed) taken = lines;
    else if (added) settle(lines);
    else {
      settle([]);
      for (const text of lines) {
        const pieces = [{ text, marked: false }];
        rows.push({ equal: true, left: { number: ++at, pieces }, right: { number: ++beside, pieces } });
      }
    }
  }
  settle([]);
  return rows;
}

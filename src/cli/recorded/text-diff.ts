/** A line of a comparison: in both texts, only in the first, or only in the second. */
export interface DiffLine {
  readonly sign: ' ' | '-' | '+';
  readonly text: string;
}

/** Beyond so many lines the comparison is no longer worth its memory; then all of one stands before all of the other. */
const MOST_LINES = 2000;

/** What turns one text into the other, line by line, with the fewest changes. */
export function diffLines(before: string, after: string): DiffLine[] {
  const [a, b] = [linesOf(before), linesOf(after)];
  if (a.length > MOST_LINES || b.length > MOST_LINES) return [...a.map(signed('-')), ...b.map(signed('+'))];
  const common = commonLengths(a, b);
  const lines: DiffLine[] = [];
  for (let at = 0, to = 0; at < a.length || to < b.length; ) {
    const sign = nextSign({ a, b, common }, at, to);
    lines.push({ sign, text: (sign === '+' ? b[to] : a[at]) ?? '' });
    if (sign !== '+') at += 1;
    if (sign !== '-') to += 1;
  }
  return lines;
}

interface Texts {
  readonly a: readonly string[];
  readonly b: readonly string[];
  readonly common: readonly Uint16Array[];
}

/** What the best way on from a pair of places begins with. */
function nextSign({ a, b, common }: Texts, at: number, to: number): DiffLine['sign'] {
  if (at >= a.length) return '+';
  if (to >= b.length) return '-';
  if (a[at] === b[to]) return ' ';
  return (common[at + 1]?.[to] ?? 0) >= (common[at]?.[to + 1] ?? 0) ? '-' : '+';
}

function linesOf(text: string): string[] {
  return text === '' ? [] : text.split('\n');
}

function signed(sign: DiffLine['sign']): (text: string) => DiffLine {
  return (text) => ({ sign, text });
}

/** Length of the longest common rest from each pair of places on. */
function commonLengths(a: readonly string[], b: readonly string[]): Uint16Array[] {
  const rows = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
  for (let at = a.length - 1; at >= 0; at -= 1) {
    for (let to = b.length - 1; to >= 0; to -= 1) {
      const row = rows[at];
      if (row === undefined) continue;
      row[to] = a[at] === b[to] ? (rows[at + 1]?.[to + 1] ?? 0) + 1 : Math.max(rows[at + 1]?.[to] ?? 0, row[to + 1] ?? 0);
    }
  }
  return rows;
}

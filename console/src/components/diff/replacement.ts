/** Longer texts are told as they are, all old lines before all new ones: looking for equal ones would hold the page. */
const MOST_COMPARED = 1000;

/** What is replaced and by what, as lines of a diff: what both have stands there once. */
export function replacement(before: string, after: string): string {
  const [old, now] = [before === '' ? [] : before.split('\n'), after === '' ? [] : after.split('\n')];
  const marked = (lines: readonly string[], sign: string): string[] => lines.map((line) => `${sign}${line}`);
  if (old.length * now.length > MOST_COMPARED ** 2) return [...marked(old, '-'), ...marked(now, '+')].join('\n');
  return changes(old, now).join('\n');
}

/** How many lines both have in common, in order, from a line of each on. */
function commonLines(old: readonly string[], now: readonly string[]): (row: number, column: number) => number {
  const width = now.length + 1;
  const lengths = new Uint32Array((old.length + 1) * width);
  const at = (row: number, column: number): number => lengths[row * width + column] ?? 0;
  for (let row = old.length - 1; row >= 0; row -= 1)
    for (let column = now.length - 1; column >= 0; column -= 1)
      lengths[row * width + column] =
        old[row] === now[column] ? at(row + 1, column + 1) + 1 : Math.max(at(row + 1, column), at(row, column + 1));
  return at;
}

/** The longest list of lines that both have, in order; the others are taken away or put in between. */
function changes(old: readonly string[], now: readonly string[]): string[] {
  const common = commonLines(old, now);
  const lines: string[] = [];
  let [row, column] = [0, 0];
  while (row < old.length || column < now.length) {
    const isOver = column === now.length;
    if (row < old.length && !isOver && old[row] === now[column]) {
      lines.push(` ${old[row]}`);
      row += 1;
      column += 1;
    } else if (row < old.length && (isOver || common(row + 1, column) >= common(row, column + 1))) {
      lines.push(`-${old[row]}`);
      row += 1;
    } else {
      lines.push(`+${now[column]}`);
      column += 1;
    }
  }
  return lines;
}

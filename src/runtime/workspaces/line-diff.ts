/** One piece of a difference: lines that are equal, only in the first text, or only in the second. */
export interface Piece {
  readonly kind: 'equal' | 'removed' | 'added';
  readonly lines: readonly string[];
}

/** Beyond this many differences the shortest way is not looked for: the whole middle is replaced. */
const MOST_DIFFERENCES = 1500;

/** How one list of lines becomes another; as short as can be found in bounded time. */
export function lineDiff(a: readonly string[], b: readonly string[]): Piece[] {
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end += 1;
  const [innerA, innerB] = [a.slice(start, a.length - end), b.slice(start, b.length - end)];
  return joined([
    { kind: 'equal', lines: a.slice(0, start) },
    ...(shortest(innerA, innerB) ?? [{ kind: 'removed', lines: innerA } as const, { kind: 'added', lines: innerB } as const]),
    { kind: 'equal', lines: a.slice(a.length - end) },
  ]);
}

type Furthest = Map<number, number>;

/** Myers' greedy search, forward only; undefined when it would take too long. */
function shortest(a: readonly string[], b: readonly string[]): Piece[] | undefined {
  const most = Math.min(a.length + b.length, MOST_DIFFERENCES);
  const furthest: Furthest = new Map([[1, 0]]);
  const trace: Furthest[] = [];
  for (let edits = 0; edits <= most; edits += 1) {
    trace.push(new Map(furthest));
    for (let diagonal = -edits; diagonal <= edits; diagonal += 2) {
      const x = slide(a, b, diagonal, entered(furthest, diagonal, edits).x);
      furthest.set(diagonal, x);
      if (x >= a.length && x - diagonal >= b.length) return wayBack(a, b, trace);
    }
  }
  return undefined;
}

/** Where a diagonal is entered after so many edits: from above by a line that was added, from the left by one that was removed. */
function entered(furthest: Furthest, diagonal: number, edits: number): { readonly x: number; readonly from: number } {
  const [above, left] = [furthest.get(diagonal + 1) ?? 0, furthest.get(diagonal - 1) ?? 0];
  const isAdded = diagonal === -edits || (diagonal !== edits && left < above);
  return isAdded ? { x: above, from: diagonal + 1 } : { x: left + 1, from: diagonal - 1 };
}

function slide(a: readonly string[], b: readonly string[], diagonal: number, start: number): number {
  let x = start;
  while (x < a.length && x - diagonal < b.length && a[x] === b[x - diagonal]) x += 1;
  return x;
}

function wayBack(a: readonly string[], b: readonly string[], trace: readonly Furthest[]): Piece[] {
  const pieces: Piece[] = [];
  let [x, y] = [a.length, b.length];
  for (let edits = trace.length - 1; edits > 0; edits -= 1) {
    const { x: start, from } = entered(trace[edits] ?? new Map(), x - y, edits);
    pieces.push({ kind: 'equal', lines: a.slice(start, x) });
    const isAdded = from > x - y;
    x = isAdded ? start : start - 1;
    y = x - from;
    pieces.push(isAdded ? { kind: 'added', lines: b.slice(y, y + 1) } : { kind: 'removed', lines: a.slice(x, x + 1) });
  }
  pieces.push({ kind: 'equal', lines: a.slice(0, x) });
  return pieces.reverse();
}

/** Neighbours of one kind become one piece; of those between equal lines the removed ones come first. */
function joined(pieces: readonly Piece[]): Piece[] {
  const all: Piece[] = [];
  let [removed, added]: [string[], string[]] = [[], []];
  const flush = (): void => {
    if (removed.length > 0) all.push({ kind: 'removed', lines: removed });
    if (added.length > 0) all.push({ kind: 'added', lines: added });
    [removed, added] = [[], []];
  };
  for (const { kind, lines } of pieces) {
    if (lines.length === 0) continue;
    if (kind === 'removed') removed.push(...lines);
    else if (kind === 'added') added.push(...lines);
    else {
      flush();
      const last = all.at(-1);
      if (last?.kind === 'equal') all[all.length - 1] = { kind, lines: [...last.lines, ...lines] };
      else all.push({ kind, lines });
    }
  }
  flush();
  return all;
}

import { diffArrays } from 'diff';

/** One piece of a difference: lines that are equal, only in the first text, or only in the second. */
export interface Piece {
  readonly kind: 'equal' | 'removed' | 'added';
  readonly lines: readonly string[];
}

/** Beyond this many differences the shortest way is not looked for, which takes time by their square: the whole middle is replaced. */
const MOST_DIFFERENCES = 1500;

/** How one list of lines becomes another, as short as can be found in bounded time. Of lines between equal ones the removed come first. */
export function lineDiff(a: readonly string[], b: readonly string[]): Piece[] {
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end += 1;
  const pieces: Piece[] = [
    { kind: 'equal', lines: a.slice(0, start) },
    ...middle(a.slice(start, a.length - end), b.slice(start, b.length - end)),
    { kind: 'equal', lines: a.slice(a.length - end) },
  ];
  return pieces.filter(({ lines }) => lines.length > 0);
}

function middle(a: string[], b: string[]): Piece[] {
  const found = diffArrays(a, b, { maxEditLength: MOST_DIFFERENCES }) ?? [
    { removed: true, added: false, value: a },
    { removed: false, added: true, value: b },
  ];
  return found.map(({ removed, added, value }) => ({ kind: removed ? 'removed' : added ? 'added' : 'equal', lines: value }));
}

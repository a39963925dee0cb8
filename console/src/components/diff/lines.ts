/** A line of a diff as it is shown. */
export interface DiffLine {
  readonly kind: 'added' | 'removed' | 'kept' | 'gap';
  /** Where it stands: a removed line in the file before, every other one in the file after; null where the diff does not say. */
  readonly number: number | null;
  readonly text: string;
}

const HUNK = /^@@ -(\d+)(?:,\d+)? \+(\d+)/;

/** What a line begins with, and how many lines of the file before and of the file after it is. */
const KINDS = [
  { sign: '+', kind: 'added', before: 0, after: 1 },
  { sign: '-', kind: 'removed', before: 1, after: 0 },
  { sign: ' ', kind: 'kept', before: 1, after: 1 },
] as const;
const [, , KEPT] = KINDS;

/** The lines of a unified diff, or of a piece of a file, which does not say where in the file it stands. */
export function diffLines(diff: string): readonly DiffLine[] {
  const lines = diff.replace(/\n$/, '').split('\n');
  // A new file begins at its first line.
  const placed = HUNK.test(lines[0] ?? '') || lines.every((line) => line.startsWith('+'));
  let [before, after] = [1, 1];
  const shown = lines.map((line): DiffLine => {
    const hunk = HUNK.exec(line);
    if (hunk !== null) {
      [before, after] = [Number(hunk[1]), Number(hunk[2])];
      return { kind: 'gap', number: null, text: '⋯' };
    }
    const found = KINDS.find(({ sign }) => line.startsWith(sign));
    const { kind, ...moves } = found ?? KEPT;
    const number = kind === 'removed' ? before : after;
    before += moves.before;
    after += moves.after;
    return { kind, number: placed ? number : null, text: found === undefined ? line : line.slice(1) };
  });
  // The first piece says where it begins by its numbers.
  return shown.slice(shown[0]?.kind === 'gap' ? 1 : 0);
}

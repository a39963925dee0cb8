/** How many lines a patch adds and takes away. */
export interface LineCount {
  readonly added: number;
  readonly removed: number;
}

/** The lines of every file of a patch as git writes it. Files without lines of text, such as pictures, are left out. */
export function linesByFile(patch: string): ReadonlyMap<string, LineCount> {
  const files = new Map<string, LineCount>();
  for (const { path, line, isHead } of hunkLines(patch)) {
    if (isHead) continue;
    const { old, now } = sidesOf(line);
    const { added, removed } = files.get(path) ?? { added: 0, removed: 0 };
    files.set(path, { added: added + (old === 0 ? 1 : 0), removed: removed + (now === 0 ? 1 : 0) });
  }
  return files;
}

/** The pieces of every file of a patch as git writes it, heads of pieces included and names of files left out. */
export function diffsByFile(patch: string): ReadonlyMap<string, string> {
  const files = new Map<string, string[]>();
  for (const { path, line } of hunkLines(patch)) {
    const lines = files.get(path) ?? [];
    files.set(path, lines);
    lines.push(line);
  }
  return new Map([...files].map(([path, lines]) => [path, lines.join('\n')]));
}

interface HunkLine {
  readonly path: string;
  readonly line: string;
  readonly isHead: boolean;
}

function* hunkLines(patch: string): Generator<HunkLine> {
  let path = '';
  let left = NOTHING_LEFT;
  for (const line of patch.split('\n')) {
    // That a file ends without a line break is no line of it.
    if (line.startsWith('\\')) continue;
    if (left.old > 0 || left.now > 0) {
      const { old, now } = sidesOf(line);
      left = { old: left.old - old, now: left.now - now };
      yield { path, line, isHead: false };
      continue;
    }
    path = nameOf(line) ?? path;
    left = hunkOf(line);
    if (left !== NOTHING_LEFT) yield { path, line, isHead: true };
  }
}

const sidesOf = (line: string): { readonly old: number; readonly now: number } => CHANGES[line.charAt(0)] ?? { old: 1, now: 1 };

const NOTHING_LEFT = { old: 0, now: 0 };

/** The sides on which a line of a hunk stands; every other line stands on both. */
const CHANGES: Readonly<Record<string, { readonly old: number; readonly now: number }>> = {
  '+': { old: 0, now: 1 },
  '-': { old: 1, now: 0 },
};

/** How many lines of each side follow the head of a hunk. */
function hunkOf(line: string): { readonly old: number; readonly now: number } {
  const found = /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@/.exec(line);
  return found === null ? NOTHING_LEFT : { old: Number(found[1] ?? 1), now: Number(found[2] ?? 1) };
}

/** The file after `---` and `+++`: `a/path`, `"b/p\303\244th"` or `/dev/null`, which names no file. */
function nameOf(line: string): string | undefined {
  if (!line.startsWith('--- ') && !line.startsWith('+++ ')) return undefined;
  const written = line.slice(4);
  const name = written.startsWith('"') ? unquoted(written.slice(1, written.lastIndexOf('"'))) : written.replace(/\t$/, '');
  return name === '/dev/null' ? undefined : name.slice(2);
}

function unquoted(text: string): string {
  const bytes = text.replace(/\\([0-7]{3}|.)/g, (_, mark: string) =>
    /^[0-7]{3}$/.test(mark) ? String.fromCharCode(Number.parseInt(mark, 8)) : mark,
  );
  return Buffer.from(bytes, 'latin1').toString('utf8');
}

/** The lines of a bare diff, as agents tell it: with or without the heads of its pieces. */
export function linesOfDiff(diff: string): LineCount {
  const lines = diff.split('\n');
  return {
    added: lines.filter((line) => line.startsWith('+') && !line.startsWith('+++ ')).length,
    removed: lines.filter((line) => line.startsWith('-') && !line.startsWith('--- ')).length,
  };
}

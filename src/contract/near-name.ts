/** Edits between two names: a letter more, less or other, or two neighbours that changed places. */
export function editDistance(a: string, b: string): number {
  let before: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const swapped = i > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1] ? (before[j - 2] ?? 0) + 1 : replaced;
      next.push(Math.min(replaced, swapped, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    [before, row] = [row, next];
  }
  return row[b.length] ?? 0;
}

const LONGEST = 64;

/** Capabilities have underscores, models and engines have hyphens, and people write either, in any case. */
function plain(name: string): string {
  return name.toLowerCase().replaceAll('-', '_');
}

/** The known name that a wrong one most likely meant: at most two edits away, else one that contains it or is contained in it. */
export function nearName(name: string, known: readonly string[]): string | undefined {
  return slipOf(name, known) ?? known.filter((candidate) => overlaps(plain(name), plain(candidate))).sort((a, b) => a.length - b.length)[0];
}

/** The known name that is at most two edits away, and fewer than half of the letters. */
export function slipOf(name: string, known: readonly string[]): string | undefined {
  const text = plain(name);
  // Names come from outside, and the distance costs the product of both lengths.
  if (text === '' || text.length > LONGEST) return undefined;
  return known
    .filter((candidate) => Math.abs(candidate.length - text.length) <= 2)
    .map((candidate) => ({ candidate, edits: editDistance(text, plain(candidate)) }))
    .filter((entry) => entry.edits <= 2 && entry.edits * 2 < text.length)
    .sort((a, b) => a.edits - b.edits)[0]?.candidate;
}

function overlaps(text: string, candidate: string): boolean {
  if (text.length > LONGEST) return false;
  return (text.length >= 4 && candidate.includes(text)) || (candidate.length >= 4 && text.includes(candidate));
}

/** Edits (insert, delete, replace) between two names. */
export function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}

const LONGEST = 64;

/** The known name that a wrong one most likely meant: at most two edits away, else one that contains it or is contained in it. */
export function nearName(name: string, known: readonly string[]): string | undefined {
  const text = name.toLowerCase().replaceAll('-', '_');
  // Names come from outside, and the distance costs the product of both lengths.
  if (text === '' || text.length > LONGEST) return undefined;
  const close = known
    .map((candidate) => ({ candidate, edits: editDistance(text, candidate) }))
    .filter((entry) => entry.edits <= 2 && entry.edits < text.length)
    .sort((a, b) => a.edits - b.edits)[0];
  if (close !== undefined) return close.candidate;
  return known.filter((candidate) => overlaps(text, candidate)).sort((a, b) => a.length - b.length)[0];
}

function overlaps(text: string, candidate: string): boolean {
  return (text.length >= 4 && candidate.includes(text)) || (candidate.length >= 4 && text.includes(candidate));
}

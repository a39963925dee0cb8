import { editDistance } from '../contract/near-name.ts';

const LONGEST = 128;

/** The known names that a wrong one most likely meant, nearest first. */
export function suggestions(name: string, known: readonly string[], most: number): string[] {
  const text = name.toLowerCase();
  // Names come from outside, and the distance costs the product of both lengths.
  if (text === '' || text.length > LONGEST) return [];
  return known
    .map((candidate) => ({ candidate, score: farness(text, candidate.toLowerCase()) }))
    .filter(({ score }) => score < 1)
    .sort((a, b) => a.score - b.score || a.candidate.localeCompare(b.candidate))
    .slice(0, most)
    .map(({ candidate }) => candidate);
}

/** 0 for the same name, 1 and more for one that has nothing to do with it. */
function farness(text: string, candidate: string): number {
  const longer = Math.max(text.length, candidate.length);
  const edits = editDistance(text, candidate) / longer;
  // A typed part of a long name is near although many edits away.
  const part = text.length >= 3 && (candidate.includes(text) || text.includes(candidate)) ? 0.5 : 0;
  return (edits - part) / 0.6;
}

/** Something that is not as a law says: of which sample, between which parties, and how it shows. */
export interface Wrong {
  readonly sample: string;
  readonly where: string;
  readonly what: string;
}

/** How often a law was tried, and where it did not hold. */
export interface Tally {
  tried: number;
  readonly wrong: Wrong[];
}

export function newTally(): Tally {
  return { tried: 0, wrong: [] };
}

/** One line for each wrong, as a test shows them. */
export function linesOf({ wrong }: Tally): string[] {
  return wrong.map(({ sample, where, what }) => `${sample} (${where}): ${what}`);
}

/** A tool call with what is known of its arguments. */
export interface SaidCall {
  readonly id: string | null;
  readonly name: string;
  readonly arguments: string;
}

/** The words of a run that people read in its report. */
export interface Words {
  readonly prompt: string | null;
  readonly session: string | null;
  readonly calls: readonly SaidCall[];
  /** Patches that the agent told, by the path that it named. */
  readonly patches: ReadonlyMap<string, string>;
}

export const NO_WORDS: Words = { prompt: null, session: null, calls: [], patches: new Map() };

const LONGEST_LINE = 200;

/** The first line with something in it, short enough to be read at a glance. */
export function firstLine(text: string): string | null {
  const line = text
    .slice(0, 10_000)
    .split('\n')
    .map((one) => one.trim())
    .find((one) => one !== '');
  if (line === undefined) return null;
  return line.length > LONGEST_LINE ? `${line.slice(0, LONGEST_LINE)}…` : line;
}

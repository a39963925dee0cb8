import type { Stage } from './stage.ts';

/** How a scenario went: `no` is a failure, `n/a` means that the agent does not claim to do this. */
export interface Verdict {
  readonly mark: 'yes' | 'no' | 'n/a';
  readonly note: string;
  /** The day on which it was tried. */
  readonly date?: string;
}

export interface Scenario {
  readonly name: string;
  readonly about: string;
  play(stage: Stage): Promise<Verdict>;
}

export const yes = (note: string): Verdict => ({ mark: 'yes', note });
export const no = (note: string): Verdict => ({ mark: 'no', note });
export const notClaimed = (note: string): Verdict => ({ mark: 'n/a', note });

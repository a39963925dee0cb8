/** A token that the model could have written at one place. */
export interface TokenChance {
  readonly token: string;
  readonly logprob: number;
  /** Its UTF-8 bytes, where the engine tells them: a token may be a piece of a character. */
  readonly bytes?: readonly number[];
  /** Its number in the engine's vocabulary, where the engine tells it. */
  readonly id?: number;
}

/** A token of the answer, and the likeliest ones at its place. */
export interface TokenLogprob extends TokenChance {
  readonly top: readonly TokenChance[];
}

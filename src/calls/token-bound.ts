import type { ReceiptUsage } from '../contract/receipts/parts.ts';
import { tokensIn } from '../ir/token-estimate.ts';
import { type Call, type CallEnding, shareOfOwner, type TokenBound } from './call.ts';

/** Larger bodies hold media, whose bytes say nothing of their tokens. */
const MOST_ESTIMATED = 200_000;

/** The most tokens that a call may use whose body has this many bytes and allows its answer this many tokens. */
export function tokenBound(bytes: number, output: number | undefined): TokenBound {
  return { input: Math.min(MOST_ESTIMATED, tokensIn(bytes)), output };
}

/** An answer of a model that has not answered this caller yet, where the request sets no limit. */
const FIRST_GUESS = 4096;
/** Pairs of caller and model whose answers are remembered. */
const MOST_KNOWN = 10_000;
/** How quickly a single long answer is forgotten: by a tenth with each shorter one. */
const FADING = 0.9;

/** How long the answers get that one caller has from one model. */
interface Answers {
  /** About the longest one lately; undefined before the first. */
  longest: number | undefined;
}

/** Knows how long answers get: the request's own limit, else about the longest answer that this caller has had from this model lately. */
export class LearnedOutput {
  /** By caller, then by model. */
  readonly #known = new Map<string, Map<string | null, Answers>>();
  #size = 0;

  /** The answers that a call is one of. They are found once, and go along with it until it has ended. */
  of({ owner, model }: Call): Answers {
    return this.#known.get(shareOfOwner(owner))?.get(model) ?? { longest: undefined };
  }

  /** The call has ended. */
  hear({ owner, model }: Call, answers: Answers, { usage }: CallEnding): void {
    if (usage === null) return;
    const kept = answers.longest === undefined ? this.#keep(shareOfOwner(owner), model, answers) : answers;
    kept.longest = Math.max(usage.output_tokens, Math.round((kept.longest ?? 0) * FADING));
  }

  /** Remembers answers from the first one on: a name that no engine answers to takes nobody's place. */
  #keep(caller: string, model: string | null, answers: Answers): Answers {
    const known = this.#known.get(caller)?.get(model);
    if (known !== undefined) return known;
    if (this.#size >= MOST_KNOWN) {
      this.#known.clear();
      this.#size = 0;
    }
    this.#size += 1;
    const models = this.#known.get(caller) ?? new Map<string | null, Answers>();
    this.#known.set(caller, models.set(model, answers));
    return answers;
  }
}

/** The longest answer that a call will get, by its own word or by experience. */
export function outputOf({ bound }: Call, { longest }: Answers): number {
  return bound?.output ?? longest ?? FIRST_GUESS;
}

/** All tokens of a call: those sent, read from a cache or not, and those answered. */
export function tokensOf({ input_tokens: input, output_tokens: output }: ReceiptUsage): number {
  return input + output;
}

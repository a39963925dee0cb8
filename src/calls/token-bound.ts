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

/** Knows how long answers get: the request's own limit, else about the longest answer that this caller has had from this model lately. */
export class LearnedOutput {
  readonly #longest = new Map<string, number>();

  /** The most that the call will use, by its own word or by experience. */
  bound(call: Call): number {
    return (call.bound?.input ?? 0) + this.output(call);
  }

  /** The longest answer that the call will get, likewise. */
  output(call: Call): number {
    return call.bound?.output ?? this.#longest.get(keyOf(call)) ?? FIRST_GUESS;
  }

  hear(call: Call, { usage }: CallEnding): void {
    if (usage === null) return;
    const key = keyOf(call);
    const before = this.#longest.get(key) ?? 0;
    if (!this.#longest.has(key) && this.#longest.size >= MOST_KNOWN) this.#longest.clear();
    this.#longest.set(key, Math.max(usage.output_tokens, Math.round(before * FADING)));
  }
}

function keyOf({ owner, model }: Call): string {
  return `${shareOfOwner(owner)} ${model}`;
}

/** All tokens of a call: those sent, read from a cache or not, and those answered. */
export function tokensOf({ input_tokens: input, output_tokens: output }: ReceiptUsage): number {
  return input + output;
}

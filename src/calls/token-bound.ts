import type { ReceiptUsage } from '../contract/receipts/parts.ts';
import { tokensIn } from '../ir/token-estimate.ts';
import { mayGrow, type RequestBound } from '../mapping/scan/request-bound.ts';
import { type Call, type CallEnding, shareOfOwner, type TokenBound } from './call.ts';

/** Larger bodies hold media, whose bytes say nothing of their tokens. */
const MOST_ESTIMATED = 200_000;
/** The longest input that models take. */
const MOST_INPUT = 1_000_000;
/** No call has more answered. A larger number is a mistake, beside which those of other calls would be lost. */
const MOST_OUTPUT = 10_000_000;

/** What a request says of the most that it may use, beside its bytes. */
type Said = RequestBound & { readonly hourCache?: boolean | undefined };

/** The most that a call may use, by its request. It holds on to the body until it is let go. */
export class BodyBound implements TokenBound {
  readonly input: number;
  readonly bytes: number;
  readonly output: number | undefined;
  readonly answers: number;
  readonly ways: readonly string[];
  readonly hourCache: boolean;
  #body: Buffer | undefined;
  #mayGrow: boolean | undefined;

  constructor(body: Buffer, { output, answers, ways, hourCache = false }: Said) {
    this.bytes = body.length;
    this.input = Math.min(MOST_ESTIMATED, tokensIn(body.length));
    this.output = output === undefined ? undefined : Math.min(MOST_OUTPUT, output);
    this.answers = answers;
    this.ways = ways;
    this.hourCache = hourCache;
    this.#body = body;
  }

  /** Read once, and only where somebody asks while the body is here. */
  get mayGrow(): boolean {
    this.#mayGrow ??= this.#body !== undefined && this.bytes < MOST_INPUT && mayGrow(this.#body);
    return this.#mayGrow;
  }

  /** The call has been let in or refused. */
  letGo(): void {
    this.#body = undefined;
  }
}

/** An answer of a model that has not answered this caller yet, where the request sets no limit. */
const FIRST_GUESS = 4096;
/** What a vendor may add to the first such call of a caller: tokens of what it keeps or finds, and searches. */
const FIRST_ADDED = { input: 200_000, searches: 10 } as const;
/** Pairs of caller and model whose answers are remembered. */
const MOST_KNOWN = 10_000;
/** How quickly a single long answer is forgotten: by a tenth with each shorter one. */
const FADING = 0.9;

/** Tokens that one caller’s calls to one model have come to. */
export interface Answers {
  /** About the longest answer lately; undefined before the first. */
  longest: number | undefined;
  /** About the longest input lately. */
  longestInput: number;
  /** About the most tokens for a byte of the request lately. */
  density: number;
  /** About the most lately that a call cost beside its tokens, in billionths of a dollar. */
  surcharge: number;
}

/** Knows how long answers get: the request's own limit, else about the longest answer that this caller has had from this model lately. */
export class LearnedUse {
  /** By caller, then by model. */
  readonly #known = new Map<string, Map<string | null, Answers>>();
  #size = 0;

  /** The answers that a call is one of. They are found once, and go along with it until it has ended. */
  of({ owner, model }: Call): Answers {
    return this.#known.get(shareOfOwner(owner))?.get(model) ?? { longest: undefined, longestInput: 0, density: 0, surcharge: 0 };
  }

  /** The call has ended. `surcharge`: what it cost beside its tokens. */
  hear({ owner, model, bound }: Call, answers: Answers, { usage }: Pick<CallEnding, 'usage'>, surcharge = 0): void {
    if (usage === null) return;
    const kept = answers.longest === undefined ? this.#keep(shareOfOwner(owner), model, answers) : answers;
    const { input_tokens: input, output_tokens: output } = usage;
    kept.longest = faded(kept.longest ?? 0, output);
    kept.longestInput = faded(kept.longestInput, input);
    kept.surcharge = faded(kept.surcharge, surcharge);
    if (bound?.bytes !== undefined) kept.density = Math.max(input / Math.max(1, bound.bytes), kept.density * FADING);
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

function faded(before: number, now: number): number {
  return Math.max(now, Math.round(before * FADING));
}

/** The longest answer that a call will get, by its own word or by experience. */
export function outputOf({ bound }: Call, { longest }: Answers): number {
  return bound?.output ?? longest ?? FIRST_GUESS * (bound?.answers ?? 1);
}

/**
 * The longest input that a call may have. A byte is a token at most, and about a quarter of one as a rule; how many it is for this caller, and what
 * the vendor adds of its own, is known from its calls before.
 */
export function inputOf({ bound }: Call, { longest, longestInput, density }: Answers): number {
  if (bound?.bytes === undefined) return bound?.input ?? 0;
  const { input, bytes } = bound;
  if (longest !== undefined) return Math.max(input, Math.min(Math.ceil(bytes * density), Math.max(longestInput, bytes)));
  const written = Math.max(input, Math.min(MOST_INPUT, bytes));
  return bound.mayGrow === true ? Math.max(written, FIRST_ADDED.input) : written;
}

/** The searches that a call may make, as far as what they cost is not known from calls before. */
export function searchesOf({ bound }: Call, { longest }: Answers): number {
  return longest === undefined && bound?.mayGrow === true ? FIRST_ADDED.searches : 0;
}

/** All tokens of a call: those sent, read from a cache or not, and those answered. */
export function tokensOf({ input_tokens: input, output_tokens: output }: ReceiptUsage): number {
  return input + output;
}

import type { Observed } from '../../dialects/dialect.ts';
import type { AnswerRecord } from '../../mapping/answers/account.ts';

/** What the receipt says of an answer that the caller did not get. */
export interface FailedFacts {
  /** What it used: the engine charges for it, whatever became of it. */
  readonly observed: Observed;
  readonly record: AnswerRecord;
}

/** An answer that came as a whole, and in place of which the caller gets an error. */
export class FailedAnswer extends Error {
  readonly reason: unknown;
  readonly facts: FailedFacts;

  constructor(reason: unknown, facts: FailedFacts) {
    super(reason instanceof Error ? reason.message : String(reason));
    this.reason = reason;
    this.facts = facts;
  }
}

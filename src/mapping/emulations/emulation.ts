import type { FateNote } from '../../dialects/dialect.ts';
import type { IrRequest } from '../../ir/request.ts';
import type { AnswerChange } from '../answer-filter.ts';

/** A capability that the mapping layer provides itself: what it does to the request and to the answer. */
export interface Emulation {
  /** The emulation in words, for the fidelity record and for the list of emulations. */
  readonly notes: readonly FateNote[];
  readonly request: IrRequest;
  readonly change: AnswerChange;
}

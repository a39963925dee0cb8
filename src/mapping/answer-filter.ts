import type { IrEvent } from '../ir/event.ts';
import { Fold, unfold } from '../ir/fold.ts';
import type { IrResponse } from '../ir/response.ts';

/** Changes an answer on its way to the caller, event by event. */
export interface AnswerFilter {
  filter(event: IrEvent): IrEvent[];
  /** The filter ended the answer itself; the engine need not go on. */
  readonly done?: boolean;
}

/** All filters in order, as one. */
export function chain(filters: readonly AnswerFilter[]): AnswerFilter {
  return {
    filter: (event) => filters.reduce<IrEvent[]>((events, filter) => events.flatMap((one) => filter.filter(one)), [event]),
    get done(): boolean {
      return filters.some((filter) => filter.done === true);
    },
  };
}

/** The same filters for an answer in one piece. */
export function filterWhole(response: IrResponse, filter: AnswerFilter): IrResponse {
  const fold = new Fold();
  for (const event of unfold(response)) for (const out of filter.filter(event)) fold.push(out);
  return fold.response() ?? response;
}

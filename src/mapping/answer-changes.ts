import type { IrAnswerEvent, IrEvent } from '../ir/event.ts';
import { isQuickSchema } from '../negotiation/json-schema.ts';
import type { AnswerChange, AnswerFilter, FilterNote } from './answer-filter.ts';
import { CustomFilter } from './emulations/custom-tool.ts';
import { ForcedToolFilter } from './emulations/forced-tool.ts';
import { SingleCallFilter } from './emulations/single-call.ts';
import { StopFilter } from './emulations/stop-cut.ts';
import { UnwrapFilter } from './emulations/wrapped-answer.ts';
import { inputEstimate } from './input-estimate.ts';
import { idFilter } from './tools/tool-ids.ts';
import { nameFilter } from './tools/tool-names.ts';
import { WrappedCallsFilter } from './tools/tool-schemas.ts';

function filterOf(change: AnswerChange): AnswerFilter {
  switch (change.kind) {
    case 'input-estimate':
      return inputEstimate(change.tokens);
    case 'tool-names':
      return nameFilter(change.renames);
    case 'tool-ids':
      return idFilter(change.rule, change.taken);
    case 'custom-tools':
      return new CustomFilter(change.names);
    case 'wrapped-calls':
      return new WrappedCallsFilter(change.names);
    case 'forced-tool':
      return new ForcedToolFilter(change);
    case 'json-answer':
      return { filter: (event) => [event] };
    case 'single-call':
      return new SingleCallFilter();
    case 'unwrap':
      return new UnwrapFilter();
    case 'stop-cut':
      return new StopFilter(change.stop);
  }
}

/** All changes of a call in order, for the answer and for each further one that the caller asked for. */
export class AnswerChanges {
  readonly #changes: readonly AnswerChange[];
  readonly #filters: readonly AnswerFilter[];
  readonly #others = new Map<number, readonly AnswerFilter[]>();

  constructor(changes: readonly AnswerChange[]) {
    this.#changes = changes;
    this.#filters = changes.map(filterOf);
  }

  /** A filter ended the answer itself; the engine need not go on. */
  get done(): boolean {
    return this.#filters.some((filter) => filter.done === true);
  }

  get notes(): readonly FilterNote[] {
    return [this.#filters, ...this.#others.values()].flatMap((filters) => filters.flatMap(({ notes = [] }) => notes));
  }

  /** Whether checking the answer may take so long that other calls would wait: it is held to a large schema, or to one with patterns. */
  get slow(): boolean {
    return this.#changes.some((change) => change.kind === 'forced-tool' && change.schema !== undefined && !isQuickSchema(change.schema));
  }

  /** The caller asked for JSON. */
  get json(): boolean {
    return this.#changes.some(({ kind }) => kind === 'json-answer');
  }

  filter(event: IrEvent): readonly IrEvent[] {
    if (event.type !== 'choice') return through(this.#filters, event);
    const { choice } = event;
    // All usage is told by the first answer.
    const filters = this.#others.get(choice) ?? this.#changes.filter(({ kind }) => kind !== 'input-estimate').map(filterOf);
    this.#others.set(choice, filters);
    return through(filters, event.event).map((out) => ({ type: 'choice', choice, event: out }));
  }
}

function through(filters: readonly AnswerFilter[], event: IrAnswerEvent): readonly IrAnswerEvent[] {
  let events = [event];
  for (const filter of filters) {
    const [only] = events;
    events = events.length === 1 && only !== undefined ? filter.filter(only) : events.flatMap((one) => filter.filter(one));
  }
  return events;
}

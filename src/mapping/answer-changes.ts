import type { IrAnswerEvent, IrEvent } from '../ir/event.ts';
import { tokensIn } from '../ir/token-estimate.ts';
import { type IrUsage, NO_USAGE } from '../ir/usage.ts';
import { isQuickSchema } from '../negotiation/json-schema.ts';
import type { JsonAsked, JsonVerdict } from '../negotiation/post-processing.ts';
import type { AnswerChange, AnswerFilter, FilterNote } from './answer-filter.ts';
import { CustomFilter } from './emulations/custom-tool.ts';
import { ForcedToolFilter } from './emulations/forced-tool.ts';
import { SingleCallFilter } from './emulations/single-call.ts';
import { StopFilter } from './emulations/stop-cut.ts';
import { BareFilter, UnwrapFilter } from './emulations/wrapped-answer.ts';
import { idFilter } from './tools/tool-ids.ts';
import { nameFilter } from './tools/tool-names.ts';
import { WrappedCallsFilter } from './tools/tool-schemas.ts';

function filterOf(change: AnswerChange, aside: boolean): AnswerFilter {
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
      return new ForcedToolFilter(change, aside);
    case 'json-answer':
      return { filter: (event) => [event] };
    case 'single-call':
      return new SingleCallFilter();
    case 'unwrap':
      return new UnwrapFilter();
    case 'bare-text':
      return new BareFilter();
    case 'stop-cut':
      return new StopFilter(change.stop);
  }
}

/** All changes of a call in order, for the answer and for each further one that the caller asked for. */
export class AnswerChanges {
  readonly #changes: readonly AnswerChange[];
  readonly #filters: readonly AnswerFilter[];
  readonly #others = new Map<number, readonly AnswerFilter[]>();
  readonly #aside: boolean;

  /** `aside`: the reader of the answer has `open` questions answered on another thread. */
  constructor(changes: readonly AnswerChange[], aside = false) {
    this.#changes = changes;
    this.#aside = aside;
    this.#filters = this.#filtersOf(changes);
  }

  #filtersOf(changes: readonly AnswerChange[]): readonly AnswerFilter[] {
    return changes.map((change) => filterOf(change, this.#aside));
  }

  /** A question that the end of the answer waits for. */
  get open(): JsonAsked | undefined {
    return this.#waiting()?.filter.open;
  }

  /** Answers the open question; the rest of the answer comes out. */
  settle(verdict: JsonVerdict): readonly IrEvent[] {
    const waiting = this.#waiting();
    if (waiting === undefined) return [];
    const { choice, filters, filter } = waiting;
    const behind = filters.slice(filters.indexOf(filter) + 1);
    const events = (filter.settle?.(verdict) ?? []).flatMap((event) => through(behind, event));
    return choice === undefined ? events : events.map((event) => ({ type: 'choice', choice, event }));
  }

  #waiting(): { choice?: number; filters: readonly AnswerFilter[]; filter: AnswerFilter } | undefined {
    const isOpen = (filter: AnswerFilter): boolean => filter.open !== undefined;
    const first = this.#filters.find(isOpen);
    if (first !== undefined) return { filters: this.#filters, filter: first };
    for (const [choice, filters] of this.#others) {
      const filter = filters.find(isOpen);
      if (filter !== undefined) return { choice, filters, filter };
    }
    return undefined;
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
    const filters = this.#others.get(choice) ?? this.#filtersOf(this.#changes.filter(({ kind }) => kind !== 'input-estimate'));
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

/**
 * Callers whose stream begins with the input count decide by it when to compact their context, and most engines tell it only at the
 * end. The beginning gets an estimate; the end has the engine's own counts, or estimates too where the engine never tells any.
 */
export function inputEstimate(tokens: number): AnswerFilter {
  let written = 0;
  const estimated = (usage: IrUsage): IrUsage => ({
    ...usage,
    inputTokens: tokens,
    outputTokens: usage.outputTokens === 0 ? tokensIn(written) : usage.outputTokens,
    estimated: true,
  });
  return {
    filter: (event: IrAnswerEvent) => {
      if (event.type === 'part-delta') written += event.text.length;
      if (event.type !== 'message-start' && event.type !== 'message-end') return [event];
      const usage = event.usage ?? NO_USAGE;
      return [usage.inputTokens > 0 ? event : { ...event, usage: estimated(usage) }];
    },
  };
}

import { type JsonObject, parseJsonObject } from '../../base/json.ts';
import type { AnswerContext, Dialect, Observed } from '../../dialects/dialect.ts';
import type { IrEvent } from '../../ir/event.ts';
import { Fold } from '../../ir/fold.ts';
import type { IrResponse } from '../../ir/response.ts';
import { addUsage, type IrUsage } from '../../ir/usage.ts';
import { AnswerAccount } from '../../mapping/answers/account.ts';
import type { Holding } from '../bounds/body-budget.ts';

/** How often an engine is asked to go on. Vendors pause after about ten steps of their own tools. */
const MOST_PAUSES = 8;

type End = Extract<IrEvent, { type: 'message-end' }>;

/** A dialect whose engines pause a long turn, and what they then want to be sent. */
export type PausingDialect = Dialect & Required<Pick<Dialect, 'resumed'>>;

export interface PausedTurnsOptions {
  readonly engine: PausingDialect;
  readonly caller: Dialect;
  /** The request as the engine got it. */
  readonly request: Buffer;
  readonly context: AnswerContext;
  readonly holding: Holding;
}

/**
 * An answer that an engine gives in several pieces: it pauses a long turn of its own tools and expects its words back to go on. Callers of
 * other dialects know no such thing, so that they read the pieces as one answer with the usage of all.
 */
export class PausedTurns {
  readonly #options: PausedTurnsOptions;
  /** The fates of all pieces together. */
  readonly account: AnswerAccount;
  /** The answer so far, in the engine's own words. */
  readonly #fold = new Fold();
  #pauses = 0;
  #used: IrUsage | undefined;
  #end: End | undefined;
  /** Parts of the piece under way count from here, … */
  #from = 0;
  /** … and those of the next one from here. */
  #next = 0;

  constructor(options: PausedTurnsOptions) {
    this.#options = options;
    this.account = new AnswerAccount(options.engine, options.caller);
    options.holding.take(options.request.length);
  }

  /** The engine waits to be asked to go on. */
  get paused(): boolean {
    return this.#end !== undefined;
  }

  /** The pieces as one answer, once the last has come. */
  get answer(): IrResponse | undefined {
    return this.#fold.response();
  }

  /** The usage of the pieces before a failure. */
  get spent(): Observed | undefined {
    return this.#used === undefined ? undefined : { usage: this.#used, toolCalls: [] };
  }

  /** Tells the receipt of pauses that the caller does not see. */
  tell(): void {
    if (this.#pauses === 0 || this.#fold.response()?.finish === 'pause') return;
    const times = this.#pauses === 1 ? 'once' : `${this.#pauses} times`;
    const note = `the engine paused its turn ${times}, and the gateway asked it to go on; usage is the sum of all calls`;
    this.account.note('stop_reason', { fate: 'emulated', code: 'paused_and_continued', note });
  }

  /** An event of the engine as it stands in the whole answer; undefined for one that the caller must not see. */
  take(event: IrEvent): IrEvent | undefined {
    const placed = this.#placed(event);
    this.#fold.push(placed);
    if (placed.type === 'message-end') return this.#ended(placed);
    return placed.type === 'message-start' && this.#pauses > 0 ? undefined : placed;
  }

  /** The usage of a piece that has begun, with that of those before it. */
  begun(usage: IrUsage | undefined): IrUsage | undefined {
    return usage === undefined ? this.#used : this.#sum(usage);
  }

  /** The request that makes the engine go on; undefined where its pause cannot be answered. */
  goOn(): Buffer | undefined {
    const { engine, context, request } = this.#options;
    const end = this.#end;
    const answer = this.#fold.response();
    const body = parseJsonObject(request.toString('utf8'));
    if (end === undefined || answer === undefined || body === undefined) return undefined;
    this.#end = undefined;
    this.#used = end.usage;
    this.#pauses += 1;
    this.#from = this.#next;
    const resumed: JsonObject = engine.resumed(body, engine.lowerResponse(answer, context));
    return Buffer.from(JSON.stringify(resumed), 'utf8');
  }

  #ended(end: End): IrEvent | undefined {
    if (end.finish !== 'pause' || this.#pauses >= MOST_PAUSES) return end;
    this.#end = end;
    return undefined;
  }

  #sum(usage: IrUsage): IrUsage {
    return this.#used === undefined ? usage : addUsage(this.#used, usage);
  }

  #placed(event: IrEvent): IrEvent {
    if (event.type === 'message-end') return { ...event, usage: this.#sum(event.usage) };
    if (!('index' in event)) return event;
    const index = this.#from + event.index;
    this.#next = Math.max(this.#next, index + 1);
    return { ...event, index };
  }
}

/** Whether the engine's dialect is one that pauses, and the caller's another. */
export function pauses(engine: Dialect, caller: Dialect): engine is PausingDialect {
  return engine.resumed !== undefined && engine.id !== caller.id;
}

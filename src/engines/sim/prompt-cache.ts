import { sha256 } from '../../base/canonical-json.ts';
import { type Clock, systemClock } from '../../base/clock.ts';
import type { IrEvent } from '../../ir/event.ts';
import type { IrRequest } from '../../ir/request.ts';
import type { SimPlan } from './plan.ts';

/** The beginning of a prompt up to the end of one of its messages: what it is, and which part of all tokens it has. */
export interface Prefix {
  readonly sha256: string;
  readonly part: number;
}

/** Vendors forget a prompt five minutes after its last use, or an hour after it where the request asks for that. */
const LIFETIME_MS = 5 * 60_000;
const LONG_LIFETIME_MS = 60 * 60_000;
const LONG_MARK = Buffer.from('"1h"');
const MOST_PREFIXES = 20_000;

/** Every beginning of a prompt that a vendor's cache could know: tools and system prompt first, then message by message. */
export function prefixesOf({ model, tools, messages }: IrRequest): Prefix[] {
  const texts = [JSON.stringify({ model, tools }, withoutMarks), ...messages.map((message) => JSON.stringify(message, withoutMarks))];
  const total = texts.reduce((sum, text) => sum + text.length, 0);
  let [before, length] = ['', 0];
  return texts.map((text) => {
    before = sha256(before + text);
    length += text.length;
    return { sha256: before, part: length / total };
  });
}

/** Marks and places are no words of the prompt: they may move from call to call. */
function withoutMarks(name: string, value: unknown): unknown {
  return name === 'meta' || name === 'at' ? undefined : value;
}

/** The prompts that one deployment of the sim remembers, as each key of a vendor does. */
export class PromptCache {
  readonly #until = new Map<string, number>();
  readonly #clock: Clock;

  constructor(clock: Clock = systemClock) {
    this.#clock = clock;
  }

  /** The part of a prompt that is known, up to its last but one message at most; from now on all of it is. */
  use(prefixes: readonly Prefix[], body: Buffer): number {
    const now = this.#clock.now();
    const known = prefixes.slice(0, -1).findLast(({ sha256: hash }) => (this.#until.get(hash) ?? 0) > now);
    const until = now + (body.includes(LONG_MARK) ? LONG_LIFETIME_MS : LIFETIME_MS);
    for (const { sha256: hash } of prefixes) {
      const before = this.#until.get(hash) ?? 0;
      this.#until.delete(hash);
      this.#until.set(hash, Math.max(before, until));
    }
    for (const oldest of this.#until.keys()) {
      if (this.#until.size <= MOST_PREFIXES) break;
      this.#until.delete(oldest);
    }
    return known?.part ?? 0;
  }
}

/** The plan with usage that tells how much of the prompt came from memory. */
export function planWithCache(plan: SimPlan, part: number): SimPlan {
  if (part === 0) return plan;
  const steps = plan.steps.map((step) => (step.kind === 'event' ? { ...step, event: eventWithCache(step.event, part) } : step));
  return { ...plan, steps };
}

function eventWithCache(event: IrEvent, part: number): IrEvent {
  if ((event.type !== 'message-start' && event.type !== 'message-end') || event.usage === undefined) return event;
  return { ...event, usage: { ...event.usage, cacheReadTokens: Math.floor(event.usage.inputTokens * part) } };
}

import { isJsonObject, type Json, type JsonObject, objectIn, parseJson } from '../../base/json.ts';
import { decodeSse } from '../../base/sse.ts';
import type { IrEvent } from '../../ir/event.ts';
import { NO_USAGE, usageDetails } from '../../ir/usage.ts';
import type { Observed, ObservedToolCall, StreamObserver } from '../dialect.ts';
import { pricedTier } from '../openai-tier.ts';
import { AnswerReader } from './answers/read-answer.ts';

const TELLING = ['"functionCall"', '"finishReason"', '"error"', '"promptFeedback"', '"groundingMetadata"', '"interaction"'].map((word) =>
  Buffer.from(word),
);

/** Chunks of text are most of a stream and tell nothing that a receipt needs, save the usage of the last one. */
function matters(frame: Buffer): boolean {
  return TELLING.some((word) => frame.includes(word));
}

/** Memory that a call takes besides its arguments. */
const CALL_HELD = 256;

/** Gathers the facts for the receipt that an answer has told so far. */
class Sighting {
  readonly #reader = new AnswerReader();
  readonly #calls = new Map<number, { readonly id: string; readonly name: string; arguments: string }>();
  #model: string | undefined;
  #error: string | undefined;
  #seen = false;
  /** The end of a stream of the Interactions API, which holds the whole without its words. */
  #interaction: JsonObject | undefined;
  /** Characters of all calls. */
  held = 0;

  see(chunk: Json): void {
    this.#seen = true;
    const interaction = isJsonObject(chunk) ? objectIn(chunk.interaction) : undefined;
    if (interaction !== undefined) {
      if (typeof interaction.model === 'string') this.#model = interaction.model;
      if (isJsonObject(interaction.usage)) this.#interaction = interaction;
      return;
    }
    for (const event of this.#reader.read(chunk)) this.#note(event);
  }

  #note(event: IrEvent): void {
    if (event.type === 'message-start') this.#model = event.model ?? this.#model;
    else if (event.type === 'error') this.#error = event.error.message;
    else if (event.type === 'part-start' && event.part.kind === 'tool-call') {
      this.held += CALL_HELD;
      this.#calls.set(event.index, { id: event.part.id, name: event.part.name, arguments: '' });
    } else if (event.type === 'part-delta') {
      const call = this.#calls.get(event.index);
      if (call === undefined) return;
      call.arguments += event.text;
      this.held += event.text.length;
    }
  }

  /** A stream that was cut has usage, too; only a reason to stop makes a finish. */
  done(whole: boolean): Observed {
    const interaction = this.#interaction;
    if (interaction !== undefined) {
      const seen = observeInteraction(interaction, objectIn(interaction.usage) ?? {});
      return { ...(this.#model === undefined ? {} : { model: this.#model }), ...seen, finish: 'stop' };
    }
    const cut = !this.#reader.stopped && !whole;
    const last = cut || !this.#seen ? [] : this.#reader.end(whole);
    for (const event of last) this.#note(event);
    const end = last.find((event) => event.type === 'message-end');
    return {
      ...(this.#model === undefined ? {} : { model: this.#model }),
      ...(this.#reader.hasUsage ? { usage: this.#reader.usage } : {}),
      ...(end === undefined ? {} : { finish: end.finish }),
      toolCalls: [...this.#calls.values()].map((call): ObservedToolCall => ({ ...call, arguments: call.arguments || '{}' })),
      ...(this.#error === undefined ? {} : { error: this.#error }),
    };
  }
}

export function observeStream(): StreamObserver {
  const sighting = new Sighting();
  let skipped: Buffer | undefined;
  const see = (frame: Buffer): void => {
    const parsed = parseJson(decodeSse(frame).data);
    if (parsed.ok) sighting.see(parsed.value);
  };
  return {
    frame: (frame) => {
      skipped = matters(frame) ? undefined : frame;
      if (skipped === undefined) see(frame);
    },
    get held() {
      return sighting.held + (skipped?.length ?? 0);
    },
    done: () => {
      if (skipped !== undefined) see(skipped);
      return sighting.done(false);
    },
  };
}

/** One answer, or the JSON array of a stream without SSE. */
export function observeBody(body: string): Observed {
  const parsed = parseJson(body);
  if (parsed.ok && isJsonObject(parsed.value) && isJsonObject(parsed.value.usage))
    return observeInteraction(parsed.value, parsed.value.usage);
  const sighting = new Sighting();
  if (parsed.ok && typeof parsed.value === 'object' && parsed.value !== null) sighting.see(parsed.value);
  return sighting.done(true);
}

/** An answer of the Interactions API, whose usage has words of its own. */
function observeInteraction({ id, model, service_tier: tier }: JsonObject, usage: JsonObject): Observed {
  const counted = (key: string): number => (typeof usage[key] === 'number' ? usage[key] : 0);
  const thinkingTokens = counted('total_thought_tokens') || counted('total_reasoning_tokens');
  return {
    ...(typeof model === 'string' ? { model } : {}),
    ...(typeof id === 'string' ? { once: { name: `interactions/${id}`, from: 0, to: 1 } } : {}),
    usage: {
      ...NO_USAGE,
      inputTokens: counted('total_input_tokens') + counted('total_tool_use_tokens'),
      outputTokens: counted('total_output_tokens') + thinkingTokens,
      cacheReadTokens: counted('total_cached_tokens'),
      thinkingTokens,
      ...usageDetails({ tier: pricedTier(tier) }),
    },
    toolCalls: [],
  };
}

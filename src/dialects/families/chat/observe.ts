import { isJsonObject, type JsonObject, parseJson, parseJsonObject } from '../../../base/json.ts';
import { decodeSse } from '../../../base/sse.ts';
import { EngineFailure } from '../../../ir/engine-failure.ts';
import type { IrUsage } from '../../../ir/usage.ts';
import type { Observed, ObservedToolCall, StreamObserver } from '../../dialect.ts';
import { Calls } from './answers/calls.ts';
import { errorOf } from './errors.ts';
import type { ChatFlavour } from './flavour.ts';
import { finishOf, isAnswer, liftChatResponse, liftUsage, withSearches } from './lift-response.ts';
import * as wire from './wire.ts';

/** Members that matter to a receipt; most chunks have them as null or not at all. */
const KEYS = ['"usage"', '"finish_reason"', '"tool_calls"', '"function_call"', '"error"', '"refusal"', '"annotations"'].map((key) =>
  Buffer.from(key),
);
const COLON = 0x3a;
const SPACE = 0x20;
const NULL = 0x6e;

/** Whether some occurrence of the key has a value. Inside a JSON string its closing quote would be escaped, so text never matches. */
function isTold(frame: Buffer, key: Buffer): boolean {
  for (let at = frame.indexOf(key); at !== -1; at = frame.indexOf(key, at + key.length)) {
    let next = at + key.length;
    while (frame[next] === COLON || frame[next] === SPACE) next += 1;
    if (frame[next] !== NULL) return true;
  }
  return false;
}

/** Gathers the facts for the receipt that a stream has told so far. */
class Sighting {
  readonly #calls = new Calls();
  #id: string | undefined;
  #model: string | undefined;
  #usage: wire.Usage | undefined;
  #tier: string | undefined;
  #reason: string | undefined;
  #refused = false;
  #error: string | undefined;
  readonly #annotations: unknown[] = [];

  /** The first chunk with a choice names the answer. */
  get named(): boolean {
    return this.#id !== undefined;
  }

  see(chunk: wire.Chunk): void {
    if (isJsonObject(chunk.error) || typeof chunk.error === 'string') this.#error ??= errorOf(200, { error: chunk.error }).message;
    this.#model ??= chunk.model || undefined;
    this.#tellUsage(chunk.usage ?? chunk.x_groq?.usage);
    this.#tier = chunk.service_tier ?? this.#tier;
    for (const choice of chunk.choices ?? []) this.#choice(choice, chunk.id ?? '');
  }

  #choice(choice: wire.ChunkChoice, id: string): void {
    this.#id ??= id;
    if (!isAnswer(choice)) return;
    this.#tellUsage(choice.usage);
    this.#reason = choice.finish_reason ?? this.#reason;
    const delta = choice.delta ?? choice.message;
    this.#refused ||= Boolean(delta?.refusal);
    this.#annotations.push(...(delta?.annotations ?? []));
    for (const piece of delta?.tool_calls ?? []) this.#calls.add(piece, this.#id || undefined);
    if (delta?.function_call) this.#calls.add({ function: delta.function_call }, this.#id || undefined);
  }

  #tellUsage(usage: wire.Usage | null | undefined): void {
    if (usage && (this.#usage === undefined || (usage.total_tokens ?? usage.prompt_tokens ?? 0) > 0)) this.#usage = usage;
  }

  get held(): number {
    return this.#calls.held;
  }

  done(): Observed {
    const calls = this.#calls.list;
    const finish = finishOf({
      reason: this.#reason,
      calls: calls.length > 0,
      refused: this.#refused,
    });
    const usage: IrUsage | undefined = this.#usage && withSearches(liftUsage(this.#usage, this.#tier), this.#annotations, this.#model);
    return {
      ...(this.#model === undefined ? {} : { model: this.#model }),
      ...(usage === undefined ? {} : { usage }),
      ...(this.#reason === undefined ? {} : { finish }),
      toolCalls: calls.map(
        (call): ObservedToolCall => ({
          id: call.id,
          name: call.name,
          arguments: call.arguments === '' && !call.custom ? '{}' : call.arguments,
        }),
      ),
      ...(this.#error === undefined ? {} : { error: this.#error }),
    };
  }
}

export function observeChatStream(): StreamObserver {
  const sighting = new Sighting();
  return {
    frame: (frame) => {
      if (sighting.named && !KEYS.some((key) => isTold(frame, key))) return;
      const parsed = parseJson(decodeSse(frame).data);
      const chunk = parsed.ok ? wire.Chunk.safeParse(parsed.value) : undefined;
      if (chunk?.success) sighting.see(chunk.data);
    },
    get held() {
      return sighting.held;
    },
    done: () => sighting.done(),
  };
}

export function observeChatBody(flavour: ChatFlavour, body: string): Observed {
  const value = parseJsonObject(body);
  if (value === undefined) return { toolCalls: [] };
  const known = wire.Response.safeParse(value);
  if (value.object === 'list' && isJsonObject(value.usage)) return embedded(value);
  if (!known.success) return { toolCalls: [], ...(value.error === undefined ? {} : { error: errorOf(0, value).message }) };
  try {
    const { model, parts, finish, usage } = liftChatResponse(flavour, value);
    return {
      ...(model === '' ? {} : { model }),
      ...(known.data.usage ? { usage } : {}),
      finish,
      toolCalls: parts.flatMap((part): ObservedToolCall[] =>
        part.kind === 'tool-call' ? [{ id: part.id, name: part.name, arguments: part.arguments }] : [],
      ),
    };
  } catch (thrown) {
    if (!(thrown instanceof EngineFailure)) throw thrown;
    const { model, usage, service_tier: tier } = known.data;
    return { ...(model ? { model } : {}), ...(usage ? { usage: liftUsage(usage, tier) } : {}), toolCalls: [], error: thrown.error.message };
  }
}

/** Embeddings are billed by what was read; there is nothing else to tell. */
function embedded({ model, usage }: JsonObject): Observed {
  const known = wire.Usage.safeParse(usage);
  return { toolCalls: [], ...(typeof model === 'string' ? { model } : {}), ...(known.success ? { usage: liftUsage(known.data) } : {}) };
}

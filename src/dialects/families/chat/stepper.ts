import { isJsonObject, type Json, type JsonObject, parseJson } from '../../../base/json.ts';
import type { SseEvent } from '../../../base/sse.ts';
import { packMeta, unpackMeta } from '../../../ir/carrier.ts';
import type { IrEvent, IrPartStart } from '../../../ir/event.ts';
import type { VendorMeta } from '../../../ir/part.ts';
import type { Stepper } from '../../dialect.ts';
import { Calls, type OpenCall, textOf } from './calls.ts';
import { errorOf } from './errors.ts';
import type { ChatFlavour } from './flavour.ts';
import { endOf, finishOf, isAnswer, liftUsage, matchedStop, textMeta, withSearches } from './lift-response.ts';
import { mergeState } from './state.ts';
import * as wire from './wire.ts';

type Voice = 'thinking' | 'text' | 'refusal';
/** Whose state it is: the reasoning's, or the first call's, which stands right before that call. */
type Owner = 'thinking' | 'call';

/**
 * Reads a Chat stream. The wire has no part boundaries: a part opens with its first delta and closes when another kind begins;
 * calls stay open until the answer ends, because their pieces may come mixed. Usage may stand in any chunk, also after the end.
 */
export class ChatStepper implements Stepper {
  readonly #flavour: ChatFlavour;
  readonly #calls = new Calls();
  /** Parts of calls whose name has been told. */
  readonly #callParts = new Map<OpenCall, number>();
  #parts = 0;
  #voice: { readonly kind: Voice; readonly index: number } | undefined;
  #id: string | undefined;
  #started = false;
  #ended = false;
  #reason: string | undefined;
  #matched: string | undefined;
  #refused = false;
  #usage: wire.Usage | undefined;
  #state: JsonObject | undefined;
  #logprobs: unknown[] = [];
  #annotations: unknown[] = [];
  readonly #cited: unknown[] = [];

  constructor(flavour: ChatFlavour) {
    this.#flavour = flavour;
  }

  step(event: SseEvent): IrEvent[] {
    if (this.#ended) return [];
    if (event.data === '[DONE]') return this.#started ? this.#finish() : [];
    const parsed = parseJson(event.data);
    const chunk = parsed.ok ? wire.Chunk.safeParse(parsed.value) : undefined;
    if (!chunk?.success) return [];
    return isTold(chunk.data.error) ? this.#fail(parsed.ok ? parsed.value : null) : this.#chunk(chunk.data);
  }

  end(): IrEvent[] {
    if (this.#ended) return [];
    if (this.#reason !== undefined) return this.#finish();
    this.#ended = true;
    return [{ type: 'error', error: { kind: 'server', message: 'the engine closed the stream early', status: 200 } }];
  }

  #fail(body: Json): IrEvent[] {
    this.#ended = true;
    return [{ type: 'error', error: errorOf(200, body) }];
  }

  #chunk(chunk: wire.Chunk): IrEvent[] {
    const events: IrEvent[] = [];
    const choices = chunk.choices ?? [];
    if (!this.#started && choices.length > 0) events.push(this.#start(chunk));
    this.#tellUsage(chunk.usage);
    for (const choice of choices) if (isAnswer(choice)) this.#choice(choice, events);
    return events;
  }

  #start(chunk: wire.Chunk): IrEvent {
    this.#started = true;
    this.#id = chunk.id || undefined;
    return { type: 'message-start', ...(this.#id === undefined ? {} : { id: this.#id }), ...(chunk.model ? { model: chunk.model } : {}) };
  }

  /** Told once more, usage is repeated, not added; some engines tell zeros until the end. */
  #tellUsage(usage: wire.Usage | null | undefined): void {
    if (usage && (this.#usage === undefined || (usage.total_tokens ?? usage.prompt_tokens ?? 0) > 0)) this.#usage = usage;
  }

  #choice(choice: wire.ChunkChoice, events: IrEvent[]): void {
    this.#tellUsage(choice.usage);
    const { delta } = choice;
    if (delta) {
      this.#reasoning(delta, events);
      if (delta.content) this.#say('text', delta.content, events);
      if (delta.refusal) this.#say('refusal', delta.refusal, events);
      if (delta.annotations) this.#annotations.push(...delta.annotations);
      for (const piece of delta.tool_calls ?? []) this.#call(piece, events);
      if (delta.function_call) this.#call({ function: delta.function_call }, events);
    }
    if (choice.logprobs?.content) this.#logprobs.push(...choice.logprobs.content);
    if (!choice.finish_reason) return;
    this.#reason = choice.finish_reason;
    this.#matched = matchedStop(choice);
    this.#close(events);
  }

  /** The opaque state may come later than the text it belongs to, even with the answer's first words. */
  #reasoning(delta: wire.Delta, events: IrEvent[]): void {
    for (const name of this.#flavour.reasoning) {
      const text = delta[name];
      if (typeof text !== 'string') continue;
      if (text !== '') this.#say('thinking', text, events);
      break;
    }
    this.#state = mergeState(this.#flavour, this.#state, delta);
  }

  #say(kind: Voice, text: string, events: IrEvent[]): void {
    if (this.#voice?.kind !== kind) {
      this.#hush(events);
      if (kind !== 'thinking') this.#seal(['thinking'], events);
      this.#voice = { kind, index: this.#open({ kind }, events) };
      this.#refused ||= kind === 'refusal';
    }
    events.push({ type: 'part-delta', index: this.#voice.index, text });
  }

  #open(part: IrPartStart, events: IrEvent[]): number {
    const index = this.#parts++;
    events.push({ type: 'part-start', index, part });
    return index;
  }

  /** Ends the part that is being spoken. */
  #hush(events: IrEvent[]): void {
    const voice = this.#voice;
    if (voice === undefined) return;
    this.#voice = undefined;
    events.push({ type: 'part-end', index: voice.index, ...this.#metaOf(voice.kind) });
  }

  #metaOf(kind: Voice): { meta?: VendorMeta } {
    if (kind === 'refusal') return {};
    if (kind === 'thinking') return this.#takeState('thinking');
    const meta = textMeta(this.#flavour, this.#logprobs, this.#annotations);
    this.#cited.push(...this.#annotations);
    this.#logprobs = [];
    this.#annotations = [];
    return meta;
  }

  /** The state told so far, once: this vendor's own, or what another engine packed into it. */
  #takeState(whose: Owner): { meta?: VendorMeta } {
    const state = this.#state;
    const { carrier, id } = this.#flavour;
    if (state === undefined) return {};
    const packed = carrier === undefined ? undefined : unpackMeta(String(state[carrier] ?? ''));
    if (carrier === undefined || packed === undefined) {
      if (whose === 'call') return {};
      this.#state = undefined;
      return { meta: { [id]: state } };
    }
    const { [whose]: meta, ...rest } = packed;
    this.#state = Object.keys(rest).length === 0 ? undefined : { [carrier]: packMeta(rest) };
    return meta === undefined ? {} : { meta: meta as VendorMeta }; // packed by `carried`
  }

  /** State that found no open part of its own stands in one. */
  #seal(owners: readonly Owner[], events: IrEvent[]): void {
    for (const whose of owners) {
      const { meta } = this.#takeState(whose);
      if (meta === undefined) continue;
      const index = this.#open({ kind: 'thinking', redacted: true, meta }, events);
      events.push({ type: 'part-end', index });
    }
  }

  #call(piece: wire.CallDelta, events: IrEvent[]): void {
    const call = this.#calls.add(piece, this.#id);
    const known = this.#callParts.get(call);
    if (known !== undefined) {
      const text = textOf(piece);
      if (text !== '') events.push({ type: 'part-delta', index: known, text });
      return;
    }
    if (call.name === '') return;
    this.#openCall(call, events);
  }

  #openCall(call: OpenCall, events: IrEvent[]): void {
    this.#hush(events);
    this.#seal(['thinking', 'call'], events);
    const { id, name, custom, extra } = call;
    const meta = extra === undefined ? {} : { meta: { [this.#flavour.id]: { extra_content: extra } } };
    const index = this.#open({ kind: 'tool-call', id, name, ...(custom ? { custom } : {}), ...meta }, events);
    this.#callParts.set(call, index);
    if (call.arguments !== '') events.push({ type: 'part-delta', index, text: call.arguments });
  }

  #close(events: IrEvent[]): void {
    this.#hush(events);
    this.#seal(['thinking', 'call'], events);
    for (const call of this.#calls.list) if (!this.#callParts.has(call)) this.#openCall(call, events);
    for (const [call, index] of this.#callParts) {
      if (index === CLOSED) continue;
      if (call.arguments === '' && !call.custom) events.push({ type: 'part-delta', index, text: '{}' });
      events.push({ type: 'part-end', index });
      this.#callParts.set(call, CLOSED);
    }
  }

  #finish(): IrEvent[] {
    const events: IrEvent[] = [];
    this.#close(events);
    this.#ended = true;
    const calls = this.#calls.list.map((call) => (call.custom ? '' : call.arguments));
    const end = endOf(finishOf({ reason: this.#reason, calls, refused: this.#refused }), this.#matched);
    events.push({ type: 'message-end', ...end, usage: withSearches(liftUsage(this.#usage), [...this.#cited, ...this.#annotations]) });
    return events;
  }
}

/** Marks a call whose part has ended. */
const CLOSED = -1;

function isTold(error: Json | undefined): boolean {
  return typeof error === 'string' || isJsonObject(error);
}

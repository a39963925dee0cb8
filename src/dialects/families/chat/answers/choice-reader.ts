import type { JsonObject } from '../../../../base/json.ts';
import { packMeta, unpackMeta } from '../../../../ir/carrier.ts';
import type { IrAnswerEvent, IrPartStart } from '../../../../ir/event.ts';
import type { TokenLogprob } from '../../../../ir/logprob.ts';
import type { VendorMeta } from '../../../../ir/part.ts';
import type { FinishReason } from '../../../../ir/response.ts';
import { liftAnnotations } from '../../../openai-citations.ts';
import { liftLogprobs } from '../../../openai-logprobs.ts';
import { DETAILS, detailText } from '../details.ts';
import type { ChatFlavour } from '../flavour.ts';
import { endOf, finishOf, isSaid, matchedStop, textMeta } from '../lift-response.ts';
import { mediaParts } from '../media.ts';
import { mergeState } from '../state.ts';
import type * as wire from '../wire.ts';
import { Calls, type OpenCall } from './calls.ts';
import { piecesOf } from './content.ts';

type Voice = 'thinking' | 'text' | 'refusal';
/** Whose state it is: the reasoning's, or the first call's, which stands right before that call. */
type Owner = 'thinking' | 'call';

/**
 * Reads the pieces of one choice. The wire has no part boundaries: a part opens with its first delta and closes when another kind
 * begins; calls stay open until the answer ends, because their pieces may come mixed.
 */
export class ChoiceReader {
  readonly #flavour: ChatFlavour;
  readonly #calls = new Calls();
  /** Parts of calls whose name has been told. */
  readonly #callParts = new Map<OpenCall, number>();
  #parts = 0;
  #voice: { readonly kind: Voice; readonly index: number; length: number } | undefined;
  #reason: string | undefined;
  #matched: string | undefined;
  #refused = false;
  #said = false;
  /** Where the reasoning stands: a member of its own, or the list of details. Servers that tell both say the same twice, so the first one counts. */
  #reasonsIn: 'member' | 'details' | undefined;
  #state: JsonObject | undefined;
  #annotations: unknown[] = [];
  readonly #cited: unknown[] = [];

  constructor(flavour: ChatFlavour) {
    this.#flavour = flavour;
  }

  /** The choice said why it stopped. */
  get stopped(): boolean {
    return this.#reason !== undefined;
  }

  /** The choice held a message or a piece of one, be it an empty one. */
  get said(): boolean {
    return this.#said;
  }

  /** Sources that the answer named. */
  get cited(): readonly unknown[] {
    return [...this.#cited, ...this.#annotations];
  }

  read(choice: wire.ChunkChoice, answerId: string | undefined, events: IrAnswerEvent[]): void {
    const delta = choice.delta ?? choice.message;
    const logprobs = liftLogprobs(choice.logprobs?.content);
    this.#said ||= isSaid(choice);
    if (delta) this.#reasoning(delta, events);
    this.#content(delta?.content, events, logprobs);
    if (delta) this.#beside(delta, answerId, events);
    if (!choice.finish_reason) return;
    this.#reason = choice.finish_reason;
    this.#matched = matchedStop(choice);
    this.#close(events);
  }

  /** Logprobs are those of the text; without one they belong to a later one. */
  #content(content: wire.Delta['content'], events: IrAnswerEvent[], logprobs: readonly TokenLogprob[] | undefined): void {
    const pieces = piecesOf(this.#flavour, content);
    const last = pieces.findLast(({ kind }) => kind === 'text');
    for (const piece of pieces) {
      if (piece.kind === 'vendor') this.#whole(piece, events);
      else this.#say(piece.kind, piece.text, events, piece === last ? logprobs : undefined);
    }
    if (last === undefined && logprobs !== undefined) this.#say('text', '', events, logprobs);
  }

  /** Reads the members of a delta beside its text. */
  #beside(delta: wire.Delta, answerId: string | undefined, events: IrAnswerEvent[]): void {
    if (delta.refusal) this.#say('refusal', delta.refusal, events);
    if (delta.annotations) this.#annotations.push(...delta.annotations);
    for (const part of mediaParts(this.#flavour, delta)) this.#whole(part, events);
    for (const piece of delta.tool_calls ?? []) this.#call(piece, answerId, events);
    if (delta.function_call) this.#call({ function: delta.function_call }, answerId, events);
  }

  /** Ends what is open and tells how the answer ended. */
  end(events: IrAnswerEvent[]): { finish: FinishReason; stopSequence?: string } {
    this.#close(events);
    return endOf(finishOf({ reason: this.#reason, calls: this.#calls.list.length > 0, refused: this.#refused }), this.#matched);
  }

  /** The opaque state may come later than the text it belongs to, even with the answer's first words. */
  #reasoning(delta: wire.Delta, events: IrAnswerEvent[]): void {
    const plain = this.#flavour.reasoning.map((name) => delta[name]).find((text) => typeof text === 'string') ?? '';
    if (plain !== '') this.#reasonsIn ??= 'member';
    const text = this.#reasonsIn === 'member' ? plain : detailText(this.#flavour, delta[DETAILS]);
    if (text !== '') {
      this.#reasonsIn ??= 'details';
      this.#say('thinking', text, events);
    }
    this.#state = mergeState(this.#flavour, this.#state, delta);
  }

  #say(kind: Voice, text: string, events: IrAnswerEvent[], logprobs?: readonly TokenLogprob[]): void {
    if (this.#voice?.kind !== kind) {
      this.#hush(events);
      if (kind !== 'thinking') this.#seal(['thinking'], events);
      this.#voice = { kind, index: this.#open({ kind }, events), length: 0 };
      this.#refused ||= kind === 'refusal';
    }
    const { index } = this.#voice;
    this.#voice.length += text.length;
    events.push(logprobs === undefined ? { type: 'part-delta', index, text } : { type: 'part-delta', index, text, logprobs });
  }

  #open(part: IrPartStart, events: IrAnswerEvent[]): number {
    const index = this.#parts++;
    events.push({ type: 'part-start', index, part });
    return index;
  }

  #whole(part: IrPartStart, events: IrAnswerEvent[]): void {
    this.#hush(events);
    events.push({ type: 'part-end', index: this.#open(part, events) });
  }

  /** Ends the part that is being spoken. */
  #hush(events: IrAnswerEvent[]): void {
    const voice = this.#voice;
    if (voice === undefined) return;
    this.#voice = undefined;
    const citations = voice.kind === 'text' ? liftAnnotations(this.#annotations, voice.length) : {};
    events.push({ type: 'part-end', index: voice.index, ...citations, ...this.#metaOf(voice.kind) });
  }

  #metaOf(kind: Voice): { meta?: VendorMeta } {
    if (kind === 'refusal') return {};
    if (kind === 'thinking') return this.#takeState('thinking');
    const meta = textMeta(this.#flavour, this.#annotations);
    this.#cited.push(...this.#annotations);
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
  #seal(owners: readonly Owner[], events: IrAnswerEvent[]): void {
    for (const whose of owners) {
      const { meta } = this.#takeState(whose);
      if (meta === undefined) continue;
      const index = this.#open({ kind: 'thinking', redacted: true, meta }, events);
      events.push({ type: 'part-end', index });
    }
  }

  #call(piece: wire.CallDelta, answerId: string | undefined, events: IrAnswerEvent[]): void {
    const call = this.#calls.add(piece, answerId);
    const known = this.#callParts.get(call);
    if (known !== undefined) {
      if (call.added !== '') events.push({ type: 'part-delta', index: known, text: call.added });
      return;
    }
    if (call.name === '') return;
    this.#openCall(call, events);
  }

  #openCall(call: OpenCall, events: IrAnswerEvent[]): void {
    this.#hush(events);
    this.#seal(['thinking', 'call'], events);
    const { id, name, custom, extra } = call;
    const meta = extra === undefined ? {} : { meta: { [this.#flavour.id]: { extra_content: extra } } };
    const index = this.#open({ kind: 'tool-call', id, name, ...(custom ? { custom } : {}), ...meta }, events);
    this.#callParts.set(call, index);
    if (call.arguments !== '') events.push({ type: 'part-delta', index, text: call.arguments });
  }

  #close(events: IrAnswerEvent[]): void {
    this.#hush(events);
    // Sources need a text to stand in, be it an empty one.
    if (this.#annotations.length > 0) {
      this.#say('text', '', events);
      this.#hush(events);
    }
    this.#seal(['thinking', 'call'], events);
    for (const call of this.#calls.list) if (!this.#callParts.has(call)) this.#openCall(call, events);
    for (const [call, index] of this.#callParts) {
      if (index === CLOSED) continue;
      if (call.arguments === '' && !call.custom) events.push({ type: 'part-delta', index, text: '{}' });
      events.push({ type: 'part-end', index });
      this.#callParts.set(call, CLOSED);
    }
  }
}

/** Marks a call whose part has ended. */
const CLOSED = -1;

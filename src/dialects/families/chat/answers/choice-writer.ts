import type { Json, JsonObject } from '../../../../base/json.ts';
import { foreignMeta } from '../../../../ir/carrier.ts';
import type { IrAnswerEvent, IrPartStart } from '../../../../ir/event.ts';
import type { TokenLogprob } from '../../../../ir/logprob.ts';
import type { VendorMeta } from '../../../../ir/part.ts';
import type { FinishReason } from '../../../../ir/response.ts';
import { callExtra, DETAILS, detailOf } from '../details.ts';
import type { ChatFlavour } from '../flavour.ts';
import { annotationsOf, carried, choiceLogprobs, lowerAnnotations, reasonOf } from '../lower-response.ts';

interface OpenPart {
  readonly part: IrPartStart;
  /** Number of a call among the calls. */
  readonly number: number;
  empty: boolean;
  /** Reasoning is told once more where its state is. */
  text: string;
  /** How much text the choice had before. */
  readonly before: number;
}

type PartEvent = Extract<IrAnswerEvent, { type: 'part-start' | 'part-delta' | 'part-end' }>;

export interface ChoiceWriterOptions {
  readonly flavour: ChatFlavour;
  readonly index: number;
  /** Calls are told as `function_call`. */
  readonly legacy: boolean;
}

/** Writes the deltas of one choice. `paste` puts the members that all chunks share around a choice. */
export class ChoiceWriter {
  readonly #flavour: ChatFlavour;
  readonly #paste: (choice: string) => string;
  readonly #index: number;
  readonly #legacy: boolean;
  readonly #open = new Map<number, OpenPart>();
  /** Entries of `reasoning_details` so far. */
  #details = 0;
  #calls = 0;
  /** How much text there is so far. */
  #said = 0;
  #refused = false;
  #sealed = false;

  constructor({ flavour, index, legacy }: ChoiceWriterOptions, paste: (choice: string) => string) {
    this.#flavour = flavour;
    this.#index = index;
    this.#legacy = legacy;
    this.#paste = paste;
  }

  start(): string {
    return this.#chunk({ role: 'assistant', content: '', refusal: null });
  }

  part(event: PartEvent): string {
    switch (event.type) {
      case 'part-start':
        return this.#startPart(event.index, event.part);
      case 'part-delta':
        return this.#delta(event.index, event.text, event.logprobs);
      case 'part-end':
        return this.#endPart(event);
    }
  }

  /** The choice that says why the answer ended, with what else stands in it. */
  ending(finish: FinishReason, more: string): string {
    const reason = JSON.stringify(this.#legacy && finish === 'tool-calls' ? 'function_call' : reasonOf(finish, this.#refused));
    return `{"index":${this.#index},"delta":{},"logprobs":null,"finish_reason":${reason}${more}}`;
  }

  #chunk(delta: JsonObject, logprobs: JsonObject | null = null): string {
    return this.#paste(
      `{"index":${this.#index},"delta":${JSON.stringify(delta)},"logprobs":${JSON.stringify(logprobs)},"finish_reason":null}`,
    );
  }

  #startPart(index: number, part: IrPartStart): string {
    const isCall = part.kind === 'tool-call';
    this.#open.set(index, { part, number: isCall ? this.#calls : -1, empty: true, text: '', before: this.#said });
    this.#refused ||= part.kind === 'refusal';
    if (part.kind === 'thinking') return this.#flavour.details ? '' : this.#state(part.meta);
    const own = part.kind === 'vendor' ? part.meta?.[this.#flavour.id] : undefined;
    if (own !== undefined) return this.#chunk(own);
    if (!isCall) return '';
    const sealed = this.#sealed ? '' : this.#seal(undefined, foreignMeta(part.meta, this.#flavour.id));
    const { id, name } = part;
    const members = { ...part.meta?.[this.#flavour.id], ...callExtra(this.#flavour, part.meta) };
    const call = part.custom
      ? { index: this.#calls, id, type: 'custom', custom: { name, input: '' }, ...members }
      : { index: this.#calls, id, type: 'function', function: { name, arguments: '' }, ...members };
    this.#calls += 1;
    const told = this.#legacy ? { function_call: { name, arguments: '' } } : { tool_calls: [call] };
    return `${sealed}${this.#chunk(told)}`;
  }

  #delta(index: number, text: string, logprobs: readonly TokenLogprob[] | undefined): string {
    const open = this.#open.get(index);
    if (open === undefined) return '';
    open.empty = false;
    if (open.part.kind === 'thinking' && this.#flavour.details) open.text += text;
    if (open.part.kind === 'text') this.#said += text.length;
    const delta = this.#deltaOf(open, text);
    if (delta === undefined) return '';
    return logprobs === undefined ? this.#chunk(delta) : this.#chunk(delta, choiceLogprobs(logprobs));
  }

  #deltaOf({ part, number }: OpenPart, text: string): JsonObject | undefined {
    switch (part.kind) {
      case 'text':
        return { content: text };
      case 'refusal':
        return { refusal: text };
      case 'thinking':
        return this.#flavour.reasoningField === undefined ? undefined : { [this.#flavour.reasoningField]: text };
      case 'tool-call':
        if (this.#legacy) return { function_call: { arguments: text } };
        return { tool_calls: [{ index: number, ...(part.custom ? { custom: { input: text } } : { function: { arguments: text } }) }] };
      case 'vendor':
        return undefined;
    }
  }

  #endPart({ index, meta, citations }: Extract<PartEvent, { type: 'part-end' }>): string {
    const open = this.#open.get(index);
    if (open === undefined) return '';
    const { part, number, empty, before } = open;
    if (part.kind === 'thinking') return this.#flavour.details ? this.#detail(open, meta) : this.#state(meta);
    if (part.kind === 'text')
      return this.#sources(annotationsOf(this.#flavour, meta) ?? lowerAnnotations(this.#flavour, citations, before));
    // Callers parse the arguments; a call without any has an empty object.
    if (part.kind !== 'tool-call' || !empty || part.custom) return '';
    return this.#chunk(
      this.#legacy ? { function_call: { arguments: '{}' } } : { tool_calls: [{ index: number, function: { arguments: '{}' } }] },
    );
  }

  #sources(annotations: readonly Json[]): string {
    return annotations.length === 0 ? '' : this.#chunk({ annotations });
  }

  /** The wire joins pieces of the list by number, so each entry comes whole. */
  #detail({ part, text }: OpenPart, ended: VendorMeta | undefined): string {
    if (part.kind !== 'thinking') return '';
    const meta = ended === undefined ? part.meta : { ...part.meta, ...ended };
    const own = meta?.[this.#flavour.id];
    if (own !== undefined) return this.#chunk(own);
    const [entry] = detailOf(this.#flavour, {
      text,
      ...(part.redacted === undefined ? {} : { redacted: part.redacted }),
      ...(meta === undefined ? {} : { meta }),
    });
    return entry === undefined ? '' : this.#chunk({ [DETAILS]: [{ ...entry, index: this.#details++ }] });
  }

  #state(meta: VendorMeta | undefined): string {
    const own = meta?.[this.#flavour.id];
    if (own !== undefined) return this.#chunk(own);
    return this.#seal(foreignMeta(meta, this.#flavour.id), undefined);
  }

  /** There is one carrier in an answer, so the first engine state that comes gets it. */
  #seal(thinking: VendorMeta | undefined, call: VendorMeta | undefined): string {
    const state = carried(this.#flavour, thinking, call);
    if (Object.keys(state).length === 0) return '';
    this.#sealed = true;
    return this.#chunk(state);
  }
}

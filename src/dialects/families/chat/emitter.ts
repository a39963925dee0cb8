import type { JsonObject } from '../../../base/json.ts';
import { foreignMeta } from '../../../ir/carrier.ts';
import type { IrEvent, IrPartStart } from '../../../ir/event.ts';
import type { VendorMeta } from '../../../ir/part.ts';
import type { AnswerContext, Emitter } from '../../dialect.ts';
import { errorBodyOf } from './errors.ts';
import type { ChatFlavour } from './flavour.ts';
import { annotationsOf, answerId, carried, logprobsOf, lowerUsage, reasonOf } from './lower-response.ts';

interface OpenPart {
  readonly part: IrPartStart;
  /** Number of a call among the calls. */
  readonly number: number;
  empty: boolean;
}

/** Writes a Chat stream: what all chunks share is written once and pasted around each delta. */
export class ChatEmitter implements Emitter {
  readonly contentType = 'text/event-stream; charset=utf-8';
  readonly #flavour: ChatFlavour;
  readonly #context: AnswerContext;
  readonly #open = new Map<number, OpenPart>();
  #head = '';
  #tail = '';
  #calls = 0;
  #refused = false;
  #sealed = false;

  constructor(flavour: ChatFlavour, context: AnswerContext) {
    this.#flavour = flavour;
    this.#context = context;
  }

  emit(event: IrEvent): string {
    switch (event.type) {
      case 'message-start':
        return this.#start(event.id);
      case 'part-start':
        return this.#startPart(event.index, event.part);
      case 'part-delta':
        return this.#delta(event.index, event.text);
      case 'part-end':
        return this.#endPart(event.index, event.meta);
      case 'message-end':
        return this.#end(event);
      case 'error':
        return frame(errorBodyOf(this.#flavour, event.error));
      case 'keep-alive':
        return ': keep-alive\n\n';
    }
  }

  #start(id: string | undefined): string {
    const shared = {
      id: answerId(this.#context, id),
      object: 'chat.completion.chunk',
      created: Math.floor(this.#context.createdAtMs / 1000),
      model: this.#context.model,
    };
    this.#head = `data: ${JSON.stringify(shared).slice(0, -1)},"choices":[`;
    // A caller that asked for usage gets it as null in every chunk but the one that has it.
    this.#tail = this.#context.includeUsage && this.#flavour.usage === 'own-chunk' ? '],"usage":null}\n\n' : ']}\n\n';
    return this.#chunk({ role: 'assistant', content: '', refusal: null });
  }

  #chunk(delta: JsonObject, logprobs: JsonObject | null = null): string {
    const choice = `{"index":0,"delta":${JSON.stringify(delta)},"logprobs":${JSON.stringify(logprobs)},"finish_reason":null}`;
    return `${this.#head}${choice}${this.#tail}`;
  }

  #startPart(index: number, part: IrPartStart): string {
    const isCall = part.kind === 'tool-call';
    this.#open.set(index, { part, number: isCall ? this.#calls : -1, empty: true });
    this.#refused ||= part.kind === 'refusal';
    if (part.kind === 'thinking') return this.#state(part.meta);
    if (!isCall) return '';
    const sealed = this.#sealed ? '' : this.#seal(undefined, foreignMeta(part.meta, this.#flavour.id));
    const { id, name } = part;
    const own = part.meta?.[this.#flavour.id];
    const call = part.custom
      ? { index: this.#calls, id, type: 'custom', custom: { name, input: '' }, ...own }
      : { index: this.#calls, id, type: 'function', function: { name, arguments: '' }, ...own };
    this.#calls += 1;
    return `${sealed}${this.#chunk({ tool_calls: [call] })}`;
  }

  #delta(index: number, text: string): string {
    const open = this.#open.get(index);
    if (open === undefined) return '';
    open.empty = false;
    const delta = this.#deltaOf(open, text);
    return delta === undefined ? '' : this.#chunk(delta);
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
        return { tool_calls: [{ index: number, ...(part.custom ? { custom: { input: text } } : { function: { arguments: text } }) }] };
      case 'vendor':
        return undefined;
    }
  }

  #endPart(index: number, meta: VendorMeta | undefined): string {
    const open = this.#open.get(index);
    if (open === undefined) return '';
    const { part, number, empty } = open;
    if (part.kind === 'thinking') return this.#state(meta);
    if (part.kind === 'text') return this.#sources(meta);
    // Callers parse the arguments; a call without any has an empty object.
    if (part.kind !== 'tool-call' || !empty || part.custom) return '';
    return this.#chunk({ tool_calls: [{ index: number, function: { arguments: '{}' } }] });
  }

  /** What belongs to a text beyond its words. */
  #sources(meta: VendorMeta | undefined): string {
    const logprobs = logprobsOf(meta);
    const annotations = annotationsOf(this.#flavour, meta);
    return (
      (logprobs === undefined ? '' : this.#chunk({}, { content: logprobs, refusal: null })) +
      (annotations === undefined ? '' : this.#chunk({ annotations }))
    );
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

  #end(event: Extract<IrEvent, { type: 'message-end' }>): string {
    const { usage: place } = this.#flavour;
    const usage = JSON.stringify(lowerUsage(this.#flavour, event.usage));
    const reason = JSON.stringify(reasonOf(event.finish, this.#refused));
    const inChoice = place === 'choice' ? `,"usage":${usage}` : '';
    const tail = place === 'finishing-chunk' ? `],"usage":${usage}}\n\n` : this.#tail;
    const last = `${this.#head}{"index":0,"delta":{},"logprobs":null,"finish_reason":${reason}${inChoice}}${tail}`;
    const own = this.#context.includeUsage && place !== 'finishing-chunk' ? `${this.#head}],"usage":${usage}}\n\n` : '';
    return `${last}${own}data: [DONE]\n\n`;
  }
}

function frame(body: JsonObject): string {
  return `data: ${JSON.stringify(body)}\n\n`;
}

import { type Json, type JsonObject, listIn } from '../../base/json.ts';
import { encodeSse } from '../../base/sse.ts';
import type { IrEvent, IrPartStart } from '../../ir/event.ts';
import type { TokenLogprob } from '../../ir/logprob.ts';
import type { Citation, VendorMeta } from '../../ir/part.ts';
import type { IrError } from '../../ir/response.ts';
import type { AnswerContext, Emitter } from '../dialect.ts';
import { lowerLogprobs } from '../openai-logprobs.ts';
import {
  answerCall,
  carrierItem,
  contentPart,
  itemId,
  messageItem,
  type Outcome,
  outcomeOf,
  ownId,
  ownItem,
  reasoningItem,
  responseId,
  responseObject,
} from './answer.ts';
import { errorObject, failure } from './errors.ts';
import { ID } from './lift-content.ts';

/** An item of the answer. It has one id from its first event to the final response. */
interface Item {
  readonly id: string;
  readonly outputIndex: number;
  /** Contents of a message, and how many of them are still open. */
  readonly content: JsonObject[];
  open: number;
  final: JsonObject | undefined;
}

interface Part {
  readonly item: Item;
  readonly start: IrPartStart;
  readonly contentIndex: number;
  readonly logprobs: TokenLogprob[];
  text: string;
}

type End = Extract<IrEvent, { type: 'message-end' }>;

/** Writes a Responses stream: each item is announced, told piece by piece and repeated whole, and the last event repeats them all. */
class ResponsesEmitter implements Emitter {
  readonly contentType = 'text/event-stream; charset=utf-8';
  readonly #context: AnswerContext;
  readonly #items: Item[] = [];
  readonly #parts = new Map<number, Part>();
  #id: string | undefined;
  #sequence = 0;
  #refused = false;

  constructor(context: AnswerContext) {
    this.#context = context;
  }

  emit(event: IrEvent): string {
    switch (event.type) {
      case 'message-start':
        return this.#begin(event.id);
      case 'part-start':
        return this.#begin(undefined) + this.#start(event.index, event.part);
      case 'part-delta':
        return this.#delta(event.index, event.text, event.logprobs);
      case 'part-end':
        return this.#end(event);
      case 'message-end':
        return this.#begin(undefined) + this.#finish(event);
      case 'error':
        return this.#begin(undefined) + this.#fail(event.error);
      case 'keep-alive':
        // The vendor has no such event; a comment is one to every reader.
        return ': keep-alive\n\n';
      case 'choice':
        // A Responses caller has no way to ask for several answers.
        return '';
    }
  }

  #frame(type: string, members: JsonObject): string {
    const data = JSON.stringify({ type, ...members, sequence_number: this.#sequence });
    this.#sequence += 1;
    return encodeSse({ event: type, data });
  }

  /** Once, whatever comes first. */
  #begin(id: string | undefined): string {
    if (this.#id !== undefined) return '';
    this.#id = responseId(id, this.#context);
    const response = this.#response({ status: 'in_progress' }, undefined);
    return this.#frame('response.created', { response }) + this.#frame('response.in_progress', { response });
  }

  #response(outcome: Outcome, end: End | undefined): JsonObject {
    const output = this.#items.flatMap((item) => (item.final === undefined ? [] : [item.final]));
    const usage = end === undefined ? {} : { usage: end.usage };
    return responseObject(this.#context, { id: this.#id ?? '', ...outcome, output, ...usage });
  }

  #start(index: number, part: IrPartStart): string {
    switch (part.kind) {
      case 'text':
      case 'refusal':
        return this.#startContent(index, part);
      case 'thinking':
        return this.#startItem(index, part, { id: this.#free('rs', ownId(part.meta)), type: 'reasoning', summary: [] });
      case 'tool-call':
        return this.#startCall(index, part);
      case 'vendor':
        return this.#startVendor(index, part);
    }
  }

  /** The id of this dialect's own item where there is one that no other item has. */
  #free(prefix: 'msg' | 'rs' | 'fc' | 'ctc', own: string | undefined): string {
    const taken = own === undefined || this.#items.some((item) => item.id === own);
    return taken ? itemId(prefix, this.#context, this.#items.length) : own;
  }

  #add(item: JsonObject): { readonly item: Item; readonly text: string } {
    const added: Item = { id: String(item.id), outputIndex: this.#items.length, content: [], open: 0, final: undefined };
    this.#items.push(added);
    return { item: added, text: this.#frame('response.output_item.added', { output_index: added.outputIndex, item }) };
  }

  #startItem(index: number, start: IrPartStart, item: JsonObject): string {
    const added = this.#add(item);
    this.#parts.set(index, { item: added.item, start, contentIndex: 0, logprobs: [], text: '' });
    return added.text;
  }

  /** Texts of one message of this dialect stay together; any other text is a message of its own. */
  #startContent(index: number, start: Extract<IrPartStart, { kind: 'text' | 'refusal' }>): string {
    if (start.kind === 'refusal') this.#refused = true;
    const own = ownId(start.meta);
    const known = own === undefined ? undefined : this.#items.find((item) => item.id === own && item.open > 0);
    const added = known === undefined ? this.#addMessage(start, own) : { item: known, text: '' };
    const { item } = added;
    const part: Part = { item, start, contentIndex: item.content.length, logprobs: [], text: '' };
    this.#parts.set(index, part);
    const empty = contentPart(start.kind, { text: '' }, undefined);
    item.content.push(empty);
    item.open += 1;
    return added.text + this.#frame('response.content_part.added', { ...place(part), part: empty });
  }

  #addMessage(start: { readonly meta?: VendorMeta }, own: string | undefined): { readonly item: Item; readonly text: string } {
    return this.#add(messageItem(this.#free('msg', own), [], { ...ownItem(start.meta), status: 'in_progress' }));
  }

  #startCall(index: number, start: Extract<IrPartStart, { kind: 'tool-call' }>): string {
    const carrier = carrierItem(itemId('rs', this.#context, this.#items.length), start);
    const before = carrier === undefined ? '' : this.#whole(carrier);
    const id = this.#free(start.custom ? 'ctc' : 'fc', ownId(start.meta));
    const item = { ...answerCall(id, { ...start, arguments: '' }, 'in_progress'), [start.custom ? 'input' : 'arguments']: '' };
    return before + this.#startItem(index, start, item);
  }

  /** An item that has nothing to tell between its first and its last event. */
  #whole(item: JsonObject): string {
    const added = this.#add(item);
    return added.text + this.#close(added.item, item);
  }

  /** Blocks of other vendors have no form here. */
  #startVendor(index: number, start: Extract<IrPartStart, { kind: 'vendor' }>): string {
    const own = start.meta?.[ID];
    return own?.type === undefined ? '' : this.#startItem(index, start, own);
  }

  #delta(index: number, text: string, logprobs: readonly TokenLogprob[] = []): string {
    const part = this.#parts.get(index);
    if (part === undefined) return '';
    const first = part.text === '';
    part.text += text;
    part.logprobs.push(...logprobs);
    switch (part.start.kind) {
      case 'text':
        return this.#frame('response.output_text.delta', { ...place(part), delta: text, logprobs: lowerLogprobs(logprobs) });
      case 'refusal':
        return this.#frame('response.refusal.delta', { ...place(part), delta: text });
      case 'thinking': {
        const added = first ? this.#frame('response.reasoning_summary_part.added', { ...summary(part), part: summaryText('') }) : '';
        return added + this.#frame('response.reasoning_summary_text.delta', { ...summary(part), delta: text });
      }
      case 'tool-call':
        return this.#frame(part.start.custom ? 'response.custom_tool_call_input.delta' : 'response.function_call_arguments.delta', {
          ...of(part.item),
          delta: text,
        });
      case 'vendor':
        return '';
    }
  }

  #end({ index, meta: endMeta, citations = [] }: Extract<IrEvent, { type: 'part-end' }>): string {
    const part = this.#parts.get(index);
    if (part === undefined) return '';
    const { start, item } = part;
    const meta = { ...start.meta, ...endMeta };
    switch (start.kind) {
      case 'text':
      case 'refusal':
        return this.#endContent({ ...part, citations }, start.kind, meta);
      case 'thinking':
        return this.#endSummary(part) + this.#close(item, reasoningItem(item.id, { ...start, text: part.text }, meta));
      case 'tool-call':
        return this.#endCall(part, start, meta);
      case 'vendor':
        return this.#close(item, { ...meta[ID], ...(start.meta?.[ID]?.id === undefined ? {} : { id: item.id }) });
    }
  }

  #endContent(part: Part & { citations: readonly Citation[] }, kind: 'text' | 'refusal', meta: VendorMeta): string {
    const { item, text } = part;
    const content = contentPart(kind, part, meta);
    item.content[part.contentIndex] = content;
    item.open -= 1;
    const sources = listIn(content.annotations); // written by contentPart
    const cited = sources.map((annotation, at) =>
      this.#frame('response.output_text.annotation.added', { ...place(part), annotation_index: at, annotation }),
    );
    const done =
      kind === 'refusal'
        ? this.#frame('response.refusal.done', { ...place(part), refusal: text })
        : this.#frame('response.output_text.done', { ...place(part), text, logprobs: content.logprobs ?? [] });
    const closed = this.#frame('response.content_part.done', { ...place(part), part: content });
    return cited.join('') + done + closed + (item.open > 0 ? '' : this.#close(item, messageItem(item.id, item.content, ownItem(meta))));
  }

  #endSummary(part: Part): string {
    if (part.text === '') return '';
    return (
      this.#frame('response.reasoning_summary_text.done', { ...summary(part), text: part.text }) +
      this.#frame('response.reasoning_summary_part.done', { ...summary(part), part: summaryText(part.text) })
    );
  }

  #endCall(part: Part, start: Extract<IrPartStart, { kind: 'tool-call' }>, meta: VendorMeta): string {
    const item = answerCall(part.item.id, { ...start, arguments: part.text, meta }, 'completed');
    const done = start.custom
      ? this.#frame('response.custom_tool_call_input.done', { ...of(part.item), input: part.text })
      : this.#frame('response.function_call_arguments.done', { ...of(part.item), name: item.name ?? '', arguments: item.arguments ?? '' });
    return done + this.#close(part.item, item);
  }

  #close(item: Item, final: JsonObject): string {
    item.final = final;
    return this.#frame('response.output_item.done', { output_index: item.outputIndex, item: final });
  }

  #finish(end: End): string {
    const outcome = outcomeOf(end.finish, this.#refused);
    return this.#frame(`response.${outcome.status}`, { response: this.#response(outcome, end) });
  }

  /** The SDKs stop at `error`, flat in the vendor's description and nested on its wire; Codex reads only the failed response. */
  #fail(error: IrError): string {
    const told = errorObject(error);
    const { message = '', code = null, param = null } = told;
    const outcome = { status: 'failed', error: failure(error) };
    return (
      this.#frame('error', { code, message, param, error: told }) +
      this.#frame('response.failed', { response: this.#response(outcome, undefined) })
    );
  }
}

export function emitter(context: AnswerContext): Emitter {
  return new ResponsesEmitter(context);
}

function of(item: Item): JsonObject {
  return { item_id: item.id, output_index: item.outputIndex };
}

function place(part: Part): JsonObject {
  return { item_id: part.item.id, output_index: part.item.outputIndex, content_index: part.contentIndex };
}

/** All reasoning of a part is told as one summary. */
function summary(part: Part): JsonObject {
  return { item_id: part.item.id, output_index: part.item.outputIndex, summary_index: 0 };
}

function summaryText(text: string): Json {
  return { type: 'summary_text', text };
}

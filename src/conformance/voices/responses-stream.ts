import { isJsonObject, type Json, type JsonObject, parseJson } from '../../base/json.ts';
import type { SseEvent } from '../../base/sse.ts';
import { Problems, shown } from '../problems.ts';
import type { Folded } from '../voice.ts';

const TERMINAL = new Set(['response.completed', 'response.incomplete', 'response.failed']);

/** Events that add a piece to a text: each names the kind of text, and a later `done` repeats it whole. */
const PIECES: Readonly<Record<string, { readonly done: string; readonly whole: string }>> = {
  'response.output_text.delta': { done: 'response.output_text.done', whole: 'text' },
  'response.function_call_arguments.delta': { done: 'response.function_call_arguments.done', whole: 'arguments' },
};
const WHOLES = new Map(Object.values(PIECES).map(({ done, whole }) => [done, whole]));

/** Numbered events: created, in progress, items that open, grow and are repeated whole, and one that repeats the response. */
export function foldResponses(events: readonly SseEvent[]): Folded {
  const stream = new ResponsesStream();
  for (const event of events) stream.push(event);
  return stream.end();
}

class ResponsesStream {
  readonly #p = new Problems();
  readonly #seen: string[] = [];
  /** Text so far of each item and content, by their indexes. */
  readonly #texts = new Map<string, string>();
  readonly #items = new Map<number, JsonObject>();
  readonly #open = new Set<number>();
  #last: JsonObject | undefined;
  #pieces = 0;

  push({ event, data }: SseEvent): void {
    const p = this.#p;
    const parsed = parseJson(data);
    const value = p.object(`the data of ${event || 'an event'}`, parsed.ok ? parsed.value : data);
    p.is('the name of an event', event, value.type ?? null);
    p.is(`sequence_number of ${event}`, value.sequence_number, this.#seen.length);
    if (this.#seen.length < 2)
      p.is(`event ${this.#seen.length + 1}`, event, this.#seen.length === 0 ? 'response.created' : 'response.in_progress');
    p.that(this.#last === undefined, `nothing may follow the last response, but ${shown(event)} does`);
    this.#seen.push(event);
    this.#take(event, value);
  }

  #take(event: string, value: JsonObject): void {
    const p = this.#p;
    if (TERMINAL.has(event)) this.#last = p.object(`${event}.response`, value.response);
    else if (event === 'response.output_item.added') this.#add(value);
    else if (event === 'response.output_item.done') this.#finish(value);
    else if (PIECES[event] !== undefined) this.#grow(event, value);
    else if (WHOLES.has(event)) this.#compare(event, value);
  }

  #add(value: JsonObject): void {
    const at = this.#p.count('output_item.added.output_index', value.output_index);
    this.#p.is('the index of a new item', at, this.#items.size + this.#open.size);
    this.#open.add(at);
  }

  #finish(value: JsonObject): void {
    const at = this.#p.count('output_item.done.output_index', value.output_index);
    this.#p.that(this.#open.delete(at), `output item ${at} should be added before it is done`);
    this.#items.set(at, this.#p.object('output_item.done.item', value.item));
  }

  #grow(event: string, value: JsonObject): void {
    const p = this.#p;
    const at = p.count(`${event}.output_index`, value.output_index);
    p.that(this.#open.has(at), `${event} should come inside an open item`);
    const key = keyOf(value);
    this.#texts.set(key, (this.#texts.get(key) ?? '') + p.anyText(`${event}.delta`, value.delta));
    this.#pieces += 1;
  }

  #compare(event: string, value: JsonObject): void {
    this.#p.is(`${event} after its pieces`, value[WHOLES.get(event) ?? ''], this.#texts.get(keyOf(value)) ?? '');
  }

  end(): Folded {
    const p = this.#p;
    p.that(this.#last !== undefined, 'response.completed, incomplete or failed should end the stream');
    p.that(this.#open.size === 0, 'every added item should be done');
    const items = [...this.#items].sort(([a], [b]) => a - b).map(([, item]) => item);
    const told = this.#last?.output;
    if (this.#last !== undefined && gist(told) !== gist(items)) {
      p.fail(`the last response should repeat the items that were told, not ${shown(told)}`);
    }
    return { body: { ...this.#last, output: items }, pieces: this.#pieces, problems: p.list };
  }
}

/** The words of items; opaque state of theirs may differ between its first telling and its last. */
function gist(items: Json | undefined): string {
  const list = Array.isArray(items) ? items.filter(isJsonObject) : [];
  return JSON.stringify(list.map(({ type, id, name, arguments: input, content }) => [type, id, name, input, textsOf(content)]));
}

function textsOf(content: Json | undefined): Json {
  return Array.isArray(content) ? content.filter(isJsonObject).map(({ text }) => text ?? null) : null;
}

function keyOf(value: JsonObject): string {
  return `${String(value.output_index)}/${String(value.content_index ?? '')}`;
}

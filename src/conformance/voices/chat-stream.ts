import { isJsonObject, type Json, type JsonObject, parseJson } from '../../base/json.ts';
import type { SseEvent } from '../../base/sse.ts';
import { Problems, shown } from '../problems.ts';
import type { Folded } from '../voice.ts';

const DONE = '[DONE]';

/** Chunks of one answer, a finishing one, perhaps one with the usage, then `[DONE]`. */
export function foldChat(events: readonly SseEvent[], labelled: boolean): Folded {
  const stream = new ChatStream(labelled);
  for (const event of events) stream.push(event);
  return stream.end();
}

interface Call {
  readonly head: JsonObject;
  name: string;
  arguments: string;
}

class ChatStream {
  readonly #p = new Problems();
  readonly #calls: Call[] = [];
  readonly #labelled: boolean;
  #first: JsonObject | undefined;
  #last: JsonObject | undefined;
  #content: string | null = null;
  #finish: string | undefined;
  #usage: JsonObject | undefined;
  #done = false;
  #begun = false;
  #pieces = 0;

  constructor(labelled: boolean) {
    this.#labelled = labelled;
  }

  push({ event, data }: SseEvent): void {
    const p = this.#p;
    p.is('the name of an event', event, '');
    p.that(!this.#done, `nothing may follow ${DONE}`);
    if (data === DONE) {
      this.#done = true;
      return;
    }
    const parsed = parseJson(data);
    const chunk = p.object('a chunk', parsed.ok ? parsed.value : data);
    this.#first ??= chunk;
    if (this.#labelled) {
      p.is('object', chunk.object, 'chat.completion.chunk');
      p.is('the id of a chunk', chunk.id, this.#first.id ?? null);
    }
    this.#last = chunk;
    if (isJsonObject(chunk.usage)) this.#usage = chunk.usage;
    for (const choice of p.objects('choices', chunk.choices)) this.#take(choice);
  }

  #take(choice: JsonObject): void {
    const p = this.#p;
    const delta = p.object('delta', choice.delta);
    if (this.#labelled && !this.#begun) p.is('the role in the first choice', delta.role, 'assistant');
    this.#begun = true;
    p.that(this.#finish === undefined, 'no choice may follow the finishing one');
    if (typeof delta.content === 'string') {
      this.#content = (this.#content ?? '') + delta.content;
      if (delta.content !== '') this.#pieces += 1;
    }
    if (delta.tool_calls !== undefined) for (const call of p.objects('delta.tool_calls', delta.tool_calls)) this.#grow(call);
    if (typeof choice.finish_reason === 'string') this.#finish = choice.finish_reason;
    // Some vendors of the family put the usage into the finishing choice.
    if (isJsonObject(choice.usage)) this.#usage = choice.usage;
  }

  #grow(piece: JsonObject): void {
    const p = this.#p;
    const at = p.count('tool_calls[].index', piece.index);
    const told = p.object('tool_calls[].function', piece.function);
    this.#pieces += 1;
    const open = this.#calls[at];
    if (open !== undefined) {
      open.arguments += typeof told.arguments === 'string' ? told.arguments : '';
      return;
    }
    p.is('the index of a new tool call', at, this.#calls.length);
    p.text('the id in the first piece of a tool call', piece.id);
    this.#calls.push({
      head: { id: piece.id ?? '', type: piece.type ?? null },
      name: p.text('the name in the first piece of a tool call', told.name),
      arguments: typeof told.arguments === 'string' ? told.arguments : '',
    });
  }

  end(): Folded {
    const p = this.#p;
    p.that(this.#done, `${DONE} should end the stream`);
    if (this.#finish === undefined) p.fail(`one choice should have a finish_reason, not ${shown(null)} in all`);
    p.that(this.#usage !== undefined, 'usage should be told: the request asked for it');
    const calls = this.#calls.map((call): Json => ({ ...call.head, function: { name: call.name, arguments: call.arguments } }));
    const message = { role: 'assistant', content: this.#content, ...(calls.length > 0 ? { tool_calls: calls } : {}) };
    const body: JsonObject = {
      ...this.#last,
      object: 'chat.completion',
      choices: [{ index: 0, message, finish_reason: this.#finish ?? null }],
      usage: this.#usage ?? null,
    };
    return { body, pieces: this.#pieces, problems: p.list };
  }
}

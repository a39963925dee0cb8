import type { JsonObject } from '../../base/json.ts';
import { parseShallowObject } from '../../base/json-limits.ts';
import type { FoundPage, ShownPart } from '../../dialects/answer-shape.ts';
import type { AnswerConcept } from '../../ir/answer-concept.ts';
import type { IrAnswerEvent, IrEvent } from '../../ir/event.ts';
import type { Citation, VendorMeta, VendorPart } from '../../ir/part.ts';
import type { FinishReason } from '../../ir/response.ts';
import type { AnswerAccount, AnswerNote, AnswerReader } from './account.ts';
import { cutCallLabel, labelOf, pagesLabel, unknownLabel } from './labels.ts';

/** The two sides of an answer, and what the caller is told instead of parts that have no form on its wire. */
export interface FormsOptions {
  readonly engine: AnswerReader;
  readonly caller: AnswerReader;
  readonly account: AnswerAccount;
  /** The caller asked for JSON: words of ours between its own would break it. */
  readonly json: boolean;
  /** Ids that are made here begin with it. */
  readonly idSeed: string;
  /** This answer can hold whole calls alone: half of one, which the token limit cut off, is told in words. */
  readonly wholeCalls: boolean;
}

type PartEnd = Extract<IrAnswerEvent, { type: 'part-end' }>;

const AS_TEXT: AnswerNote = { fate: 'emulated', code: 'as_labelled_text', note: 'told as labelled text' };
const BELOW: AnswerNote = { fate: 'emulated', code: 'as_line_below', note: 'told as a line below the text' };
const NO_TEXT: AnswerNote = { fate: 'dropped', code: 'no_form_at_caller', note: 'there is no text that it could stand in' };
const AS_SOURCES: AnswerNote = { fate: 'emulated', code: 'pages_as_sources', note: 'the pages are told as sources of the text' };
const IN_JSON: AnswerNote = { fate: 'dropped', code: 'left_out_of_json', note: 'the caller asked for JSON, which a label would break' };

const CALLED_ITSELF: AnswerNote = {
  fate: 'dropped',
  code: 'told_by_result',
  note: 'the engine made this call itself; what came of it is told',
};

const CUT_OFF: AnswerNote = {
  fate: 'emulated',
  code: 'call_cut_off',
  note: 'the token limit cut off a call, which is told as labelled text',
};
const CUT_OFF_IN_JSON: AnswerNote = { ...CUT_OFF, fate: 'dropped', note: 'the token limit cut off a call, which was left out' };

const AS_OBJECT: AnswerNote = {
  fate: 'emulated',
  code: 'text_as_object',
  note: 'the text of the call is the member “input” of its arguments',
};

const MALFORMED: AnswerNote = {
  fate: 'emulated',
  code: 'call_malformed',
  note: 'the arguments of a call are no JSON, and the caller reads that it is malformed',
};

const FAILED = { kind: 'server', message: 'the engine ended its answer with an error' } as const;
const NO_OBJECT = { kind: 'server', message: 'the engine’s answer holds a call whose arguments are not a JSON object' } as const;
const PAUSED: AnswerNote = {
  fate: 'emulated',
  code: 'paused',
  note: 'the engine paused a long turn, and the answer is not finished; a caller without a word for it reads that a limit was reached',
};

/** Gives every part of an answer a form that its caller can read; an answer that would be empty without one becomes an error. */
export class AnswerForms {
  readonly #options: FormsOptions;
  readonly #first: OneAnswer;
  readonly #others = new Map<number, OneAnswer>();

  constructor(options: FormsOptions) {
    this.#options = options;
    this.#first = new OneAnswer(options);
  }

  filter(event: IrEvent): readonly IrEvent[] {
    if (event.type !== 'choice') return this.#first.filter(event);
    const { choice } = event;
    const other = this.#others.get(choice) ?? new OneAnswer(this.#options);
    this.#others.set(choice, other);
    return other.filter(event.event).map((out) => ({ type: 'choice', choice, event: out }));
  }
}

class OneAnswer {
  readonly #options: FormsOptions;
  /** Foreign parts that are open, with what has streamed into them. */
  readonly #held = new Map<number, { readonly part: VendorPart; text: string }>();
  /** Calls that are not known to be whole, where half of one would have no form. */
  readonly #calls = new Map<number, { readonly events: IrAnswerEvent[]; readonly name: string; text: string }>();
  /** Calls that are told piece by piece to a caller who reads an object in the end. */
  readonly #objectCalls = new Map<number, string>();
  /** Calls with a free text that are open, where the caller's dialect has none. */
  readonly #textCalls = new Map<number, string>();
  /** Texts that are open, and how long they are. */
  readonly #texts = new Map<number, number>();
  /** Pages that a search found and no text has named yet. */
  #pages: FoundPage[] = [];
  /** Addresses of pages that texts name. */
  readonly #cited = new Set<string>();
  /** Words of audio that no label has told yet. */
  #heard = '';
  /** The caller has something in hand. */
  #said = false;
  #lost: string | undefined;
  #next = 0;

  constructor(options: FormsOptions) {
    this.#options = options;
  }

  filter(event: IrAnswerEvent): readonly IrAnswerEvent[] {
    switch (event.type) {
      case 'part-start':
        return this.#start(event);
      case 'part-delta':
        return this.#delta(event);
      case 'part-end':
        return this.#end(event);
      case 'message-end':
        return this.#finish(event);
      default:
        return [event];
    }
  }

  #start(event: Extract<IrAnswerEvent, { type: 'part-start' }>): readonly IrAnswerEvent[] {
    const { part, index } = event;
    this.#next = Math.max(this.#next, index + 1);
    if (part.kind === 'text') this.#texts.set(index, 0);
    if (part.kind === 'tool-call' && part.custom === true && this.#options.caller.answers.textCalls !== true) {
      const { custom: _text, ...call } = part;
      this.#options.account.note('tool_call', AS_OBJECT);
      this.#textCalls.set(index, '');
      this.#said = true;
      return [{ ...event, part: call }];
    }
    if (part.kind === 'tool-call' && part.custom !== true && this.#options.wholeCalls) {
      this.#calls.set(index, { events: [event], name: part.name, text: '' });
      return [];
    }
    if (part.kind === 'tool-call') this.#said = true;
    if (part.kind === 'tool-call' && this.#options.caller.answers.cutCalls === 'streamed') this.#objectCalls.set(index, '');
    if (part.kind !== 'vendor') return [event];
    if (part.meta?.[this.#options.caller.id] !== undefined) {
      this.#said = true;
      return [event];
    }
    this.#held.set(index, { part, text: part.text ?? '' });
    return [];
  }

  /** A call is told once it is whole; what is no JSON waits for the end, which says whether the token limit cut it off. */
  #called(index: number, event: IrAnswerEvent): readonly IrAnswerEvent[] | undefined {
    const call = this.#calls.get(index);
    if (call === undefined) return undefined;
    call.events.push(event);
    if (event.type === 'part-delta') call.text += event.text;
    if (event.type !== 'part-end' || !isWhole(call.text)) return [];
    this.#calls.delete(index);
    this.#said = true;
    return call.events;
  }

  /** Calls that are no JSON at the end of the answer. */
  #lastCalls(finish: FinishReason): readonly IrAnswerEvent[] {
    const { caller, json } = this.#options;
    const calls = [...this.#calls.values()];
    this.#calls.clear();
    if (calls.length === 0) return [];
    if (finish !== 'length') {
      if (caller.answers.cutCalls === 'nowhere') this.#noteCalls(MALFORMED);
      this.#said = true;
      return calls.flatMap(({ events }) => events);
    }
    this.#noteCalls(json ? CUT_OFF_IN_JSON : CUT_OFF);
    return json ? [] : calls.flatMap(({ name, text }) => this.#label(this.#next++, 'tool_call', cutCallLabel(name, text.trim())));
  }

  #noteCalls(note: AnswerNote): void {
    for (const concept of ['tool_call', 'call_state'] as const) this.#options.account.note(concept, note, 'tool_use');
  }

  #delta(event: Extract<IrAnswerEvent, { type: 'part-delta' }>): readonly IrAnswerEvent[] {
    const call = this.#called(event.index, event);
    if (call !== undefined) return call;
    const held = this.#held.get(event.index);
    if (held !== undefined) {
      held.text += event.text;
      return [];
    }
    const words = this.#textCalls.get(event.index);
    if (words !== undefined) {
      this.#textCalls.set(event.index, words + event.text);
      return [];
    }
    const object = this.#objectCalls.get(event.index);
    if (object !== undefined) this.#objectCalls.set(event.index, object + event.text);
    const length = this.#texts.get(event.index);
    if (length !== undefined) this.#texts.set(event.index, length + event.text.length);
    if (event.text !== '') this.#said = true;
    return [event];
  }

  #end(event: PartEnd): readonly IrAnswerEvent[] {
    const call = this.#called(event.index, event);
    if (call !== undefined) return call;
    const held = this.#held.get(event.index);
    if (held !== undefined) {
      this.#held.delete(event.index);
      const { part, text } = held;
      const meta = event.meta === undefined ? part.meta : { ...part.meta, ...event.meta };
      return this.#foreign(event.index, { ...part, ...(text === '' ? {} : { text }), ...(meta === undefined ? {} : { meta }) });
    }
    const words = this.#textCalls.get(event.index);
    this.#textCalls.delete(event.index);
    if (words !== undefined) return [{ type: 'part-delta', index: event.index, text: JSON.stringify({ input: words }) }, event];
    const length = this.#texts.get(event.index);
    this.#texts.delete(event.index);
    if (length === undefined) return [event];
    return [...this.#footnotes(event.index, this.#placesOf(event)), this.#sourced(event, length)];
  }

  /** A part of another vendor, in its nearest form or as a label. */
  #foreign(index: number, part: VendorPart): readonly IrAnswerEvent[] {
    const { engine, caller, idSeed } = this.#options;
    const shown = engine.answers.show(part);
    if (shown === undefined)
      return this.#label(index, 'vendor_part', unknownLabel(part.type, engine.answers.quoted?.(part) ?? part.meta?.[engine.id]));
    const form = caller.answers.form?.(shown, `${idSeed}_${index}`);
    return form === undefined ? this.#told(index, shown) : this.#formed(index, shown, form);
  }

  /** The form holds the sound alone; the words in it are told at the end. */
  #formed(index: number, shown: ShownPart, form: JsonObject): readonly IrAnswerEvent[] {
    const { caller, account } = this.#options;
    this.#said = true;
    if ('words' in shown) this.#heard += shown.words ?? '';
    const name = caller.answers.names[conceptOf(shown)] ?? caller.id;
    account.note(conceptOf(shown), { fate: 'renamed', code: 'nearest_form', note: name });
    return [
      { type: 'part-start', index, part: { kind: 'vendor', dialect: caller.id, type: name, meta: { [caller.id]: form } } },
      { type: 'part-end', index },
    ];
  }

  /** A part without a form: pages for the text that follows, words for the end, or a label. */
  #told(index: number, shown: ShownPart): readonly IrAnswerEvent[] {
    const { account, json } = this.#options;
    switch (shown.kind) {
      case 'transcript':
        this.#heard += shown.words;
        return [];
      case 'pages':
        this.#pages.push(...shown.pages);
        // Where texts have no sources, the pages are told below the answer.
        account.note('hosted_result', this.#sourceless ? (json ? IN_JSON : AS_TEXT) : AS_SOURCES);
        return [];
      // A search tells itself by its pages; a label for each query would stand in the way of the answer.
      case 'hosted_call':
        this.#lost ??= 'calls of hosted tools';
        account.note('hosted_call', CALLED_ITSELF);
        return [];
      default:
        if ('words' in shown) account.note('transcript', json ? IN_JSON : AS_TEXT);
        return this.#label(index, conceptOf(shown), labelOf(shown));
    }
  }

  #label(index: number, concept: AnswerConcept, text: string): readonly IrAnswerEvent[] {
    const { account, json } = this.#options;
    account.note(concept, json ? IN_JSON : AS_TEXT);
    if (json) {
      this.#lost ??= concept.replaceAll('_', ' ');
      return [];
    }
    const before = this.#said ? '\n\n' : '';
    this.#said = true;
    return [
      { type: 'part-start', index, part: { kind: 'text' } },
      { type: 'part-delta', index, text: `${before}${text}\n\n` },
      { type: 'part-end', index },
    ];
  }

  /** Texts of the caller's dialect have no place for sources. */
  get #sourceless(): boolean {
    return this.#options.caller.answers.names.citation === undefined;
  }

  #placesOf({ meta }: PartEnd): readonly string[] {
    const { engine, caller } = this.#options;
    return engine.id === caller.id ? [] : engine.answers.places(meta);
  }

  /** Places in documents, below the text that rests on them. */
  #footnotes(index: number, places: readonly string[]): readonly IrAnswerEvent[] {
    if (places.length === 0) return [];
    this.#noteSources();
    if (this.#options.json) return [];
    return [{ type: 'part-delta', index, text: `\n\n${places.map((place) => `[source] ${place}`).join('\n')}\n` }];
  }

  #noteSources(): void {
    const { account, json } = this.#options;
    account.note('document_citation', json ? IN_JSON : BELOW);
    if (this.#cited.size === 0) account.note('citation_place', NO_TEXT);
  }

  /** Pages that the answer rests on, where no text names them. */
  #uncited(meta: VendorMeta | undefined): readonly IrAnswerEvent[] {
    const { engine, caller, account } = this.#options;
    const pages = engine.id === caller.id ? [] : (engine.answers.pages?.(meta) ?? []).filter(({ url }) => !this.#cited.has(url));
    if (pages.length === 0) return [];
    if (this.#cited.size === 0) account.note('citation_place', NO_TEXT);
    return this.#label(this.#next++, 'citation', pagesLabel(pages));
  }

  /** Pages that were found and not cited have no place in the text. */
  #sourced(event: PartEnd, length: number): PartEnd {
    for (const { url } of event.citations ?? []) this.#cited.add(url);
    if (this.#pages.length === 0 || this.#sourceless) return event;
    const cited = event.citations ?? [];
    const known = new Set(cited.map(({ url }) => url));
    const found = this.#pages.filter(({ url }) => !known.has(url)).map((page): Citation => ({ ...page, start: length, end: length }));
    this.#pages = [];
    return found.length === 0 ? event : { ...event, citations: [...cited, ...found] };
  }

  #finish(event: Extract<IrAnswerEvent, { type: 'message-end' }>): readonly IrAnswerEvent[] {
    const { caller, account } = this.#options;
    if (event.finish === 'error') return [{ type: 'error', error: { ...FAILED, status: 502 } }];
    // Callers have read the pieces of such a call; a whole answer with it is an error, too.
    if (event.finish !== 'length' && [...this.#objectCalls.values()].some((text) => !isWhole(text)))
      return [{ type: 'error', error: { ...NO_OBJECT, status: 502 } }];
    if (event.finish === 'pause' && caller.answers.names.stop_reason !== undefined) account.note('stop_reason', PAUSED);
    const told: IrAnswerEvent[] = [...this.#lastCalls(event.finish)];
    for (const index of this.#held.keys()) told.push(...this.#end({ type: 'part-end', index }));
    if (this.#heard !== '') told.push(...this.#label(this.#next++, 'transcript', labelOf({ kind: 'transcript', words: this.#heard })));
    const pages = this.#pages;
    this.#pages = [];
    if (pages.length > 0) told.push(...this.#label(this.#next++, 'hosted_result', pagesLabel(pages)));
    told.push(...this.#uncited(event.meta));
    const places = this.#placesOf({ type: 'part-end', index: -1, ...(event.meta === undefined ? {} : { meta: event.meta }) });
    if (places.length > 0) this.#noteSources();
    if (places.length > 0)
      told.push(...this.#label(this.#next++, 'document_citation', places.map((place) => `[source] ${place}`).join('\n')));
    if (this.#said || this.#lost === undefined || event.finish !== 'stop') return [...told, event];
    account.note('error', { fate: 'renamed', code: 'would_be_empty', note: 'the answer would be empty' });
    const message = `the engine’s answer holds nothing but ${this.#lost}, for which ${caller.id} has no form`;
    return [{ type: 'error', error: { kind: 'server', message, status: 502 } }];
  }
}

/** A call without arguments has an empty text. */
function isWhole(text: string): boolean {
  return text.trim() === '' || parseShallowObject(text) !== undefined;
}

function conceptOf(shown: ShownPart): AnswerConcept {
  return shown.kind === 'pages' || shown.kind === 'passage' ? 'hosted_result' : shown.kind;
}

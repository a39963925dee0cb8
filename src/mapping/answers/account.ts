import { isExactNumber, isJsonObject, type Json, type JsonObject, jsonOf, listIn } from '../../base/json.ts';
import type { AnswerCode } from '../../contract/fate-codes.ts';
import type { EmulationEntry, Fate, FidelityEntry } from '../../contract/negotiation.ts';
import { type AnswerShape, typeOf } from '../../dialects/answer-shape.ts';
import type { Dialect } from '../../dialects/dialect.ts';
import { type AnswerConcept, answerConceptRow } from '../../ir/answer-concept.ts';

/** Something that happened to what an answer means, and is not plain from the two dialects. */
export interface AnswerNote {
  readonly fate: Exclude<Fate, 'exact'>;
  /** The reason, to be matched on; `note` says it in words. */
  readonly code: AnswerCode;
  readonly note: string;
}

/** The answer's part of a receipt: the fate of everything in it, and which of it the caller reads in another form. */
export interface AnswerRecord {
  readonly fidelity: readonly FidelityEntry[];
  readonly emulations: readonly EmulationEntry[];
}

export const NO_RECORD: AnswerRecord = { fidelity: [], emulations: [] };

/** The side of an answer that reads it: a caller's dialect, or a session of the agent plane. */
export type AnswerReader = Pick<Dialect, 'id' | 'answers'>;

const HEADER: AnswerNote = {
  fate: 'dropped',
  code: 'header_of_engine',
  note: 'headers of the engine are not for callers of another dialect',
};

const TOLD_AS_ERROR: AnswerNote = { fate: 'renamed', code: 'told_as_error', note: 'error' };
const LOST: AnswerNote = { fate: 'dropped', code: 'answer_failed', note: 'the caller got an error in place of it' };
/** An engine tells its own failure in these, and the caller's error repeats them. */
const OF_FAILURE: ReadonlySet<AnswerConcept> = new Set(['error', 'stop_reason', 'stop_detail']);

/** A place in an engine's answers, and what stands below it. */
interface Place {
  readonly path: string;
  readonly concept: AnswerConcept | undefined;
  /** Of a place in a table; those of one answer alone have none. */
  readonly number?: number;
  /** What stands below it, by the names of members and by the kinds of objects. */
  readonly members: Map<string, Place>;
  readonly kinds: Map<string, Place>;
  /** Every item, where it is a list. */
  item?: Place;
  /** Stands for everything below that place which has no claim of its own: it is counted there. */
  readonly restOf?: Place;
  /** The word that stood there, where nobody knows what it means. */
  readonly word?: string;
  rest?: Place;
}

/** Every item of a list, and an object of any other kind, in the paths of claims. */
const ITEM = '[*]';
const ANY = '*';

/** Members that no table knows are listed up to this many places; an engine could otherwise name as many as it likes. */
const MOST_UNKNOWN = 100;
/** Records that are kept for each dialect of callers. */
const MOST_RECORDS = 200;
/** An engine may call its reason to stop whatever it likes; receipts quote this much of it. */
const MOST_OF_A_WORD = 60;

/** Headers that tell a caller something about its limits or its call. */
const HINTS =
  /^(?:retry-after(?:-ms)?|x-ratelimit-.*|anthropic-ratelimit-.*|ratelimit.*|x-should-retry|(?:x-)?request-id|deprecation|sunset|warning)$/;

/**
 * Keeps account of everything that an engine's answer holds. Every piece of the answer is walked once, by the engine's table of claims,
 * and counted at its place; at the end each place gets its fate at the caller.
 */
export class AnswerAccount {
  readonly #engine: AnswerReader;
  readonly #caller: AnswerReader;
  readonly #kindOf: (value: JsonObject) => string | undefined;
  readonly #whole: Place;
  readonly #events: Place;
  readonly #notes = new Map<AnswerConcept, AnswerNote>();
  /** Capabilities under which notes are listed that belong to another one than their concept. */
  readonly #capabilities = new Map<AnswerConcept, EmulationEntry['capability']>();
  readonly #hints = new Set<string>();
  /** How often each place held something. */
  readonly #counts = new Map<Place, { count: number }>();
  /** Places of this answer that the tables do not know, by the place above them. */
  readonly #unknown = new Map<Place, Map<string, Place>>();
  #unknownCount = 0;
  #gaveUp = false;
  #lost = false;
  /** Reasons to stop that nobody knows, by the place where they stood. */
  readonly #strange = new Map<Place, Place>();

  constructor(engine: AnswerReader, caller: AnswerReader) {
    this.#engine = engine;
    this.#caller = caller;
    const { claims, eventClaims, kindOf, kinds } = engine.answers;
    this.#kindOf = kinds?.() ?? kindOf ?? typeOf;
    this.#whole = tableOf(claims);
    this.#events = eventClaims === undefined ? this.#whole : tableOf(eventClaims);
  }

  /** An answer in one piece. */
  whole(value: Json): void {
    if (isJsonObject(value)) this.#members(this.#whole, value, false);
    else this.#walk(this.#whole, value);
  }

  /** One event of a stream. */
  readonly event = (value: Json): void => this.#walk(this.#events, value);

  /** The headers that came with the answer, names and values in turn. */
  headers(raw: readonly string[]): void {
    for (let at = 0; at < raw.length; at += 2) {
      const name = (raw[at] ?? '').toLowerCase();
      if (HINTS.test(name)) this.#hints.add(name);
    }
  }

  /** Enters what a change on the way did to everything of this concept. The first entry about a concept holds. */
  note(concept: AnswerConcept, note: AnswerNote, as?: EmulationEntry['capability']): void {
    if (this.#notes.has(concept)) return;
    this.#notes.set(concept, note);
    if (as !== undefined) this.#capabilities.set(concept, as);
  }

  /** The engine ended its answer with a failure. */
  gaveUp(): void {
    this.#gaveUp = true;
    this.note('stop_reason', TOLD_AS_ERROR);
    this.note('stop_detail', TOLD_AS_ERROR);
  }

  /** The end of the answer did not reach the caller, who got an error of ours. */
  lostEnd(): void {
    this.note('stop_reason', LOST);
  }

  /** The caller got an error in place of the whole answer. */
  lost(): void {
    this.#lost = true;
  }

  /** Answers that are alike share their record, and with it the text that receipts have of it. */
  record(): AnswerRecord {
    const key = this.#key();
    if (key === undefined) return this.#made();
    const records = recordsFor(this.#caller.answers);
    const known = records.get(key);
    if (known !== undefined) return known;
    const made = this.#made();
    Object.freeze(made.fidelity);
    Object.freeze(made.emulations);
    if (records.size >= MOST_RECORDS) records.clear();
    records.set(key, made);
    return made;
  }

  /** All that the record of this answer depends on; undefined where a place of it is in no table. */
  #key(): string | undefined {
    const { id } = this.#engine;
    const said = this.#notes.size === 0 ? '' : JSON.stringify([...this.#notes, ...this.#capabilities]);
    let key = `${id} ${this.#caller.id} ${this.#lost} ${this.#gaveUp} ${[...this.#hints].join(' ')} ${said}`;
    for (const [{ number }, { count }] of this.#counts) {
      if (number === undefined) return undefined;
      key += `,${number}:${count}`;
    }
    return key;
  }

  #made(): AnswerRecord {
    const found: FidelityEntry[] = [];
    const emulations = new Map<string, EmulationEntry>();
    for (const [{ path, concept, word }, { count }] of this.#counts) {
      const fate = word === undefined ? this.#fate(concept) : strangeFate(word);
      found.push({ path: path.replace(/^\./, ''), ...fate, count });
      const emulation = fate.fate === 'emulated' ? this.#emulation(concept, fate.note ?? '') : undefined;
      if (emulation !== undefined) emulations.set(JSON.stringify(emulation), emulation);
    }
    return { fidelity: [...found, ...this.#headerFates()], emulations: [...emulations.values()] };
  }

  #emulation(concept: AnswerConcept | undefined, detail: string): EmulationEntry | undefined {
    if (concept === undefined) return undefined;
    const capability = this.#capabilities.get(concept) ?? answerConceptRow(concept).as;
    return capability === undefined ? undefined : { capability, strategy: { type: 'post_processing', detail } };
  }

  #headerFates(): FidelityEntry[] {
    return [...this.#hints].map((name): FidelityEntry => {
      const kept = name === 'retry-after' && this.#notes.has('error');
      return kept ? { path: `(header ${name})`, fate: 'exact', count: 1 } : { path: `(header ${name})`, ...HEADER };
    });
  }

  #walk(place: Place, value: Json): void {
    if (value === null || value === '') return;
    if (typeof value !== 'object' || isExactNumber(value)) {
      const counted = this.#strangeStop(place, value) ?? place.restOf ?? place;
      const known = this.#counts.get(counted);
      if (known === undefined) this.#counts.set(counted, { count: 1 });
      else known.count += 1;
      return;
    }
    if (Array.isArray(value)) {
      for (const one of listIn(value)) this.#walk(place.item ?? this.#unclaimed(place, ITEM), one);
      return;
    }
    const object = jsonOf(value); // neither null nor a list
    const kind = this.#kind(place, object);
    this.#members(kind, object, kind !== place);
  }

  /** A reason to stop in a word that nobody knows is no reason that the caller could read: it is counted apart from those that are told. */
  #strangeStop(place: Place, value: Json): Place | undefined {
    if (place.concept !== 'stop_reason') return undefined;
    const words = this.#engine.answers.stops[place.path.slice(place.path.lastIndexOf('.') + 1)];
    const word = String(value);
    if (words === undefined || words.has(word)) return undefined;
    const known = this.#strange.get(place);
    if (known !== undefined) return known;
    const strange: Place = { ...placeAt(place.path, place.concept), word: word.slice(0, MOST_OF_A_WORD) };
    this.#strange.set(place, strange);
    return strange;
  }

  #kind(place: Place, object: JsonObject): Place {
    const kind = this.#kindOf(object);
    if (place.kinds.size === 0) return place;
    return (kind === undefined ? undefined : place.kinds.get(kind)) ?? place.kinds.get(ANY) ?? place;
  }

  /** The type of an object that has a place for its kind is told by that place. */
  #members(place: Place, object: JsonObject, isKind: boolean): void {
    for (const key in object) {
      if (isKind && key === 'type') continue;
      this.#walk(place.members.get(key) ?? this.#unclaimed(place, `.${key}`), object[key] ?? null);
    }
  }

  /** A claim covers what stands below it; a place without one gets a row of its own. */
  #unclaimed(place: Place, key: string): Place {
    if (place.concept !== undefined) return restOf(place);
    const known = this.#unknown.get(place)?.get(key);
    if (known !== undefined) return known;
    if (this.#unknownCount >= MOST_UNKNOWN) return restOf(place);
    this.#unknownCount += 1;
    const next = placeAt(`${place.path}${key}`, undefined);
    const others = this.#unknown.get(place) ?? new Map<string, Place>();
    this.#unknown.set(place, others.set(key, next));
    return next;
  }

  #fate(concept: AnswerConcept | undefined): Pick<FidelityEntry, 'fate' | 'code' | 'note'> {
    if (concept === undefined) return { fate: 'dropped', code: 'unknown_member', note: 'it is not a member we know' } satisfies AnswerNote;
    const told = this.#notes.get(concept);
    if (this.#lost) return { ...(this.#gaveUp && OF_FAILURE.has(concept) ? TOLD_AS_ERROR : LOST) };
    if (told !== undefined) return { ...told };
    const row = answerConceptRow(concept);
    if (row.ours !== undefined) return { fate: 'dropped', code: 'value_of_gateway', note: row.ours } satisfies AnswerNote;
    const same = this.#engine.id === this.#caller.id;
    const name = row.own === true && !same ? undefined : nameIn(this.#caller.answers, concept);
    if (name === undefined)
      return { fate: 'dropped', code: 'no_form_at_caller', note: `${row.title} has no form in ${this.#caller.id}` } satisfies AnswerNote;
    const partly = same && row.partOnly !== true ? undefined : this.#caller.answers.partly?.[concept];
    if (partly !== undefined) return { fate: 'emulated', code: 'told_in_part', note: partly } satisfies AnswerNote;
    if (name === nameIn(this.#engine.answers, concept)) return { fate: 'exact' };
    return { fate: 'renamed', code: 'other_name_at_caller', note: name } satisfies AnswerNote;
  }
}

function strangeFate(word: string): AnswerNote {
  return {
    fate: 'dropped',
    code: 'unknown_stop_reason',
    note: `“${word}” is no reason to stop that we know, and the caller is not told it`,
  };
}

/** A name below a claim may also stand beside it, where it means something else. */
function restOf(place: Place): Place {
  if (place.members.size === 0 && place.kinds.size === 0 && place.item === undefined) return place;
  place.rest ??= { ...placeAt(place.path, place.concept), restOf: place };
  return place.rest;
}

function placeAt(path: string, concept: AnswerConcept | undefined): Place {
  return { path, concept, members: new Map(), kinds: new Map() };
}

function nameIn(shape: AnswerShape, concept: AnswerConcept): string | undefined {
  return shape.names[concept];
}

const recordsOfCallers = new WeakMap<AnswerShape, Map<string, AnswerRecord>>();

/** The records that callers of this dialect were given last. */
function recordsFor(caller: AnswerShape): Map<string, AnswerRecord> {
  const known = recordsOfCallers.get(caller);
  if (known !== undefined) return known;
  const records = new Map<string, AnswerRecord>();
  recordsOfCallers.set(caller, records);
  return records;
}

const tables = new WeakMap<AnswerShape['claims'], Place>();
/** Places of all tables. */
let places = 0;

function placeInTable(path: string, concept: AnswerConcept | undefined): Place {
  places += 1;
  return { ...placeAt(path, concept), number: places };
}

/** The table of claims as places, made once for each dialect. */
function tableOf(claims: AnswerShape['claims']): Place {
  const known = tables.get(claims);
  if (known !== undefined) return known;
  const concepts = new Map(Object.entries(claims));
  const root = placeInTable('', concepts.get(''));
  for (const at of concepts.keys()) grow(root, at, concepts);
  tables.set(claims, root);
  return root;
}

function grow(root: Place, at: string, concepts: ReadonlyMap<string, AnswerConcept>): void {
  let place = root;
  for (const [key] of at.matchAll(/\[\*\]|<[^<>]*>|\.[^.[<]+/g)) {
    const path = `${place.path}${key}`;
    place = below(place, key) ?? putBelow(place, key, placeInTable(path, concepts.get(path) ?? place.concept));
  }
}

/** The place below another: `.name` of a member, `<kind>` of an object, `[*]` of every item. */
function below({ members, kinds, item }: Place, key: string): Place | undefined {
  if (key === ITEM) return item;
  return key.startsWith('.') ? members.get(key.slice(1)) : kinds.get(key.slice(1, -1));
}

function putBelow(place: Place, key: string, next: Place): Place {
  if (key === ITEM) place.item = next;
  else if (key.startsWith('.')) place.members.set(key.slice(1), next);
  else place.kinds.set(key.slice(1, -1), next);
  return next;
}

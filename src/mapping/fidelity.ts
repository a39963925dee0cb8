import { isExactNumber, isJsonObject, type Json, listIn } from '../base/json.ts';
import { type FateCode, isHarmless } from '../contract/fate-codes.ts';
import type { Fate, FidelityEntry } from '../contract/negotiation.ts';
import type { Dialect, FateNote } from '../dialects/dialect.ts';
import { type Concept, conceptRow } from '../ir/concept.ts';
import type { IrMessage } from '../ir/conversation.ts';
import { join, type Ledger } from '../ir/ledger.ts';

/** Everything that decides the fate of a leaf. */
export interface FidelityInput {
  readonly body: Json;
  readonly ledger: Pick<Ledger, 'claims' | 'usual' | 'idle'>;
  readonly source: Dialect;
  readonly target: Dialect;
  readonly lacks: ReadonlySet<Concept>;
  readonly engineName: string;
  readonly notes: readonly FateNote[];
  /** What the engine gets, where the dialect stays the same: members that nobody knows mostly stay where they are. */
  readonly sent?: Json;
  /** Places of earlier answers: what stands there was written by an engine and is no wish of the caller. */
  readonly answers?: ReadonlySet<string>;
  /** Whether a leaf that nobody knows stands in the way; default: it does. */
  readonly unknownLeaves?: 'refuse' | 'report';
}

/** A leaf that cannot go where the caller wants it. */
export interface RefusedLeaf {
  readonly path: string;
  /** Undefined for a leaf nobody knows. */
  readonly concept?: Concept;
  readonly note: string;
}

/** A leaf that arrives by other means or not at all, and not without harm. */
export interface Loss extends FidelityEntry {
  readonly concept?: Concept;
}

export interface Fidelity {
  readonly entries: readonly FidelityEntry[];
  readonly refused: readonly RefusedLeaf[];
  /** Losses that strict does not allow. */
  readonly losses: readonly Loss[];
}

interface Verdict {
  readonly fate: Fate;
  readonly code?: FateCode;
  readonly note?: string;
  readonly concept?: Concept;
  /** The note that decided, where one did. */
  readonly by?: FateNote;
}

/** Lines of an account. A body may hold a hundred thousand leaves; what is beyond is counted, by shape and then by fate alone. */
const MOST_LISTED = 1000;

/** Accounts for every leaf of the caller's body. Leaves that arrived whole are counted by shape, every other one is listed. */
export function fidelity(input: FidelityInput): Fidelity {
  const judge = judgeOf(input);
  const shapes = new Map<string, FidelityEntry & { count: number }>();
  const singles: FidelityEntry[] = [];
  const refused: RefusedLeaf[] = [];
  const losses: Loss[] = [];
  const told = new Set<FateNote>();
  eachLeaf(input.body, '', (path, value) => {
    const verdict = judge(path, value);
    const { fate, note, concept, by } = verdict;
    if (by !== undefined) told.add(by);
    if (fate === 'exact' || fate === 'renamed') {
      countShape(shapes, path, verdict);
      return;
    }
    const entry = entryOf(path, verdict);
    if (singles.length === MOST_LISTED) countShape(shapes, path, verdict);
    else singles.push(entry);
    const meant = concept === undefined ? {} : { concept };
    if (isLoss(entry)) list(losses, { ...entry, ...meant });
    if (fate === 'refused') list(refused, { path, note: note ?? '', ...meant });
  });
  const untold = input.notes.filter((note) => !told.has(note) && note.ofLeaf !== true);
  return {
    entries: [...shapes.values(), ...singles, ...additions(input, untold)],
    losses: [...losses, ...untold.map((note) => ({ path: note.at ?? note.concept, ...note })).filter(isLoss)],
    refused: [...refused, ...untold.filter(({ fate }) => fate === 'refused').map(refusedBy)],
  };
}

function list<T>(entries: T[], entry: T): void {
  if (entries.length < MOST_LISTED) entries.push(entry);
}

function isLoss({ fate, code }: FidelityEntry): boolean {
  return (fate === 'emulated' || fate === 'dropped') && !isHarmless(code);
}

function entryOf(path: string, { fate, code, note }: Verdict): FidelityEntry {
  return { path, fate, ...(code === undefined ? {} : { code }), ...(note === undefined ? {} : { note }) };
}

/** Leaves share a line only where they share everything that it says. */
function countShape(shapes: Map<string, FidelityEntry & { count: number }>, path: string, verdict: Verdict): void {
  const shape = path.includes('[') ? path.replaceAll(/\[\d+\]/g, '[*]') : path;
  const key = `${verdict.fate} ${shape} ${verdict.code ?? ''} ${verdict.note ?? ''}`;
  const known = shapes.get(key);
  if (known !== undefined) known.count += 1;
  else if (shapes.size < MOST_LISTED) shapes.set(key, { ...entryOf(shape, verdict), count: 1 });
  else countElsewhere(shapes, verdict);
}

/** Leaves in so many different places that these are not listed. */
function countElsewhere(shapes: Map<string, FidelityEntry & { count: number }>, { fate, code }: Verdict): void {
  const key = `elsewhere ${fate} ${code ?? ''}`;
  const known = shapes.get(key);
  const entry = { path: '(elsewhere)', fate, ...(code === undefined ? {} : { code }), note: 'in places that are not listed one by one' };
  if (known === undefined) shapes.set(key, { ...entry, count: 1 });
  else known.count += 1;
}

/** Things we added that answer to no leaf, such as a default token limit. */
function additions({ target }: FidelityInput, untold: readonly FateNote[]): FidelityEntry[] {
  return untold
    .filter(({ fate, code }) => code === 'limit_added' || (fate !== 'renamed' && !(fate === 'dropped' && isHarmless(code))))
    .map(({ at, concept, fate, code, note }) => ({ path: at ?? `(${target.names[concept] ?? concept})`, fate, code, note }));
}

function refusedBy({ at, concept, note }: FateNote): RefusedLeaf {
  return { path: at ?? concept, concept, note };
}

function judgeOf(input: FidelityInput): (path: string, value: Json) => Verdict {
  const { idle } = input.ledger;
  const same = input.source.id === input.target.id;
  const stays = same ? stayingIn(input.sent) : () => false;
  const claimed = judgeOfClaims(input, stays);
  if (idle.size === 0) return claimed;
  return (path, value) => {
    const why = nearest(idle, path)?.value;
    // Within one dialect it may stay where it is.
    return why === undefined || stays(path, value) ? claimed(path, value) : { fate: 'dropped', ...why };
  };
}

function judgeOfClaims(input: FidelityInput, stays: (path: string, value: Json) => boolean): (path: string, value: Json) => Verdict {
  const { ledger } = input;
  const noteFor = notesByPlace(input.notes);
  const same = input.source.id === input.target.id;
  return (path, value) => {
    const claim = nearest(ledger.claims, path);
    if (claim === undefined) return stays(path, value) ? { fate: 'exact' } : excused(input, path, unclaimed(input, path, value));
    const { value: concept, at } = claim;
    const by = noteFor(concept, path);
    if (by !== undefined) return { fate: by.fate, code: by.code, note: by.note, concept, by };
    if (same || concept === 'structure') return { fate: 'exact', concept };
    const verdict = spared(ledger.usual.has(at) ? usual(input, concept) : crossing(input, concept), concept, value);
    return concept === 'vendor_option' ? excused(input, path, verdict) : verdict;
  };
}

/** Whether a leaf stands in what is sent, at its place or that of another message or tool: some may have been taken out before it. */
function stayingIn(sent: Json | undefined): (path: string, value: Json) => boolean {
  if (sent === undefined) return () => true;
  let known: Set<string> | undefined;
  // Gemini takes its members in two spellings, and gets one.
  const nameOf = (path: string, value: Json): string =>
    `${path
      .replaceAll(/\[\d+\]/g, '[*]')
      .replaceAll('_', '')
      .toLowerCase()} ${JSON.stringify(value)}`;
  return (path, value) => {
    if (known === undefined) {
      const names = new Set<string>();
      eachLeaf(sent, '', (at, leaf) => names.add(nameOf(at, leaf)));
      known = names;
    }
    return known.has(nameOf(path, value));
  };
}

/** The first of the notes on a concept that covers a place. A long conversation has thousands of both. */
function notesByPlace(notes: readonly FateNote[]): (concept: Concept, path: string) => FateNote | undefined {
  const places = new Map<Concept, Map<string, number>>();
  notes.forEach(({ concept, at = '' }, index) => {
    const known = places.get(concept) ?? new Map<string, number>();
    if (!known.has(at)) known.set(at, index);
    places.set(concept, known);
  });
  return (concept, path) => {
    const known = places.get(concept);
    if (known === undefined) return undefined;
    let first = known.get('') ?? notes.length;
    for (let at = path; at !== ''; at = parentOf(at)) first = Math.min(first, known.get(at) ?? notes.length);
    return notes[first];
  };
}

/** Callers send an answer back as it came, with members that are newer than we are. */
function excused({ answers, engineName }: FidelityInput, path: string, verdict: Verdict): Verdict {
  const [message = ''] = /^\w+\[\d+\]/.exec(path) ?? [];
  if (verdict.fate !== 'refused' || answers?.has(message) !== true) return verdict;
  return { fate: 'dropped', code: 'of_earlier_answer', note: `a member of an earlier answer; ${engineName} does not get it` };
}

/** Places of the messages and items in a body that an engine wrote. */
export function answersIn(messages: readonly IrMessage[]): ReadonlySet<string> {
  const places = messages
    .filter(({ role }) => role === 'assistant')
    .flatMap(({ at, parts }) => [at, ...parts.map((part) => part.at)])
    .map((at) => /^\w+\[\d+\]/.exec(at ?? '')?.[0]);
  return new Set(places.filter((place) => place !== undefined));
}

function unclaimed(input: FidelityInput, path: string, value: Json): Verdict {
  return isNothing(value) ? NOTHING : unknownLeaf(input, path);
}

/** A value that says what absence says is not lost where it has no form. */
function spared(verdict: Verdict, concept: Concept, value: Json): Verdict {
  const arrives = verdict.fate === 'exact' || verdict.fate === 'renamed';
  return !arrives && isNothing(value) && isAbsence(concept) ? { ...NOTHING, concept } : verdict;
}

const NOTHING: Verdict = { fate: 'dropped', code: 'default_value', note: 'says what absence says' };

/** Null, and a list or an object that holds nothing. */
function isNothing(value: Json): boolean {
  return value === null || (typeof value === 'object' && Object.keys(value).length === 0 && !isExactNumber(value));
}

/** An empty declaration of a hosted tool asks for it. */
function isAbsence(concept: Concept): boolean {
  return concept !== 'hosted_tool' && concept !== 'vendor_block';
}

function unknownLeaf({ unknownLeaves, engineName }: FidelityInput, path: string): Verdict {
  const code = 'unknown_field';
  return unknownLeaves === 'report'
    ? { fate: 'dropped', code, note: `${path} is not a field we know; ${engineName} does not get it` }
    : { fate: 'refused', code, note: `${path} is not a field we know; it would be lost on ${engineName}` };
}

/** A stated default is lost only where any other value would have been: elsewhere it is what the engine does. */
function usual(input: FidelityInput, concept: Concept): Verdict {
  const row = conceptRow(concept);
  if (nameOn(input, concept) !== undefined || (row.weight === 'meaning' && row.served !== true)) return { fate: 'exact', concept };
  return { fate: 'dropped', code: 'default_value', note: 'states what happens without it', concept };
}

function nameOn({ target, lacks }: FidelityInput, concept: Concept): string | undefined {
  return conceptRow(concept).own === true || lacks.has(concept) ? undefined : target.names[concept];
}

/** The fate of a concept between two dialects when no note says anything else. */
function crossing(input: FidelityInput, concept: Concept): Verdict {
  const { source, engineName } = input;
  const row = conceptRow(concept);
  const name = nameOn(input, concept);
  if (name === undefined) return lost(concept, `${row.title} has no form on ${engineName}`);
  return name === source.names[concept] ? { fate: 'exact', concept } : { fate: 'renamed', code: 'other_name', note: name, concept };
}

const LOST_CODES: Readonly<Partial<Record<Concept, FateCode>>> = { usage_in_stream: 'gateway_setting', schema_strict: 'always_held' };

function lost(concept: Concept, note: string): Verdict {
  const { weight } = conceptRow(concept);
  const code = weight === 'nothing' ? (LOST_CODES[concept] ?? 'bookkeeping') : 'no_form';
  return { fate: weight === 'meaning' ? 'refused' : 'dropped', code, note, concept };
}

/** Whether a path is `at` or stands below it. */
export function covers(at: string | undefined, path: string): boolean {
  return at === undefined || path === at || (path.startsWith(at) && (path[at.length] === '.' || path[at.length] === '['));
}

/** What is said of the path itself or of the nearest thing above it. */
function nearest<T>(said: ReadonlyMap<string, T>, path: string): { readonly value: T; readonly at: string } | undefined {
  for (let at = path; at !== ''; at = parentOf(at)) {
    const value = said.get(at);
    if (value !== undefined) return { value, at };
  }
  return undefined;
}

function parentOf(path: string): string {
  const cut = Math.max(path.lastIndexOf('.'), path.lastIndexOf('['));
  return cut === -1 ? '' : path.slice(0, cut);
}

/** Scalars, and empty objects and lists: everything that would be lost without a trace. */
function eachLeaf(value: Json, path: string, visit: (path: string, value: Json) => void): void {
  let leaf = true;
  if (Array.isArray(value)) {
    leaf = value.length === 0;
    for (const [at, item] of listIn(value).entries()) eachLeaf(item, join(path, at), visit);
  } else if (isJsonObject(value)) {
    for (const key in value) {
      leaf = false;
      eachLeaf(value[key] ?? null, join(path, key), visit);
    }
  }
  if (leaf) visit(path, value);
}

import { isJsonObject, type Json } from '../base/json.ts';
import type { Fate, FidelityEntry } from '../contract/negotiation.ts';
import type { Dialect, FateNote } from '../dialects/dialect.ts';
import { type Concept, conceptRow } from '../ir/concept.ts';
import { join } from '../ir/ledger.ts';

/** What the fate of every leaf is decided from. */
export interface FidelityInput {
  readonly body: Json;
  readonly claims: ReadonlyMap<string, Concept>;
  readonly source: Dialect;
  readonly target: Dialect;
  readonly lacks: ReadonlySet<Concept>;
  readonly engineName: string;
  readonly notes: readonly FateNote[];
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

export interface Fidelity {
  readonly entries: readonly FidelityEntry[];
  readonly refused: readonly RefusedLeaf[];
}

interface Verdict {
  readonly fate: Fate;
  readonly note?: string;
  readonly concept?: Concept;
}

/** Accounts for every leaf of the caller's body. Leaves that arrived whole are counted by shape, every other one is listed. */
export function fidelity(input: FidelityInput): Fidelity {
  const judge = judgeOf(input);
  const shapes = new Map<string, { fate: Fate; note: string | undefined; count: number }>();
  const singles: FidelityEntry[] = [];
  const refused: RefusedLeaf[] = [];
  eachLeaf(input.body, '', (path) => {
    const verdict = judge(path);
    const { fate, note, concept } = verdict;
    if (fate === 'exact' || fate === 'renamed') countShape(shapes, path, verdict);
    else singles.push({ path, fate, ...(note === undefined ? {} : { note }) });
    if (fate === 'refused') refused.push({ path, note: note ?? '', ...(concept === undefined ? {} : { concept }) });
  });
  const counted = [...shapes].map(([key, { fate, note, count }]) => ({
    path: key.slice(key.indexOf(' ') + 1),
    fate,
    ...(note === undefined ? {} : { note }),
    count,
  }));
  return { entries: [...counted, ...singles, ...additions(input, singles)], refused: [...refused, ...refusedNotes(input, refused)] };
}

function countShape(
  shapes: Map<string, { fate: Fate; note: string | undefined; count: number }>,
  path: string,
  { fate, note }: Verdict,
): void {
  const key = `${fate} ${path.replaceAll(/\[\d+\]/g, '[*]')}`;
  const shape = shapes.get(key);
  if (shape === undefined) shapes.set(key, { fate, note, count: 1 });
  else shape.count += 1;
}

/** Things we added that answer to no leaf, such as a default token limit. */
function additions(input: FidelityInput, listed: readonly FidelityEntry[]): FidelityEntry[] {
  return input.notes
    .filter((note) => note.fate !== 'renamed' && !listed.some((entry) => entry.note === note.note))
    .map((note) => ({ path: note.at ?? `(${input.target.names[note.concept] ?? note.concept})`, fate: note.fate, note: note.note }));
}

function refusedNotes(input: FidelityInput, known: readonly RefusedLeaf[]): RefusedLeaf[] {
  return input.notes
    .filter((note) => note.fate === 'refused' && !known.some((leaf) => leaf.note === note.note))
    .map((note) => ({ path: note.at ?? note.concept, concept: note.concept, note: note.note }));
}

function judgeOf(input: FidelityInput): (path: string) => Verdict {
  const { claims, notes, engineName } = input;
  const same = input.source.id === input.target.id;
  return (path) => {
    const concept = claimOf(claims, path);
    if (concept === undefined) {
      if (same) return { fate: 'exact' };
      const lost = input.unknownLeaves === 'report';
      return lost
        ? { fate: 'dropped', note: `${path} is not a field we know; ${engineName} does not get it` }
        : { fate: 'refused', note: `${path} is not a field we know; it would be lost on ${engineName}` };
    }
    const note = notes.find((candidate) => candidate.concept === concept && covers(candidate.at, path));
    if (note !== undefined) return { fate: note.fate, note: note.note, concept };
    return same || concept === 'structure' ? { fate: 'exact', concept } : crossing(input, concept);
  };
}

/** What becomes of a concept between two dialects when nothing special happens to it. */
function crossing({ source, target, lacks, engineName }: FidelityInput, concept: Concept): Verdict {
  const row = conceptRow(concept);
  const name = row.own === true || lacks.has(concept) ? undefined : target.names[concept];
  if (name === undefined)
    return { fate: row.weight === 'hint' ? 'dropped' : 'refused', note: `${row.title} has no form on ${engineName}`, concept };
  return name === source.names[concept] ? { fate: 'exact', concept } : { fate: 'renamed', note: name, concept };
}

/** Whether a path is `at` or stands below it. */
export function covers(at: string | undefined, path: string): boolean {
  return at === undefined || path === at || (path.startsWith(at) && (path[at.length] === '.' || path[at.length] === '['));
}

/** The claim on the path itself or on the nearest thing above it. */
function claimOf(claims: ReadonlyMap<string, Concept>, path: string): Concept | undefined {
  for (let at = path; at !== ''; at = parentOf(at)) {
    const concept = claims.get(at);
    if (concept !== undefined) return concept;
  }
  return undefined;
}

function parentOf(path: string): string {
  const cut = Math.max(path.lastIndexOf('.'), path.lastIndexOf('['));
  return cut === -1 ? '' : path.slice(0, cut);
}

/** Scalars, and empty objects and lists: everything that would be lost without a trace. */
function eachLeaf(value: Json, path: string, visit: (path: string) => void): void {
  const members = membersOf(value);
  if (members.length === 0) visit(path);
  for (const [key, member] of members) eachLeaf(member, join(path, key), visit);
}

function membersOf(value: Json): readonly (readonly [string | number, Json])[] {
  if (Array.isArray(value)) return value.map((item: Json, index) => [index, item] as const);
  return isJsonObject(value) ? Object.entries(value) : [];
}

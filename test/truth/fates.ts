import { isJsonObject, type Json } from '../../src/base/json.ts';
import type { Fate, FidelityEntry } from '../../src/contract/negotiation.ts';
import { join } from '../../src/ir/ledger.ts';
import type { Mapping } from '../../src/mapping/mapping.ts';
import { type MappingTarget, mapTo, OPTED_IN } from '../support/mapping.ts';
import type { SampleRequest } from './sources.ts';
import type { Tally } from './tally.ts';

interface Leaf {
  readonly steps: readonly (string | number)[];
  readonly path: string;
  readonly value: Json;
  /** Other values of the list or object that it is in. */
  readonly siblings: readonly Json[];
}

/** Everything in a body that has a value of its own and can be changed a little. */
function leavesOf(value: Json, steps: readonly (string | number)[] = [], path = '', siblings: readonly Json[] = []): Leaf[] {
  const below = (key: string | number, item: Json, all: readonly Json[]): Leaf[] =>
    leavesOf(
      item,
      [...steps, key],
      join(path, key),
      all.filter((one) => one !== item && typeof one === typeof item),
    );
  if (Array.isArray(value)) return value.flatMap((item: Json, at) => below(at, item, value));
  if (isJsonObject(value)) return Object.entries(value).flatMap(([key, item]) => below(key, item, Object.values(value)));
  return value === null ? [] : [{ steps, path, value, siblings }];
}

function changed(value: Json): Json {
  // The end of a base64 text may not count.
  if (typeof value === 'string') return /^[A-Za-z0-9+/]{8,}={0,2}$/.test(value) ? `QUJD${value}` : `${value}x`;
  if (typeof value === 'number') return value + 1;
  return typeof value === 'boolean' ? !value : 1;
}

/** Values that mean something else than this one to somebody who only tells few kinds apart: sizes by powers of ten, words, the first letters. */
function others({ value, siblings }: Leaf, elsewhere: readonly Json[]): Json[] {
  if (typeof value === 'number') return [value + 1, value * 10, value / 10, Math.floor(value / 2), value + 100_000, 1];
  if (typeof value === 'string')
    return [
      ...[changed(value), `x${value}`, `${value} and more`, 'data:image/png;base64,QUJD', 'https://x.example/y'],
      ...[...WORDS, ...siblings, ...elsewhere],
    ];
  return [changed(value)];
}

/** Values that stand at the same place in other requests, also of dialects that are alike: a word of a fixed list means something else than another. */
export type Vocabulary = ReadonlyMap<string, ReadonlySet<Json>>;

/** Texts beyond it are no words of a list. */
const LONGEST_WORD = 40;

export function vocabularyOf(samples: readonly SampleRequest[]): Vocabulary {
  const words = new Map<string, Set<Json>>();
  for (const { body } of samples)
    for (const { path, value } of leavesOf(body)) {
      if (typeof value !== 'string' || value.length > LONGEST_WORD) continue;
      const place = shapeOf(path);
      words.set(place, (words.get(place) ?? new Set()).add(value));
    }
  return words;
}

function shapeOf(path: string): string {
  return path.replaceAll(/\[\d+\]/g, '[*]');
}

/** Words of fixed lists, of which one means something else than another. */
const WORDS = ['disabled', 'enabled', 'none', 'auto', 'low', 'high'];

function withLeaf(value: Json, [step, ...rest]: readonly (string | number)[], leaf: Json): Json {
  if (step === undefined) return leaf;
  if (Array.isArray(value)) return value.map((item: Json, at) => (at === step ? withLeaf(item, rest, leaf) : item));
  return isJsonObject(value) ? { ...value, [step]: withLeaf(value[step] ?? null, rest, leaf) } : value;
}

function withoutLeaf(value: Json, [step, ...rest]: readonly (string | number)[]): Json {
  if (Array.isArray(value))
    return value.flatMap((item: Json, at) => (at !== step ? [item] : rest.length === 0 ? [] : [withoutLeaf(item, rest)]));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, item]) =>
      key !== step ? [[key, item]] : rest.length === 0 ? [] : [[key, withoutLeaf(item, rest)]],
    ),
  );
}

/** What the public record says of a leaf: the line of its own, else the line of its shape. */
function fateOf(entries: ReadonlyMap<string, FidelityEntry>, path: string): Fate | undefined {
  return (entries.get(path) ?? entries.get(shapeOf(path)))?.fate;
}

function sentBy({ upstream }: Mapping): string | undefined {
  return upstream === undefined ? undefined : JSON.stringify([upstream.path, upstream.headers, upstream.body]);
}

/** What the engine gets, and what we do with its answer: an emulation may be either. */
function doneBy(mapping: Mapping): string | undefined {
  const sent = sentBy(mapping);
  // The estimate of the tokens goes by everything that is said.
  const changes = mapping.changes.filter(({ kind }) => kind !== 'input-estimate');
  const listed = (_name: string, value: unknown): unknown => (value instanceof Map || value instanceof Set ? [...value] : value);
  return sent === undefined ? undefined : `${sent}${JSON.stringify(changes, listed)}`;
}

interface TriedLeaf {
  readonly sample: SampleRequest;
  readonly target: MappingTarget;
  readonly tally: Tally;
  readonly leaf: Leaf;
  readonly first: Mapping;
  readonly mapped: (body: Json) => Mapping;
  readonly words: Vocabulary;
}

/** A leaf that is said to be emulated does something: another value of it, or none, is sent, done to the answer, refused, or told in another way. */
function tryEmulated({ sample, target, tally, leaf, first, mapped, words }: TriedLeaf): void {
  // A schema that the gateway holds answers to is held whether it is called strict or not; the last of an order follows from the others.
  if (/(?:^|\.)strict$|propertyOrdering\[\d+\]$/.test(leaf.path)) return;
  tally.tried += 1;
  const elsewhere = [...(words.get(shapeOf(leaf.path)) ?? [])];
  const bodies = [
    ...others(leaf, elsewhere).map((value) => withLeaf(sample.body, leaf.steps, value)),
    withoutLeaf(sample.body, leaf.steps),
  ];
  const does = bodies.some((body) => {
    const again = mapped(body);
    // What nobody could take is refused before anything depends on it.
    if (again.error !== undefined) return /^E0/.test(again.error.code);
    if (doneBy(again) !== doneBy(first)) return true;
    return fateOf(new Map(again.fidelity.map((entry) => [entry.path, entry])), leaf.path) !== 'emulated';
  });
  if (!does) tally.wrong.push({ sample: sample.id, where: target.name, what: `${leaf.path} is not emulated: nothing depends on it` });
}

/** A leaf that arrives does so, and a dropped one does not. A word of a list may say what no word says; another word does not. */
function tryArriving({ sample, target, tally, leaf, first, mapped, words }: TriedLeaf, fate: Fate | undefined): void {
  const again = mapped(withLeaf(sample.body, leaf.steps, changed(leaf.value)));
  if (fate === 'dropped' && again.error !== undefined) return;
  tally.tried += 1;
  const moves = (value: Json): boolean => sentBy(mapped(withLeaf(sample.body, leaf.steps, value))) !== sentBy(first);
  const known = typeof leaf.value === 'string' ? [...(words.get(shapeOf(leaf.path)) ?? [])] : others(leaf, []);
  const moved = sentBy(again) !== sentBy(first) || (fate !== 'dropped' && known.some(moves));
  // A value that means more than the first may have another fate, which its own record then tells: false often says what absence says.
  const then = fateOf(new Map(again.fidelity.map((entry) => [entry.path, entry])), leaf.path);
  if (!moved && (then === 'emulated' || (leaf.value === false && then === 'dropped'))) return;
  if (fate === undefined || moved !== (fate !== 'dropped'))
    tally.wrong.push({ sample: sample.id, where: target.name, what: `${leaf.path} is not ${fate ?? 'refused'}` });
}

interface Trial {
  readonly picked?: (at: number) => boolean;
  readonly words?: Vocabulary;
}

/** Changes each leaf of a request in turn and compares what the engine would get with what the record says of the leaf. */
export function tryFates(
  sample: SampleRequest,
  target: MappingTarget,
  tally: Tally,
  { picked = () => true, words = new Map() }: Trial = {},
): void {
  const mapped = (body: Json): Mapping => mapTo(target, sample.from, body, { emulate: OPTED_IN, address: sample.address });
  const first = mapped(sample.body);
  if (first.upstream === undefined) return;
  const entries = new Map(first.fidelity.map((entry) => [entry.path, entry]));
  for (const [at, leaf] of leavesOf(sample.body).entries()) {
    const fate = fateOf(entries, leaf.path);
    // Which model the engine gets is decided by the route, not here.
    if (leaf.path === 'model' || !picked(at)) continue;
    const tried = { sample, target, tally, leaf, first, mapped, words };
    if (fate === 'emulated') tryEmulated(tried);
    else tryArriving(tried, fate);
  }
}

/** A member that nobody knows, and what it says, which stands nowhere else. */
const STRANGER = 'a_member_that_nobody_knows';
const SAID = 'the words of a stranger';

/** The body once for each object in it, with a member more in that object. */
function* withStrangers(value: Json, path = ''): Generator<{ readonly path: string; readonly body: Json }> {
  if (Array.isArray(value)) {
    for (const [at, item] of value.entries())
      for (const inner of withStrangers(item, join(path, at))) yield { path: inner.path, body: value.with(at, inner.body) };
  } else if (isJsonObject(value)) {
    yield { path: join(path, STRANGER), body: { ...value, [STRANGER]: SAID } };
    for (const [key, item] of Object.entries(value))
      for (const inner of withStrangers(item, join(path, key))) yield { path: inner.path, body: { ...value, [key]: inner.body } };
  }
}

/** Puts a member that nobody knows into each object of a request: its words arrive, or it is said to be dropped, or the request is refused. */
export function tryStrangers(sample: SampleRequest, target: MappingTarget, tally: Tally): void {
  const mapped = (body: Json): Mapping => mapTo(target, sample.from, body, { emulate: OPTED_IN, address: sample.address });
  if (mapped(sample.body).upstream === undefined) return;
  for (const { path, body } of withStrangers(sample.body)) {
    const again = mapped(body);
    if (again.error !== undefined) continue;
    tally.tried += 1;
    const fate = fateOf(new Map(again.fidelity.map((entry) => [entry.path, entry])), path);
    const arrived = sentBy(again)?.includes(SAID) === true;
    if (fate === undefined || arrived !== (fate !== 'dropped'))
      tally.wrong.push({ sample: sample.id, where: target.name, what: `${path} is not ${fate ?? 'told'}` });
  }
}

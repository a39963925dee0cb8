import { isoTime } from '../../base/clock.ts';
import { hyphenate } from '../../base/ids.ts';
import type { Leaf } from '../../contract/receipts/field.ts';
import { CONTRACT_VERSION, HASH_PROFILE } from '../../contract/version.ts';
import { FACT_ROWS, type FactRow, LEAVES, noneOf } from '../journal/fact-rows.ts';
import { type CloseTexts, copyOf, FIRST_VALUE, type OpenTexts, PLACES } from '../journal/texts.ts';
import { WRITINGS } from '../journal/writings.ts';
import { contentMembers, withoutMember } from '../seal/content-hash.ts';

/** Where a receipt is built. */
export interface Origin {
  readonly node: string;
  readonly version: string;
}

/** The parts of a document: the texts of a run, each as the bytes of its RFC 8785 form, one per character. */
export interface RunTexts {
  readonly open: readonly string[];
  readonly close: readonly string[];
  readonly origin: Origin;
  /** The hash of the content as JSON text. */
  readonly sha256: string;
}

const [RUN, AT] = [1, 2];

/** Values that may hold escapes or members in another order, as their RFC 8785 form; the others have no other. */
export function runTexts(open: OpenTexts, close: CloseTexts, origin: Origin): RunTexts {
  return { open: canonical(open.values, ESCAPED.open), close: canonical(close.values, ESCAPED.close), origin, sha256: 'null' };
}

/** The forms of the texts in one place. */
class Forms {
  readonly place: number;
  readonly #form: (text: string) => string;
  /** Calls that follow each other are mostly alike: that a long text is the one before is seen much faster than it is looked up. */
  #text = '';
  #formed = '';

  constructor(place: number, form: (text: string) => string) {
    this.place = place;
    this.#form = form;
  }

  of(text: string): string {
    if (text.length < LONG) return this.#form(text);
    if (text !== this.#text) {
      this.#formed = this.#form(text);
      this.#text = copyOf(text);
    }
    return this.#formed;
  }
}

const LONG = 128;

type Escaped = readonly Forms[];

const ESCAPED = { open: escapedOf(FACT_ROWS.open), close: escapedOf(FACT_ROWS.close) } as const;

function escapedOf(rows: readonly FactRow[]): Escaped {
  return rows.flatMap(({ text }, at) => {
    const form = WRITINGS[text].canonical;
    return form === undefined ? [] : [new Forms(at + FIRST_VALUE, form)];
  });
}

function canonical(values: readonly string[], escaped: Escaped): readonly string[] {
  // Most values are in that form already.
  let made: string[] | undefined;
  for (const forms of escaped) {
    const text = values[forms.place] ?? '';
    const formed = forms.of(text);
    if (formed === text) continue;
    made ??= values.slice();
    made[forms.place] = formed;
  }
  return made ?? values;
}

/** Where the text of a field comes from: a place in one of the facts (in both, the later word counts), or what we know ourselves. */
type Slot =
  | { readonly from: 'open' | 'close'; readonly place: number }
  | { readonly from: 'both'; readonly opening: number; readonly closing: number; readonly none: string }
  | { readonly from: 'given'; readonly write: (run: RunTexts) => string };

/** Fields that no fact says in so many words. */
const GIVEN: Readonly<Record<string, (run: RunTexts) => string>> = {
  id: ({ open }) => `"${hyphenate((open[RUN] ?? '').slice('run_'.length))}"`,
  run_id: ({ open }) => `"${open[RUN]}"`,
  contract_version: () => `"${CONTRACT_VERSION}"`,
  hash_profile: () => `"${HASH_PROFILE}"`,
  started_at: ({ open }) => `"${isoTime(Number(open[AT]))}"`,
  completed_at: ({ close }) => (close[AT] === '' ? 'null' : `"${isoTime(Number(close[AT]))}"`),
  'timing.received_at_ms': ({ open }) => open[AT] ?? '',
  node: ({ origin }) => `"${origin.node}"`,
  version: ({ origin }) => `"${origin.version}"`,
  receipt_sha256: ({ sha256 }) => sha256,
  seal: () => 'null',
};

function slotOf(leaf: Leaf): Slot {
  const name = leaf.path.join('.');
  const write = GIVEN[name];
  if (write !== undefined) return { from: 'given', write };
  const [opening, closing] = [PLACES.open.get(leaf.fact ?? ''), PLACES.close.get(leaf.fact ?? '')];
  if (opening !== undefined && closing !== undefined) return { from: 'both', opening, closing, none: noneOf(leaf) };
  if (opening !== undefined) return { from: 'open', place: opening };
  if (closing !== undefined) return { from: 'close', place: closing };
  throw new TypeError(`nobody supplies the field ${name} of a receipt`);
}

function textIn(slot: Slot, run: RunTexts): string {
  switch (slot.from) {
    case 'open':
      return run.open[slot.place] ?? '';
    case 'close':
      return run.close[slot.place] ?? '';
    case 'both': {
      const later = run.close[slot.closing] ?? slot.none;
      return later === slot.none ? (run.open[slot.opening] ?? slot.none) : later;
    }
    case 'given':
      return slot.write(run);
  }
}

interface Member {
  readonly path: Leaf['path'];
  readonly slot: Slot;
}

/** A text of an object with holes. */
interface Template {
  readonly slots: readonly Slot[];
  /** The text before each hole, then the hole's own text of the run that was written last, then the end. Joined, they are one flat string. */
  readonly pieces: string[];
}

/** The object of these members, in the order of RFC 8785. */
function templateOf(members: readonly Member[]): Template {
  const sorted = members.toSorted((a, b) => (a.path.join('.') < b.path.join('.') ? -1 : 1));
  const literals = sorted.map(({ path: [name, part] }, at) => {
    const before = sorted[at - 1]?.path;
    if (part !== undefined && before?.[0] === name) return `,"${part}":`;
    const between = before === undefined ? '{' : before.length > 1 ? '},' : ',';
    return `${between}"${name}":${part === undefined ? '' : `{"${part}":`}`;
  });
  const end = (sorted.at(-1)?.path.length ?? 1) > 1 ? '}}' : '}';
  return { slots: sorted.map(({ slot }) => slot), pieces: [...literals.flatMap((literal) => [literal, '']), end] };
}

function written({ slots, pieces }: Template, run: RunTexts): string {
  let text = '';
  for (let at = 0; at < slots.length; at += 1) {
    text += pieces[2 * at];
    text += textIn(slots[at] as Slot, run); // within its bounds
  }
  return text + pieces[2 * slots.length];
}

const DOCUMENT = templateOf(LEAVES.map((leaf) => ({ path: leaf.path, slot: slotOf(leaf) })));
const SEAL = DOCUMENT.pieces.indexOf(',"seal":');
const BEFORE_SEAL: Template = { slots: DOCUMENT.slots.slice(0, SEAL / 2), pieces: DOCUMENT.pieces.slice(0, SEAL + 1) };
const AFTER_SEAL: Template = { slots: DOCUMENT.slots.slice(SEAL / 2 + 1), pieces: DOCUMENT.pieces.slice(SEAL + 2) };

/** The document up to its seal, and behind it. */
export function aroundSeal(run: RunTexts): { before: string; after: string } {
  return { before: written(BEFORE_SEAL, run), after: written(AFTER_SEAL, run) };
}

const CONTENT = templateOf(
  contentMembers(HASH_PROFILE).map(({ leaf, name }): Member => {
    const slot = slotOf(leaf);
    const left = leaf.hashedWithout;
    return { path: [name], slot: left === undefined ? slot : { from: 'given', write: (run) => withoutMember(textIn(slot, run), left) } };
  }),
);

/** The content that is hashed, in its RFC 8785 form. */
export function contentText(run: RunTexts): string {
  return written(CONTENT, run);
}

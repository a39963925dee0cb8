import { isoTime } from '../../base/clock.ts';
import { hyphenate } from '../../base/ids.ts';
import type { Leaf } from '../../contract/receipts/field.ts';
import { CONTRACT_VERSION, HASH_PROFILE } from '../../contract/version.ts';
import { FACT_ROWS, type FactRow, LEAVES, noneOf } from '../journal/fact-rows.ts';
import { type CloseTexts, FIRST_VALUE, type OpenTexts, PLACES } from '../journal/texts.ts';
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

type Escaped = readonly { readonly place: number; readonly form: (text: string) => string }[];

const ESCAPED = { open: escapedOf(FACT_ROWS.open), close: escapedOf(FACT_ROWS.close) } as const;

function escapedOf(rows: readonly FactRow[]): Escaped {
  return rows.flatMap(({ text }, at) => {
    const form = WRITINGS[text].canonical;
    return form === undefined ? [] : [{ place: at + FIRST_VALUE, form }];
  });
}

function canonical(values: readonly string[], escaped: Escaped): readonly string[] {
  // Most values are in that form already.
  let made: string[] | undefined;
  for (const { place, form } of escaped) {
    const text = values[place] ?? '';
    const formed = form(text);
    if (formed === text) continue;
    made ??= values.slice();
    made[place] = formed;
  }
  return made ?? values;
}

type Write = (run: RunTexts) => string;

/** Fields that no fact says in so many words. */
const GIVEN: Readonly<Record<string, Write>> = {
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

function writeOf(leaf: Leaf): Write {
  const name = leaf.path.join('.');
  const given = GIVEN[name];
  if (given !== undefined) return given;
  const [opening, closing] = [PLACES.open.get(leaf.fact ?? ''), PLACES.close.get(leaf.fact ?? '')];
  if (opening !== undefined && closing !== undefined) {
    const none = noneOf(leaf);
    return ({ open, close }) => (close[closing] === none ? (open[opening] ?? none) : (close[closing] ?? none));
  }
  if (opening !== undefined) return ({ open }) => open[opening] ?? '';
  if (closing !== undefined) return ({ close }) => close[closing] ?? '';
  throw new TypeError(`nobody supplies the field ${name} of a receipt`);
}

interface Member {
  readonly path: Leaf['path'];
  readonly write: Write;
}

/** A text of an object with holes. */
interface Template {
  readonly parts: readonly { readonly literal: string; readonly write: Write }[];
  readonly end: string;
}

/** The object of these members, in the order of RFC 8785. */
function templateOf(members: readonly Member[]): Template {
  const sorted = members.toSorted((a, b) => (a.path.join('.') < b.path.join('.') ? -1 : 1));
  const parts = sorted.map(({ path: [name, part], write }, at) => {
    const before = sorted[at - 1]?.path;
    if (part !== undefined && before?.[0] === name) return { literal: `,"${part}":`, write };
    const between = before === undefined ? '{' : before.length > 1 ? '},' : ',';
    return { literal: `${between}"${name}":${part === undefined ? '' : `{"${part}":`}`, write };
  });
  return { parts, end: (sorted.at(-1)?.path.length ?? 1) > 1 ? '}}' : '}' };
}

function written({ parts, end }: Template, run: RunTexts): string {
  let text = '';
  for (const { literal, write } of parts) text += literal + write(run);
  return text + end;
}

const DOCUMENT = templateOf(LEAVES.map((leaf) => ({ path: leaf.path, write: writeOf(leaf) })));
const SEAL = DOCUMENT.parts.findIndex(({ literal }) => literal === ',"seal":');
const BEFORE_SEAL: Template = { parts: DOCUMENT.parts.slice(0, SEAL), end: ',"seal":' };
const AFTER_SEAL: Template = { parts: DOCUMENT.parts.slice(SEAL + 1), end: DOCUMENT.end };

/** The document up to its seal, and behind it. */
export function aroundSeal(run: RunTexts): { before: string; after: string } {
  return { before: written(BEFORE_SEAL, run), after: written(AFTER_SEAL, run) };
}

const CONTENT = templateOf(
  contentMembers(HASH_PROFILE).map(({ leaf, name }): Member => {
    const write = writeOf(leaf);
    const left = leaf.hashedWithout;
    return { path: [name], write: left === undefined ? write : (run) => withoutMember(write(run), left) };
  }),
);

/** The content that is hashed, in its RFC 8785 form. */
export function contentText(run: RunTexts): string {
  return written(CONTENT, run);
}

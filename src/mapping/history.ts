import { isExactNumber, isJsonObject, type Json, type JsonObject, listIn } from '../base/json.ts';
import type { Dialect, FateNote } from '../dialects/dialect.ts';
import { findDialect } from '../dialects/index.ts';
import type { IrMessage } from '../ir/conversation.ts';
import { join } from '../ir/ledger.ts';
import type { IrPart, VendorPart } from '../ir/part.ts';
import type { IrRequest } from '../ir/request.ts';
import { pastLabelOf, unknownLabel } from './answers/labels.ts';

/**
 * Earlier answers as the target's wire can take them. Callers send them back as they came, with what only the engine of that answer could
 * write: tools that it ran, media that it made, and with the results of tools that only that engine calls. None of that is a wish of the
 * caller, so it becomes labelled text.
 */
export function readableHistory(request: IrRequest, target: Dialect): { readonly request: IrRequest; readonly notes: readonly FateNote[] } {
  const notes: FateNote[] = [];
  const told = new ToldLeaves();
  if (!request.messages.some((message) => message.parts.some((part) => holdsForeign(message, part, target)))) return { request, notes };
  const read = (message: IrMessage, part: IrPart): IrPart => {
    if (!holdsForeign(message, part, target)) return part;
    if (part.kind === 'tool-result') return { ...part, parts: part.parts.map((inner) => read(message, inner)) };
    return readable(part, notes, told);
  };
  const messages = request.messages.map((message) => ({ ...message, parts: message.parts.map((part) => read(message, part)) }));
  return { request: { ...request, messages }, notes };
}

/** A part that no other engine can read, or a result with one in it. */
function holdsForeign(message: IrMessage, part: IrPart, target: Dialect): boolean {
  if (part.kind !== 'tool-result') return isForeign(message, part, target);
  return part.parts.some((inner) => inner.kind === 'vendor' && isForeign(message, inner, target));
}

const MEDIA = new Set(['image', 'audio', 'video', 'document']);

function isForeign({ role }: IrMessage, part: IrPart, { id, rules }: Dialect): boolean {
  if (part.kind === 'vendor') return part.dialect !== id && (role === 'assistant' || part.result === true);
  if (role !== 'assistant') return false;
  return MEDIA.has(part.kind) && !rules.assistantMedia;
}

function readable(part: IrPart, notes: FateNote[], told: ToldLeaves): IrPart {
  const at = part.at === undefined ? {} : { at: part.at };
  const text = part.kind === 'vendor' ? textOf(part) : `[generated ${part.kind}]`;
  const brought = part.kind === 'vendor' && findDialect(part.dialect)?.answers.show(part)?.kind === 'passage';
  const note = `sent as labelled text: ${brought ? 'the engine has no such block' : 'it belongs to the engine that wrote it'}`;
  const untold = untoldOf(part, told);
  for (const concept of conceptsOf(part)) {
    for (const place of untold)
      notes.push({
        concept,
        fate: 'dropped',
        code: 'not_in_text',
        note: 'the labelled text of the block does not tell it',
        at: place,
        ofLeaf: true,
      });
    notes.push({ concept, fate: 'emulated', code: 'block_as_text', note, ...at });
  }
  return { kind: 'text', text, ...at };
}

/** Places of a block that its text leaves out: ids, states, scores. */
function untoldOf(part: IrPart, told: ToldLeaves): string[] {
  const block = part.kind === 'vendor' ? part.meta?.[part.dialect] : undefined;
  if (part.kind !== 'vendor' || part.at === undefined || block === undefined) return [];
  const { value, wrapped } = standingAt(part.at, block);
  return told.untold(value, part.at, (one) =>
    textOf({ ...part, type: typeIn(one, part.type), meta: { ...part.meta, [part.dialect]: wrapped(one) } }),
  );
}

/** What stands at a place: a block that is one member of its message is kept under the name of that member, one of a list as a list of one. */
function standingAt(at: string, block: JsonObject): { readonly value: JsonObject; readonly wrapped: (value: JsonObject) => JsonObject } {
  const [, name = '', index] = /\.(\w+)(\[\d+\])?$/.exec(at) ?? [];
  const member = Object.keys(block).length === 1 ? block[name] : undefined;
  const value = index === undefined ? member : listIn(member)[0];
  if (!isJsonObject(value)) return { value: block, wrapped: (one) => one };
  return { value, wrapped: (one) => ({ [name]: index === undefined ? one : [one] }) };
}

function conceptsOf(part: IrPart): readonly FateNote['concept'][] {
  if (part.kind === 'vendor') return ['vendor_block', 'stored_state'];
  return part.kind === 'image' || part.kind === 'audio' || part.kind === 'video' || part.kind === 'document'
    ? [part.kind, 'stored_file', 'media_type']
    : [];
}

function textOf(part: VendorPart): string {
  const shown = findDialect(part.dialect)?.answers.show(part);
  return shown === undefined ? unknownLabel(part.type, part.meta?.[part.dialect]) : pastLabelOf(shown);
}

function typeIn({ type }: JsonObject, otherwise: string): string {
  return typeof type === 'string' ? type : otherwise;
}

/** Work that one request may take to find out which members of its blocks a text tells; beyond it, places of one shape are judged alike. */
const MOST_WORK = 2_000_000;

type Members = Record<string | number, Json>;

/** Says of members of blocks that become texts which of them the text depends on: each is changed a little, and the text read again. */
class ToldLeaves {
  #work = 0;

  /** Places below `at` of which the text says nothing. */
  untold(block: JsonObject, at: string, textOf: (block: JsonObject) => string): string[] {
    const text = textOf(block);
    // A copy that is changed in place, so that a block of many members is not copied for each of them.
    const copy = copied(block) as JsonObject; // of an object
    const leaves = leavesOf(copy, at);
    const shapes = new Map<string, boolean>();
    return leaves
      .filter(({ within, key, path }) => {
        const shape = path.replaceAll(/\[\d+\]/g, '[*]');
        const known = this.#work > MOST_WORK ? shapes.get(shape) : undefined;
        if (known !== undefined) return !known;
        this.#work += text.length + leaves.length;
        const value = within[key] ?? null;
        within[key] = changed(value);
        const told = textOf(copy) !== text;
        within[key] = value;
        shapes.set(shape, told);
        return !told;
      })
      .map(({ path }) => path);
  }
}

/** Numbers beyond a double are objects of the engine that cannot be cloned, and need not be. */
function copied(value: Json): Json {
  if (Array.isArray(value)) return value.map((item: Json) => copied(item));
  if (!isJsonObject(value) || isExactNumber(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, copied(member)]));
}

interface Leaf {
  readonly within: Members;
  readonly key: string | number;
  readonly path: string;
}

function leavesOf(value: JsonObject | Json[], path: string): Leaf[] {
  return Object.entries(value).flatMap(([name, member]): Leaf[] => {
    const key = Array.isArray(value) ? Number(name) : name;
    const place = join(path, key);
    if ((Array.isArray(member) || isJsonObject(member)) && !isExactNumber(member) && Object.keys(member).length > 0)
      return leavesOf(member as JsonObject | Json[], place); // one of the two
    return [{ within: value as Members, key, path: place }]; // the copy is ours to change
  });
}

function changed(value: Json): Json {
  if (typeof value === 'string') return `${value}x`;
  if (typeof value === 'number') return value + 1;
  return typeof value === 'boolean' ? !value : 'x';
}

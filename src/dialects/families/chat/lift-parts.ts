import type { z } from 'zod';
import { jsonOf } from '../../../base/json.ts';
import { parseAt } from '../../../contract/border.ts';
import type { Concept } from '../../../ir/concept.ts';
import { Fields, lostTo } from '../../../ir/ledger.ts';
import type { IrPart, MediaSource } from '../../../ir/part.ts';
import { otherMembers, vendorMeta } from '../../members.ts';
import type { ChatFlavour } from './flavour.ts';
import * as wire from './wire.ts';

type Part = Fields<wire.AnyPart>;
interface Reading {
  readonly flavour: ChatFlavour;
  /** The concept of a text in this message. */
  readonly concept: Concept;
}

const LIFTS: Readonly<Record<string, (part: Part, reading: Reading) => IrPart>> = {
  text: liftText,
  refusal: liftRefusal,
  image_url: liftImage,
  input_audio: liftAudio,
  video_url: liftVideo,
  file: liftFile,
};

/** The content of a message: a string is one text part. */
export function liftContent(
  m: Fields<{ readonly content?: string | wire.AnyPart[] | null | undefined }>,
  flavour: ChatFlavour,
  concept: Concept,
): IrPart[] {
  const { content } = m.value;
  if (content === null || content === undefined) {
    m.take('content', 'structure');
    return [];
  }
  if (typeof content !== 'string') return m.list('content').map((part) => liftPart(part, { flavour, concept }));
  m.take('content', concept);
  return [{ kind: 'text', text: content, at: m.at('content') }];
}

/** One content part. A part of a kind we do not know is kept whole for its owner. */
function liftPart(part: Part, reading: Reading): IrPart {
  return (LIFTS[part.value.type] ?? liftOther)(part, reading);
}

/** The part as its own kind, its marks claimed. */
function typed<T extends { type: string }>(part: Part, schema: z.ZodType<T>): Fields<T & wire.AnyPart> {
  const p = new Fields(parseAt(schema, part.value, part.path) as T & wire.AnyPart, part.path, part.ledger); // the schemas are loose
  p.take('type', 'structure');
  p.take('prompt_cache_breakpoint', 'cache_mark');
  p.take('cache_control', 'cache_mark');
  return p;
}

/** Takes the members of a part that we do not know, on both levels; they go back to a caller's own dialect. */
function rest(p: Fields<object>, flavour: ChatFlavour, carried: string, known: readonly string[] = []): ReturnType<typeof vendorMeta> {
  const inner: unknown = Reflect.get(p.value, carried);
  const inside = typeof inner === 'object' && inner !== null ? otherMembers(inner, known) : undefined;
  const beside = otherMembers(p.value, ['type', carried]);
  return vendorMeta(flavour.id, inside === undefined ? beside : { ...beside, [carried]: inside });
}

function liftText(part: Part, { flavour, concept }: Reading): IrPart {
  const p = typed(part, wire.TextPart);
  return { kind: 'text', text: p.take('text', concept), at: p.path, ...rest(p, flavour, 'text') };
}

function liftRefusal(part: Part, { flavour }: Reading): IrPart {
  const p = typed(part, wire.RefusalPart);
  return { kind: 'refusal', text: p.take('refusal', 'refusal'), at: p.path, ...rest(p, flavour, 'refusal') };
}

function liftImage(part: Part, { flavour }: Reading): IrPart {
  const p = typed(part, wire.ImagePart);
  const { image_url: address } = p.value;
  const source = sourceOf(typeof address === 'string' ? address : address.url);
  const detail = typeof address === 'string' ? undefined : address.detail;
  p.takeMembers('image_url', source.kind === 'file' ? 'stored_file' : 'image', ['url']);
  const inner = typeof address === 'string' ? undefined : p.object('image_url');
  // `auto` is what absence means.
  if (detail === 'auto' || detail === null) inner?.takeUsual('detail', 'image_detail');
  else inner?.take('detail', 'image_detail');
  return {
    kind: 'image',
    source,
    ...(typeof detail === 'string' && detail !== 'auto' ? { detail } : {}),
    at: p.path,
    ...rest(p, flavour, 'image_url', ['url', 'detail']),
  };
}

function liftVideo(part: Part, { flavour }: Reading): IrPart {
  const p = typed(part, wire.VideoPart);
  const { video_url: address } = p.value;
  const source = sourceOf(typeof address === 'string' ? address : address.url);
  p.takeMembers('video_url', source.kind === 'file' ? 'stored_file' : 'video', ['url']);
  return { kind: 'video', source, at: p.path, ...rest(p, flavour, 'video_url', ['url']) };
}

function liftAudio(part: Part, { flavour }: Reading): IrPart {
  const p = typed(part, wire.AudioPart);
  const { data, format } = p.takeMembers('input_audio', 'audio', ['data', 'format']);
  return {
    kind: 'audio',
    source: { kind: 'base64', mediaType: `audio/${format}`, data },
    at: p.path,
    ...rest(p, flavour, 'input_audio', ['data', 'format']),
  };
}

function liftFile(part: Part, reading: Reading): IrPart {
  const p = typed(part, wire.FilePart);
  const { file_data: data, file_id: fileId, filename } = p.value.file;
  const file = p.object('file');
  file?.take('file_data', 'document');
  file?.take('file_id', 'stored_file');
  file?.take('filename', 'document_label');
  if (typeof fileId === 'string') p.ledger.leaveIdle(`${p.path}.file.file_data`, lostTo(`${p.path}.file.file_id`));
  const source = fileSource(data, fileId);
  if (source === undefined) return liftOther(part, reading);
  return {
    kind: 'document',
    source,
    ...(typeof filename === 'string' ? { title: filename } : {}),
    at: p.path,
    ...rest(p, reading.flavour, 'file', ['file_data', 'file_id', 'filename']),
  };
}

/** The vendor takes bare base64 for a PDF too. */
function fileSource(data: string | null | undefined, fileId: string | null | undefined): MediaSource | undefined {
  if (typeof fileId === 'string') return { kind: 'file', fileId };
  if (typeof data !== 'string') return undefined;
  return data.startsWith('data:') ? sourceOf(data) : { kind: 'base64', mediaType: 'application/pdf', data };
}

function liftOther(part: Part, { flavour }: Reading): IrPart {
  part.ledger.claim(part.path, 'vendor_block');
  // The part is parsed JSON; the schema only looked at its type.
  return { kind: 'vendor', dialect: flavour.id, type: part.value.type, at: part.path, meta: { [flavour.id]: jsonOf(part.value) } };
}

const BASE64 = ';base64';
/** Files that were uploaded to Kimi. */
const STORED = 'ms://';

/** Where an address points: into itself, to a file of the vendor, or elsewhere. Cut by hand: a medium may have megabytes. */
function sourceOf(address: string): MediaSource {
  if (address.startsWith(STORED)) return { kind: 'file', fileId: address };
  const comma = address.startsWith('data:') ? address.indexOf(',') : -1;
  const head = comma === -1 ? '' : address.slice('data:'.length, comma);
  if (!head.endsWith(BASE64)) return { kind: 'url', url: address };
  return { kind: 'base64', mediaType: head.slice(0, -BASE64.length), data: address.slice(comma + 1) };
}

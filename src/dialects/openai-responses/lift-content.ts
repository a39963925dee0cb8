import type { z } from 'zod';
import { jsonOf } from '../../base/json.ts';
import { parseAt } from '../../contract/border.ts';
import { AbpError } from '../../contract/errors.ts';
import type { Concept } from '../../ir/concept.ts';
import { Fields, lostTo } from '../../ir/ledger.ts';
import type { IrPart, MediaSource } from '../../ir/part.ts';
import { otherMembers, vendorMeta } from '../members.ts';
import * as wire from './wire.ts';

export const ID = 'openai-responses';

type Part = Fields<wire.AnyPart>;

/** The concepts of content by the place where it stands: text and media inside a tool result are others than in a message. */
export interface Place {
  readonly text: Concept;
  readonly image: Concept;
  readonly document: Concept;
}

export const IN_RESULT: Place = { text: 'tool_result', image: 'tool_result_media', document: 'tool_result_media' };

export function inMessage(text: Concept): Place {
  return { text, image: 'image', document: 'document' };
}

const LIFTS: Readonly<Record<string, (part: Part, place: Place) => IrPart>> = {
  input_text: liftText,
  output_text: liftText,
  refusal: liftRefusal,
  input_image: liftImage,
  input_file: liftFile,
};

/** One content part. A part of a kind we do not know is kept whole for its owner. */
export function liftPart(part: Part, place: Place): IrPart {
  return (LIFTS[part.value.type] ?? liftOther)(part, place);
}

/** The same object read by the schema of its kind. */
export function typed<T extends object>(fields: Fields<object>, schema: z.ZodType<T>): Fields<T> {
  return new Fields(parseAt(schema, fields.value, fields.path), fields.path, fields.ledger);
}

function liftText(part: Part, place: Place): IrPart {
  const p = typed(part, wire.TextPart);
  p.take('type', 'structure');
  p.take('prompt_cache_breakpoint', 'cache_mark');
  p.take('annotations', 'citation');
  p.take('logprobs', 'citation');
  const said = ['annotations', 'logprobs'].filter((name) => !isEmptyList(p.value[name]));
  const known = ['type', 'text', 'annotations', 'logprobs'].filter((name) => !said.includes(name));
  return { kind: 'text', text: p.take('text', place.text), at: p.path, ...rest(p, known) };
}

/** Answers carry these lists even when there is nothing to list. */
function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}

function liftRefusal(part: Part): IrPart {
  const p = typed(part, wire.RefusalPart);
  p.take('type', 'structure');
  return { kind: 'refusal', text: p.take('refusal', 'refusal'), at: p.path, ...rest(p, ['type', 'refusal']) };
}

function liftImage(part: Part, place: Place): IrPart {
  const p = typed(part, wire.ImagePart);
  const { image_url: url, file_id: fileId } = p.value;
  const source = mediaSource({ data: url, url, fileId }, p.path);
  if (source.kind === 'file') p.ledger.leaveIdle(p.at('image_url'), lostTo(p.at('file_id')));
  p.take('type', 'structure');
  p.take('image_url', place.image);
  p.take('file_id', 'stored_file');
  p.take('prompt_cache_breakpoint', 'cache_mark');
  const detail = p.take('detail', 'image_detail');
  return {
    kind: 'image',
    source,
    ...(typeof detail === 'string' ? { detail } : {}),
    at: p.path,
    ...rest(p, ['type', 'image_url', 'file_id', 'detail']),
  };
}

/** The member that a file came from. */
const WHERE: Readonly<Record<MediaSource['kind'], string>> = { file: 'file_id', base64: 'file_data', url: 'file_url' };

function liftFile(part: Part, place: Place): IrPart {
  const p = typed(part, wire.FilePart);
  const { file_data: data, file_url: url, file_id: fileId, filename } = p.value;
  const source = mediaSource({ data, url, fileId }, p.path);
  const winner = WHERE[source.kind];
  for (const name of Object.values(WHERE)) if (name !== winner) p.ledger.leaveIdle(p.at(name), lostTo(p.at(winner)));
  p.take('type', 'structure');
  p.take('file_data', place.document);
  p.take('file_url', place.document);
  p.take('file_id', 'stored_file');
  p.take('filename', 'document_label');
  p.take('prompt_cache_breakpoint', 'cache_mark');
  return {
    kind: 'document',
    source,
    ...(typeof filename === 'string' ? { title: filename } : {}),
    at: p.path,
    ...rest(p, ['type', 'file_data', 'file_url', 'file_id', 'filename']),
  };
}

const DATA_URL = /^data:([^;,]*)(?:;[^,;]*)*;base64,/;

type Told = string | null | undefined;

/** `data` may be a data URL; a file's bytes may also come bare, and are then a PDF. */
function mediaSource(told: { readonly data: Told; readonly url: Told; readonly fileId: Told }, path: string): MediaSource {
  const { data, url, fileId } = told;
  if (typeof fileId === 'string') return { kind: 'file', fileId };
  const head = typeof data === 'string' ? DATA_URL.exec(data) : null;
  if (head !== null && typeof data === 'string') {
    return { kind: 'base64', mediaType: head[1] || 'application/octet-stream', data: data.slice(head[0].length) };
  }
  if (typeof url === 'string') return { kind: 'url', url };
  if (typeof data === 'string') return { kind: 'base64', mediaType: 'application/pdf', data };
  throw new AbpError('invalid_request', `${path}: names neither data, a URL nor a file id`);
}

function liftOther(part: Part): IrPart {
  part.ledger.claim(part.path, 'vendor_block');
  // The part is parsed JSON; the schema only looked at its type. `content` tells it from a vendor's item, which is kept bare.
  return { kind: 'vendor', dialect: ID, type: part.value.type, at: part.path, meta: { [ID]: { content: jsonOf(part.value) } } };
}

export function rest(fields: Fields<object>, known: readonly string[]): ReturnType<typeof vendorMeta> {
  return vendorMeta(ID, otherMembers(fields.value, known));
}

import type { JsonObject } from '../../../base/json.ts';
import type { AudioPart, DocumentPart, IrPart, MediaSource } from '../../../ir/part.ts';
import { wordsOf } from '../../media-types.ts';
import { compact, joined } from '../../members.ts';
import { type Lowering, where } from './lowering.ts';

/** Content as the wire likes it: one plain text is a string, everything else a list of parts. */
export function lowerContent(parts: readonly IrPart[], lowering: Lowering): string | JsonObject[] {
  const [only] = parts;
  if (only === undefined) return '';
  if (parts.length === 1 && only.kind === 'text' && isPlain(only, lowering.flavour.id)) return only.text;
  return parts.flatMap((part) => lowerPart(part, lowering));
}

function isPlain(part: IrPart, own: string): boolean {
  return Object.keys(part.meta?.[own] ?? {}).every((name) => name === 'annotations');
}

/** One content part, with the members it came with when it came from this dialect; nothing where it has no form here. */
function lowerPart(part: IrPart, lowering: Lowering): JsonObject[] {
  const own = part.meta?.[lowering.flavour.id];
  switch (part.kind) {
    case 'text': {
      // Sources belong to an answer; the wire does not take them back.
      const { annotations: _sources, ...members } = own ?? {};
      return [{ type: 'text', text: part.text, ...members }];
    }
    case 'refusal':
      return [{ type: 'refusal', refusal: part.text, ...own }];
    case 'document':
      return lowerDocument(part, lowering);
    case 'image':
    case 'audio':
    case 'video':
      if (!lowering.flavour.media.has(part.kind)) return [];
      if (part.kind === 'audio') return lowerAudio(part, lowering);
      return [joined(lowerAddressed(part, lowering), own)];
    default:
      return own === undefined ? [] : [own];
  }
}

const DETAILS = ['auto', 'low', 'high'];

/** Responses has a detail more than Chat. */
function lowerDetail(part: Extract<IrPart, { kind: 'image' }>, { notes }: Lowering): string | undefined {
  if (part.detail === undefined || DETAILS.includes(part.detail)) return part.detail;
  notes.push({ concept: 'image_detail', fate: 'emulated', code: 'nearest_level', note: `${part.detail} was sent as high`, ...where(part) });
  return 'high';
}

function lowerAddressed(part: Extract<IrPart, { kind: 'image' | 'video' }>, lowering: Lowering): JsonObject {
  const url = addressOf(part.source);
  return part.kind === 'image'
    ? { type: 'image_url', image_url: compact({ url, detail: lowerDetail(part, lowering) }) }
    : { type: 'video_url', video_url: { url } };
}

function addressOf(source: MediaSource): string {
  if (source.kind === 'url') return source.url;
  return source.kind === 'file' ? source.fileId : `data:${source.mediaType};base64,${source.data}`;
}

const AUDIO_FORMATS: Readonly<Record<string, string>> = {
  'audio/wav': 'wav',
  'audio/x-wav': 'wav',
  'audio/wave': 'wav',
  'audio/mp3': 'mp3',
  'audio/mpeg': 'mp3',
};

function lowerAudio(part: AudioPart, { flavour, notes }: Lowering): JsonObject[] {
  const { source } = part;
  const format = source.kind === 'base64' ? (AUDIO_FORMATS[source.mediaType] ?? source.mediaType.replace('audio/', '')) : '';
  if (source.kind !== 'base64' || (format !== 'wav' && format !== 'mp3')) {
    notes.push({ concept: 'audio', fate: 'refused', code: 'media_type_not_taken', note: 'audio goes as WAV or MP3 bytes', ...where(part) });
  }
  const data = source.kind === 'base64' ? source.data : '';
  return [joined({ type: 'input_audio', input_audio: { data, format } }, part.meta?.[flavour.id])];
}

const FILE_NAMES: Readonly<Record<string, string>> = { 'application/pdf': 'document.pdf' };

/** Plain text needs no file; a document elsewhere on the web has no form here. */
function lowerDocument(part: DocumentPart, lowering: Lowering): JsonObject[] {
  const { source, title } = part;
  const { flavour, notes } = lowering;
  if (source.kind === 'base64' && (source.mediaType === 'text/plain' || !flavour.media.has('document'))) {
    const words = wordsOf(source.mediaType, source.data);
    if (words !== undefined) return inlineText(part, words, lowering);
  }
  if (!flavour.media.has('document')) return [];
  if (source.kind === 'url') {
    notes.push({
      concept: 'document',
      fate: 'refused',
      code: 'media_not_by_address',
      note: 'a document goes as bytes, not as an address',
      ...where(part),
    });
    return [];
  }
  const filename = title ?? (source.kind === 'base64' ? (FILE_NAMES[source.mediaType] ?? 'document') : undefined);
  const file = source.kind === 'file' ? compact({ file_id: source.fileId, filename }) : compact({ filename, file_data: addressOf(source) });
  return [joined({ type: 'file', file }, part.meta?.[flavour.id])];
}

function inlineText(part: DocumentPart, words: string, { notes }: Lowering): JsonObject[] {
  for (const concept of ['document', 'document_label', 'document_context'] as const)
    notes.push({ concept, fate: 'emulated', code: 'document_as_text', note: 'the text of the document was sent as text', ...where(part) });
  const head = [part.title, part.context].filter((line) => line !== undefined).map((line) => `${line}\n`);
  return [{ type: 'text', text: `${head.join('')}${words}` }];
}

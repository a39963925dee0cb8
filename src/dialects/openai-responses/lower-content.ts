import { type JsonObject, objectIn } from '../../base/json.ts';
import type { AudioPart, DocumentPart, ImagePart, IrPart, MediaSource, TextPart, VideoPart } from '../../ir/part.ts';
import type { FateNote } from '../dialect.ts';
import { plainMediaType, wordsOf } from '../media-types.ts';
import { compact } from '../members.ts';
import { ID } from './lift-content.ts';

/** Everything that the form of a part depends on besides the part. */
export interface ContentContext {
  readonly notes: FateNote[];
  /** The caller speaks another dialect. */
  readonly foreign: boolean;
}

/** `at` of a node as a note takes it. */
export function where(node: { readonly at?: string }): { at?: string } {
  return node.at === undefined ? {} : { at: node.at };
}

/** A part that stands in the content of a message or of a tool result. */
type ContentPart = TextPart | ImagePart | DocumentPart | AudioPart | VideoPart;

export function isContent(part: IrPart): part is ContentPart {
  return ['text', 'image', 'document', 'audio', 'video'].includes(part.kind);
}

/** One content part of input; nothing where the part has no form here. */
export function lowerInput(part: IrPart, context: ContentContext): JsonObject[] {
  const own = part.meta?.[ID];
  switch (part.kind) {
    case 'text':
    case 'refusal':
      return [{ type: 'input_text', text: part.text, ...own }];
    case 'image':
      return [lowerImage(part, context)];
    case 'document':
      return [lowerDocument(part, context)];
    case 'vendor':
      return [objectIn(own?.content)].filter((content) => content !== undefined);
    default:
      return [];
  }
}

const IMAGE_TYPES = ['image/jpeg', 'image/png', 'image/gif', 'image/webp'];

function lowerImage(part: ImagePart, context: ContentContext): JsonObject {
  const { source } = part;
  if (source.kind === 'base64' && !IMAGE_TYPES.includes(plainMediaType(source.mediaType)))
    context.notes.push({
      concept: 'image',
      fate: 'refused',
      code: 'media_type_not_taken',
      note: `OpenAI does not take ${source.mediaType}`,
      ...where(part),
    });
  const image = source.kind === 'file' ? { file_id: source.fileId } : { image_url: source.kind === 'url' ? source.url : dataUrl(source) };
  // The vendor's schema demands a detail, its API does not; a caller's own request stays as it was.
  const detail = part.detail ?? (context.foreign ? 'auto' : undefined);
  return compact({ type: 'input_image', ...image, detail, ...part.meta?.[ID] });
}

function dataUrl(source: Extract<MediaSource, { kind: 'base64' }>): string {
  return `data:${source.mediaType};base64,${source.data}`;
}

/** Plain text of another dialect is sent as text: not every model here takes it as a file. */
function lowerDocument(part: DocumentPart, context: ContentContext): JsonObject {
  const { source, title } = part;
  const { notes, foreign } = context;
  const words =
    foreign && source.kind === 'base64' && source.mediaType === 'text/plain' ? wordsOf(source.mediaType, source.data) : undefined;
  if (words !== undefined) return inlined(part, words, notes);
  return compact({ type: 'input_file', ...file(source, title), ...part.meta?.[ID] });
}

function inlined(part: DocumentPart, text: string, notes: FateNote[]): JsonObject {
  notes.push({ concept: 'document', fate: 'emulated', code: 'document_as_text', note: 'the document was sent as text', ...where(part) });
  return { type: 'input_text', text: part.title === undefined ? text : `${part.title}\n\n${text}` };
}

/** Bytes need a file name, which tells the vendor what they are. */
function file(source: MediaSource, title: string | undefined): JsonObject {
  if (source.kind === 'file') return compact({ file_id: source.fileId, filename: title });
  if (source.kind === 'url') return compact({ file_url: source.url, filename: title });
  return { filename: title ?? `document.${extension(source.mediaType)}`, file_data: dataUrl(source) };
}

function extension(mediaType: string): string {
  return mediaType === 'text/plain' ? 'txt' : (/^[^/]+\/([a-z0-9]{1,8})$/.exec(mediaType)?.[1] ?? 'pdf');
}

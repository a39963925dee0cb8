import { extname } from 'node:path';
import type { Attachment } from '../contract/runs/run-options.ts';

/** The kinds of attachments that agents and models are told apart by. */
export type AttachmentKind = 'image' | 'pdf' | 'text' | 'other';

/**
 * How the attachments of a kind reach the model: as content of their own, or, for texts, inside the prompt. A kind that is absent does not
 * reach it, and is refused before the start.
 */
export interface AttachmentRule {
  readonly image?: 'content';
  readonly pdf?: 'content';
  readonly text?: 'content' | 'prompt';
  /** Kinds that the agent also takes by their address. */
  readonly addresses?: readonly AttachmentKind[];
}

interface Known {
  readonly kind: AttachmentKind;
  readonly mimeType: string;
  readonly name: string;
}

/** An attachment with its bytes. It lies in the folder of the run, where an agent in a room can read it too. */
export interface AttachedFile extends Known {
  readonly path: string;
  readonly bytes: Buffer;
}

/** An attachment that the model's vendor opens by itself. */
export interface AttachedAddress extends Known {
  readonly url: string;
}

/** An attachment as it is handed to an agent: read, and of a kind that the agent takes. */
export type GivenAttachment = AttachedFile | AttachedAddress;

export function isAddress(one: GivenAttachment): one is AttachedAddress {
  return 'url' in one;
}

function isFile(one: GivenAttachment): one is AttachedFile {
  return !isAddress(one);
}

const IMAGES: Readonly<Record<string, string>> = {
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.gif': 'image/gif',
  '.webp': 'image/webp',
  '.bmp': 'image/bmp',
  '.tif': 'image/tiff',
  '.tiff': 'image/tiff',
  '.heic': 'image/heic',
  '.heif': 'image/heif',
  '.avif': 'image/avif',
  '.svg': 'image/svg+xml',
};

const TEXT_TYPES = /^(?:text\/|application\/(?:json|xml|yaml|toml|javascript|typescript|x-sh|sql)\b)|\+(?:json|xml|yaml)\b/;

/** The media type that an attachment names, or that its name stands for; undefined where only its bytes can tell. */
export function namedType({ mimeType, name, filePath, url }: Attachment): string | undefined {
  if (mimeType !== undefined) return mimeType.toLowerCase();
  const path = name ?? filePath ?? (url === undefined ? '' : new URL(url).pathname);
  const ending = extname(path).toLowerCase();
  return ending === '.pdf' ? 'application/pdf' : IMAGES[ending];
}

/** The kind of a media type. A drawing in XML is an image: no model takes it, and none is offered it as a text. */
export function kindOfType(mimeType: string): AttachmentKind {
  if (mimeType.startsWith('image/')) return 'image';
  if (mimeType === 'application/pdf') return 'pdf';
  return TEXT_TYPES.test(mimeType) ? 'text' : 'other';
}

/** The text of an attached file as it stands in a prompt. */
function quoted({ name, bytes }: AttachedFile): string {
  return `<attachment name=${JSON.stringify(name)}>\n${bytes.toString('utf8')}\n</attachment>`;
}

/** The prompt, followed by the texts of attached files. */
export function withTexts(prompt: string, attachments: readonly GivenAttachment[] = []): string {
  const texts = attachments.filter(isFile).filter(({ kind }) => kind === 'text');
  return [prompt, ...texts.map(quoted)].join('\n\n');
}

/** The attached files that are no texts. */
export function attachedFiles(attachments: readonly GivenAttachment[] = []): readonly AttachedFile[] {
  return attachments.filter(isFile).filter(({ kind }) => kind !== 'text');
}

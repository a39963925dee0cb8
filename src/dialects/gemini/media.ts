import type { MediaSource } from '../../ir/part.ts';

export type MediaKind = 'image' | 'audio' | 'video' | 'document';

const EXTENSIONS: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  pdf: 'application/pdf',
  txt: 'text/plain',
  wav: 'audio/wav',
  mp3: 'audio/mp3',
  mp4: 'video/mp4',
};

const YOUTUBE = /^https?:\/\/(?:www\.)?(?:youtube\.com|youtu\.be)\//;
/** Addresses that only Google can open. */
const GOOGLES_OWN = /^(?:gs:\/\/|https:\/\/generativelanguage\.googleapis\.com\/)/;

export function mediaKind(mediaType: string | undefined, url = ''): MediaKind {
  if (YOUTUBE.test(url)) return 'video';
  const [family] = (mediaType ?? mediaTypeOf(url) ?? '').toLowerCase().split('/');
  return family === 'image' || family === 'audio' || family === 'video' ? family : 'document';
}

/** The media type that the end of an address promises. */
export function mediaTypeOf(url: string): string | undefined {
  const [, extension = ''] = /\.([a-z0-9]+)(?:[?#].*)?$/i.exec(url) ?? [];
  return EXTENSIONS[extension.toLowerCase()];
}

/** A file of Google's own stores belongs to this dialect; any other address is the world's. */
export function sourceOfUri(uri: string, mediaType: string | undefined): MediaSource {
  const type = mediaType === undefined ? {} : { mediaType };
  return GOOGLES_OWN.test(uri) || YOUTUBE.test(uri) ? { kind: 'file', fileId: uri, ...type } : { kind: 'url', url: uri, ...type };
}

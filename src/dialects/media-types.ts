/** Names that programs use for types that have another one. */
const COMMON_NAMES: Readonly<Record<string, string>> = {
  'image/jpg': 'image/jpeg',
  'image/pjpeg': 'image/jpeg',
  'image/x-png': 'image/png',
  'application/x-pdf': 'application/pdf',
};

/** A media type by the name that it is registered under, without the parameters that a data URL may have. */
export function plainMediaType(mediaType: string): string {
  const [type = ''] = mediaType.split(';');
  const name = type.trim().toLowerCase();
  return COMMON_NAMES[name] ?? name;
}

/** Types beside `text/…` whose bytes are words. */
const WORDS =
  /^(?:text\/(?!rtf)|application\/(?:json|xml|yaml|x-yaml|toml|sql|javascript|x-javascript|x-typescript|x-python(?:-code)?|x-sh|x-ndjson|jsonl)$)|\+(?:json|xml|yaml)$/;

/** Whether the bytes of a type are words. */
export function isWords(mediaType: string): boolean {
  const type = plainMediaType(mediaType);
  return WORDS.test(type) && !type.startsWith('image/');
}

/** The words of a document whose bytes are words in UTF-8; undefined of any other. */
export function wordsOf(mediaType: string, base64: string): string | undefined {
  if (!isWords(mediaType)) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.from(base64, 'base64'));
  } catch {
    // Bytes of another encoding would arrive as other words.
    return undefined;
  }
}

import { brotliDecompressSync, gunzipSync, inflateSync, zstdDecompressSync } from 'node:zlib';

const MOST_DECODED = 256 * 1024 * 1024;

const DECODERS: Readonly<Record<string, (body: Buffer, options: { maxOutputLength: number }) => Buffer>> = {
  gzip: gunzipSync,
  br: brotliDecompressSync,
  deflate: inflateSync,
  zstd: zstdDecompressSync,
};

/** The text in a recorded body; as it is where it cannot be decoded, which a cut stream cannot. Not for the thread that serves. */
export function decodedBody(bytes: Buffer, headers: readonly string[], most = MOST_DECODED): Buffer {
  const decoder = bytes.length === 0 ? undefined : DECODERS[encodingOf(headers)];
  if (decoder === undefined) return bytes;
  try {
    return decoder(bytes, { maxOutputLength: most });
  } catch {
    return bytes;
  }
}

function encodingOf(headers: readonly string[]): string {
  const at = headers.findIndex((name, index) => index % 2 === 0 && name.toLowerCase() === 'content-encoding');
  return at === -1 ? '' : (headers[at + 1] ?? '').toLowerCase();
}

import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib';

/** No refusal is longer. */
const MOST_DECODED = 64 * 1024;

const DECODERS: Readonly<Record<string, (body: Buffer, options: { maxOutputLength: number }) => Buffer>> = {
  gzip: gunzipSync,
  'x-gzip': gunzipSync,
  deflate: inflateSync,
  br: brotliDecompressSync,
};

/** `google.rpc.RetryInfo` among the details of an error. */
const RETRY_INFO = /"retryDelay"\s*:\s*"(\d{1,9}(?:\.\d{1,9})?)s"/;

/** The pause that the body of a refusal asks for, where the headers do not: Gemini tells it there alone. */
export function pauseIn(headers: readonly string[], body: Buffer): number | undefined {
  const seconds = RETRY_INFO.exec(opened(headers, body)?.toString('latin1') ?? '')?.[1];
  return seconds === undefined ? undefined : Math.ceil(Number(seconds) * 1000);
}

function opened(headers: readonly string[], body: Buffer): Buffer | undefined {
  const at = headers.findIndex((name, index) => index % 2 === 0 && name.toLowerCase() === 'content-encoding');
  const decode = at === -1 ? undefined : DECODERS[(headers[at + 1] ?? '').toLowerCase()];
  try {
    return decode === undefined ? body : decode(body, { maxOutputLength: MOST_DECODED });
  } catch {
    // A body that cannot be decompressed tells no pause.
    return undefined;
  }
}

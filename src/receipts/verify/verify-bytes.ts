import type { ChainVerification } from '../../contract/receipts/chain-verification.ts';
import { ChainVerifier, type VerifyOptions } from './verify-chain.ts';

const LF = 10;

/** Checks an export as it comes, in pieces of any size; only one line is held at a time. */
export async function verifyExport(
  pieces: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  options: VerifyOptions,
): Promise<ChainVerification> {
  const verifier = new ChainVerifier(options);
  let rest: Buffer = Buffer.alloc(0);
  for await (const piece of pieces) {
    const bytes = Buffer.concat([rest, piece]);
    let start = 0;
    for (let end = bytes.indexOf(LF); end >= 0; end = bytes.indexOf(LF, start)) {
      takeLine(verifier, bytes.subarray(start, end));
      start = end + 1;
    }
    rest = bytes.subarray(start);
  }
  if (rest.length > 0) verifier.unreadable('has no end: the file was cut inside it');
  return verifier.end();
}

function takeLine(verifier: ChainVerifier, bytes: Uint8Array): void {
  const text = textOf(bytes);
  if (text === undefined) verifier.unreadable('is not UTF-8');
  else verifier.line(text);
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function textOf(bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes);
  } catch {
    // The decoder throws on the first byte that is not UTF-8, and that is all it can say.
    return undefined;
  }
}

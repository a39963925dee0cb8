import { readFileSync } from 'node:fs';
import { parseJsonObject } from '../base/json.ts';
import { pinCertificate } from '../base/pinned-certificates.ts';

/** Where a server answers and which process it is. */
export interface ServerAddress {
  readonly url: string;
  readonly pid: number;
  /** SHA-256 of its certificate, where it speaks TLS. */
  readonly certificate?: string | undefined;
}

function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

/** The address in the file; undefined when it is missing or not an address. Its certificate holds for the calls of this process. */
export function readAddress(file: string): ServerAddress | undefined {
  const { url, pid, certificate } = parseJsonObject(textOf(file) ?? '') ?? {};
  if (typeof url !== 'string' || typeof pid !== 'number' || !URL.canParse(url)) return undefined;
  if (typeof certificate !== 'string') return { url, pid };
  pinCertificate(url, certificate);
  return { url, pid, certificate };
}

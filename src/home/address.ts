import { readFileSync } from 'node:fs';
import { parseJsonObject } from '../base/json.ts';
import { pinCertificate } from '../base/pinned-certificates.ts';

/** Where a server answers and which process it is. */
export interface ServerAddress {
  readonly url: string;
  readonly pid: number;
  /** Where callers find any of several processes; `url` is then the door of this one alone. */
  readonly shared?: string | undefined;
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
  const address = addressIn(file);
  if (address?.certificate === undefined) return address;
  const renewed = (): string | undefined => {
    const now = addressIn(file);
    return now?.url === address.url ? now.certificate : undefined;
  };
  pinCertificate(address.url, { sha256: address.certificate, renewed });
  return address;
}

function addressIn(file: string): ServerAddress | undefined {
  const { url, pid, shared, certificate } = parseJsonObject(textOf(file) ?? '') ?? {};
  if (typeof url !== 'string' || typeof pid !== 'number' || !URL.canParse(url)) return undefined;
  return {
    ...{ url, pid },
    ...(typeof shared === 'string' && URL.canParse(shared) && { shared }),
    ...(typeof certificate === 'string' && { certificate }),
  };
}

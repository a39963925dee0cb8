import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync, type Stats, statSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import type https from 'node:https';
import type { SecureContextOptions } from 'node:tls';
import { nodeTls } from '../../base/builtin/tls.ts';
import { AbpError } from '../../contract/errors.ts';
import type { Config } from '../config.ts';

/** How often the files are looked at: two questions to the file system. Links that platforms turn to new files are followed, unlike by watches. */
const LOOK_MS = 1000;

/** The certificate of this server, with its key, as the files have them. */
export interface Certificate {
  readonly options: SecureContextOptions;
  /** SHA-256 of the first certificate in the file, which callers see. */
  readonly fingerprint: string;
  readonly validTo: Date;
}

interface Files {
  readonly cert: string;
  readonly key: string;
  readonly minVersion: 'TLSv1.2' | 'TLSv1.3';
}

/** The files that the configuration names; undefined where this server speaks plain HTTP. */
export function certificateFiles({ server: { cert_file: cert, key_file: key, tls_min_version: version } }: Config): Files | undefined {
  return cert === undefined || key === undefined ? undefined : { cert, key, minVersion: `TLSv${version}` };
}

/** Reads both files. Throws where one cannot be read, is no PEM, or where they do not belong together. */
export function readCertificate({ cert: certFile, key: keyFile, minVersion }: Files): Certificate {
  const cert = part('cert_file', certFile, (bytes) => ({ bytes, leaf: new X509Certificate(bytes) }));
  const key = part('key_file', keyFile, (bytes) => ({ bytes, key: createPrivateKey(bytes) }));
  if (!cert.leaf.checkPrivateKey(key.key))
    throw new AbpError('invalid_request', `server.key_file: ${keyFile} is not the key of the certificate in ${certFile}.`);
  const options = { cert: cert.bytes, key: key.bytes, minVersion };
  // Whatever OpenSSL refuses of the chain is refused here, and not at the first handshake.
  part('cert_file', certFile, () => nodeTls().createSecureContext(options));
  return { options, fingerprint: cert.leaf.fingerprint256, validTo: cert.leaf.validToDate };
}

function part<T>(name: string, file: string, read: (bytes: Buffer) => T): T {
  try {
    return read(readFileSync(file));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const hint = 'Name PEM files that the user of the server may read: the certificate with its chain, and the key without a passphrase.';
    throw new AbpError('invalid_request', `server.${name}: ${file} cannot be used: ${reason}`, { file }, hint);
  }
}

export interface CertificateListener {
  onChange(certificate: Certificate): void;
  /** The files have changed and cannot be used as they are; the certificate before stays. Said once for every change. */
  onFault(error: unknown): void;
}

/** Gives new connections what the files have become; those that are open keep theirs. */
export class CertificateWatch {
  readonly #server: https.Server;
  readonly #files: Files;
  readonly #listener: CertificateListener;
  /** The state of the files that was looked at last, taken before they are read. */
  #seen: string;
  #timer: NodeJS.Timeout;
  #isLooking = false;

  /** `seen` is the state of the files before the server read them. */
  constructor(server: https.Server, files: Files, seen: string, listener: CertificateListener) {
    this.#server = server;
    this.#files = files;
    this.#seen = seen;
    this.#listener = listener;
    this.#timer = setInterval(() => void this.#look(), LOOK_MS);
    this.#timer.unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  async #look(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    try {
      const stats = await Promise.all([this.#files.cert, this.#files.key].map((file) => stat(file)));
      const now = stampOf(stats);
      if (now === this.#seen) return;
      this.#seen = now;
      const certificate = readCertificate(this.#files);
      this.#server.setSecureContext(certificate.options);
      this.#listener.onChange(certificate);
    } catch (error) {
      // One that is being replaced may be gone for a moment, or may not fit the other one yet: the next look finds another state.
      if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) this.#listener.onFault(error);
    } finally {
      this.#isLooking = false;
    }
  }
}

/** The state of both files now. */
export function stateOf({ cert, key }: Files): string {
  return stampOf([cert, key].flatMap((file) => statSync(file, { throwIfNoEntry: false }) ?? []));
}

function stampOf(stats: readonly Stats[]): string {
  return stats.map(({ mtimeMs, ctimeMs, size, ino }) => [mtimeMs, ctimeMs, size, ino].join(':')).join(' ');
}

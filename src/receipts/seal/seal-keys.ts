import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign, verify } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { sha256 } from '../../base/canonical-json.ts';
import { isoTime } from '../../base/clock.ts';
import { AbpError } from '../../contract/errors.ts';
import type { SealKey } from '../../contract/receipts/chain.ts';
import { createOnce, replaceFile } from '../../home/private-file.ts';
import { derivedKey, openBox, sealBox } from '../../home/sealed-box.ts';
import { listChains, listSealKeys } from '../../store/receipts/chain.ts';
import type { Store } from '../../store/store.ts';

/** Signs for a node. */
export interface Signer {
  readonly keyId: string;
  /** The 32 bytes of the public key in hex. */
  readonly publicKey: string;
  /** Ed25519 over the UTF-8 bytes of the message, in hex. */
  sign(message: string): string;
}

const SUFFIX = '.pem';
/** The bytes before the 32 of an Ed25519 key in its SubjectPublicKeyInfo (RFC 8410). */
const SPKI_PREFIX = '302a300506032b6570032100';

/** Where a home keeps the private keys it seals with. */
export function sealKeysFolder(homePath: string): string {
  return join(homePath, 'seal-keys');
}

/** Secrets that the private keys of a folder are encrypted with; keys of folders without one lie open. */
const secrets = new Map<string, Buffer>();
const SEALED = 'sealed:';

/** From now on this process reads and writes the private keys of the folder encrypted. Those that lie open are encrypted at once. */
export function protectSealKeys(folder: string, secret: string | undefined): void {
  if (secret === undefined) return;
  secrets.set(folder, derivedKey(secret, 'keys that sign receipts'));
  for (const keyId of keyFiles(folder)) {
    const file = join(folder, `${keyId}${SUFFIX}`);
    const text = readFileSync(file, 'utf8');
    if (!text.startsWith(SEALED)) replaceFile(file, closed(folder, keyId, text.trimEnd()));
  }
}

function closed(folder: string, keyId: string, pem: string): string {
  const key = secrets.get(folder);
  return key === undefined ? pem : `${SEALED}${sealBox(key, Buffer.from(pem), keyId).toString('base64')}`;
}

function opened(folder: string, keyId: string, text: string): string {
  if (!text.startsWith(SEALED)) return text;
  const key = secrets.get(folder);
  const pem = key === undefined ? undefined : openBox(key, Buffer.from(text.slice(SEALED.length), 'base64'), keyId);
  if (pem !== undefined) return pem.toString();
  const why = key === undefined ? 'receipts.key_secret is not set' : 'receipts.key_secret is another one';
  throw new AbpError('invalid_request', `the key ${keyId} that signs receipts is encrypted, and ${why}`);
}

/** The id of a key follows from the key, so that nobody can give one the name of another. */
export function sealKeyId(publicKey: string): string {
  return `key_${sha256(Buffer.from(publicKey, 'hex')).slice(0, 16)}`;
}

function signerOf(key: KeyObject): Signer {
  const publicKey = publicHex(createPublicKey(key));
  return {
    keyId: sealKeyId(publicKey),
    publicKey,
    sign: (message) => sign(null, Buffer.from(message), key).toString('hex'),
  };
}

function publicHex(key: KeyObject): string {
  return key.export({ type: 'spki', format: 'der' }).toString('hex').slice(SPKI_PREFIX.length);
}

/** Makes a key pair and keeps its private half in a file that only its owner can read. */
export function createSigner(folder: string): Signer {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const { privateKey } = generateKeyPairSync('ed25519');
  const signer = signerOf(privateKey);
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString().trimEnd();
  createOnce(join(folder, `${signer.keyId}${SUFFIX}`), () => closed(folder, signer.keyId, pem));
  return signer;
}

/** The signer of a key in the folder; undefined when its private half is not there. */
export function readSigner(folder: string, keyId: string): Signer | undefined {
  const file = join(folder, `${keyId}${SUFFIX}`);
  const text = keyFiles(folder).includes(keyId) ? readFileSync(file, 'utf8') : undefined;
  if (text === undefined) return undefined;
  const signer = signerFrom(opened(folder, keyId, text), file);
  if (signer.keyId !== keyId) throw new AbpError('internal', `${file} holds another key than its name says`);
  return signer;
}

function signerFrom(text: string, file: string): Signer {
  try {
    return signerOf(createPrivateKey(text));
  } catch (cause) {
    throw new AbpError('internal', `${file} is damaged: ${cause instanceof Error ? cause.message : String(cause)}`);
  }
}

/** The newest key of the folder, or a new one: for a node whose chain has not begun. */
export function firstSigner(folder: string): Signer {
  const newest = keyFiles(folder)
    .map((id) => ({ id, at: statSync(join(folder, `${id}${SUFFIX}`)).mtimeMs }))
    .toSorted((a, b) => b.at - a.at)[0];
  return (newest === undefined ? undefined : readSigner(folder, newest.id)) ?? createSigner(folder);
}

/** A retired key must not be able to sign any more. */
export function forgetSigner(folder: string, keyId: string): void {
  rmSync(join(folder, `${keyId}${SUFFIX}`), { force: true });
}

/** Ids of the keys whose private halves are in the folder. */
export function heldKeys(folder: string): readonly string[] {
  return keyFiles(folder);
}

function keyFiles(folder: string): string[] {
  try {
    return readdirSync(folder)
      .filter((name) => name.endsWith(SUFFIX))
      .map((name) => name.slice(0, -SUFFIX.length));
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw error;
  }
}

/** Tells whether the key, 32 bytes in hex, made a signature, 64 bytes in hex. */
export function signatureCheck(publicKey: string): (message: string, signature: string) => boolean {
  const key = createPublicKey({ key: Buffer.from(SPKI_PREFIX + publicKey, 'hex'), type: 'spki', format: 'der' });
  return (message, signature) => verify(null, Buffer.from(message), key, Buffer.from(signature, 'hex'));
}

/** The 32 bytes of an Ed25519 public key in hex, from PEM or from hex; undefined when the text is neither. */
export function readPublicKey(text: string): string | undefined {
  const trimmed = text.trim();
  if (/^[0-9a-f]{64}$/.test(trimmed)) return trimmed;
  try {
    const key = createPublicKey(trimmed);
    return key.asymmetricKeyType === 'ed25519' ? publicHex(key) : undefined;
  } catch {
    // Whatever it is, it is no public key.
    return undefined;
  }
}

/** The public keys of every node, as verifiers take them. */
export async function publishedKeys(store: Store): Promise<SealKey[]> {
  const nodes = new Map((await listChains(store)).map(({ number, node }) => [number, node]));
  return (await listSealKeys(store)).map((key) => ({
    id: key.id,
    algorithm: 'Ed25519',
    public_key: key.publicKey,
    node: nodes.get(key.chain) ?? '',
    created_at: isoTime(key.createdAt),
    retired_at: key.retiredAt === null ? null : isoTime(key.retiredAt),
  }));
}

import { hash, randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isJsonObject, type Json, parseJsonObject } from '../base/json.ts';
import { AbpError } from '../contract/errors.ts';
import { replaceFile } from './private-file.ts';
import { derivedKey, openBox, sealBox } from './sealed-box.ts';

/** Opens the sealed secrets of a home. It comes from outside of the home and is never kept there. */
export interface MasterKey {
  /** Follows from the key, and says nothing about it. */
  readonly id: string;
  readonly key: Buffer;
}

const SHORTEST = 32;
const DATA_KEY_BYTES = 32;
const DATA_KEY = 'data key';

export function masterKeyOf(text: string): MasterKey {
  const secret = text.trim();
  if (secret.length < SHORTEST) {
    throw new AbpError('invalid_request', `The master key must have at least ${SHORTEST} characters; make one with: openssl rand -hex 32`);
  }
  return { id: hash('sha256', derivedKey(secret, 'id of a master key'), 'hex').slice(0, 16), key: derivedKey(secret, 'master key') };
}

interface Wrap {
  readonly master: string;
  readonly key: string;
}

interface Content {
  /** The data key, sealed by each master key that may open it. */
  readonly wraps: readonly Wrap[];
  readonly secrets: Readonly<Record<string, string>>;
}

/**
 * Secrets of an installation, encrypted at rest: each with the data key of the home, which only a master key opens. A new master key
 * seals the data key beside the old one, so that processes with either go on until the old one is dropped.
 */
export class SealedSecrets {
  readonly #file: string;
  #content: Content;
  #dataKey: Buffer;

  private constructor(file: string, content: Content, dataKey: Buffer) {
    this.#file = file;
    this.#content = content;
    this.#dataKey = dataKey;
  }

  static fileOf(homePath: string): string {
    return join(homePath, 'sealed-secrets.json');
  }

  /** Opens those of a home; a home that has none gets its data key with the first secret. */
  static open(homePath: string, master: MasterKey): SealedSecrets {
    const file = SealedSecrets.fileOf(homePath);
    if (!existsSync(file)) {
      const dataKey = randomBytes(DATA_KEY_BYTES);
      return new SealedSecrets(file, { wraps: [wrapped(dataKey, master)], secrets: {} }, dataKey);
    }
    const content = contentOf(file);
    const wrap = content.wraps.find((one) => one.master === master.id);
    const dataKey = wrap === undefined ? undefined : openBox(master.key, Buffer.from(wrap.key, 'base64'), DATA_KEY);
    if (dataKey !== undefined) return new SealedSecrets(file, content, dataKey);
    const known = content.wraps.map((one) => one.master).join(', ');
    throw new AbpError(
      'invalid_request',
      `The master key ${master.id} does not open the sealed secrets of this home; they are sealed for ${known}.`,
      { file },
      'Give the master key that they were sealed with: ABP_MASTER_KEY, or [master_key] of the configuration.',
    );
  }

  get names(): readonly string[] {
    return Object.keys(this.#content.secrets).toSorted();
  }

  /** Ids of the master keys that open them. */
  get masters(): readonly string[] {
    return this.#content.wraps.map(({ master }) => master);
  }

  read(name: string): string | undefined {
    const sealed = this.#content.secrets[name];
    if (sealed === undefined) return undefined;
    const plain = openBox(this.#dataKey, Buffer.from(sealed, 'base64'), contextOf(name));
    if (plain === undefined) throw new AbpError('internal', `The sealed secret ${name} is damaged; set it again.`);
    return plain.toString();
  }

  set(name: string, value: string): void {
    this.#write({ ...this.#content, secrets: { ...this.#content.secrets, [name]: this.#sealed(name, value) } });
  }

  /** False when there is none of that name. */
  remove(name: string): boolean {
    const { [name]: gone, ...secrets } = this.#content.secrets;
    if (gone === undefined) return false;
    this.#write({ ...this.#content, secrets });
    return true;
  }

  /** Lets another master key open them, too. */
  admit(master: MasterKey): void {
    const others = this.#content.wraps.filter((one) => one.master !== master.id);
    this.#write({ ...this.#content, wraps: [...others, wrapped(this.#dataKey, master)] });
  }

  /** Seals everything anew, for this master key alone: who has an old one, and a copy of the file, learns nothing that is set later. */
  keepOnly(master: MasterKey): void {
    const plain = this.names.map((name) => [name, this.read(name) ?? ''] as const);
    this.#dataKey = randomBytes(DATA_KEY_BYTES);
    const secrets = Object.fromEntries(plain.map(([name, value]) => [name, this.#sealed(name, value)]));
    this.#write({ wraps: [wrapped(this.#dataKey, master)], secrets });
  }

  #sealed(name: string, value: string): string {
    return sealBox(this.#dataKey, Buffer.from(value), contextOf(name)).toString('base64');
  }

  #write(content: Content): void {
    replaceFile(this.#file, JSON.stringify({ version: 1, ...content }, null, 2));
    this.#content = content;
  }
}

/** A secret opens under its own name alone: two cannot be exchanged in the file. */
function contextOf(name: string): string {
  return `secret ${name}`;
}

function wrapped(dataKey: Uint8Array, { id, key }: MasterKey): Wrap {
  return { master: id, key: sealBox(key, dataKey, DATA_KEY).toString('base64') };
}

function contentOf(file: string): Content {
  const { version, wraps, secrets } = parseJsonObject(readFileSync(file, 'utf8')) ?? {};
  const read = Array.isArray(wraps) ? wraps.flatMap(wrapOf) : [];
  if (version !== 1 || read.length === 0 || !isJsonObject(secrets)) {
    throw new AbpError('internal', `${file} is damaged, or of a newer version; restore it from a backup.`, { file });
  }
  const texts = Object.entries(secrets).filter((pair): pair is [string, string] => typeof pair[1] === 'string');
  return { wraps: read, secrets: Object.fromEntries(texts) };
}

function wrapOf(value: Json): Wrap[] {
  if (!isJsonObject(value)) return [];
  const { master, key } = value;
  return typeof master === 'string' && typeof key === 'string' ? [{ master, key }] : [];
}

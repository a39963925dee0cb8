import canonicalize from 'canonicalize';

/** What a check of a seal found, each step by itself. */
export interface SealReport {
  readonly verdict: 'valid' | 'invalid';
  /** The code of the first fault, in the words of `abp receipt verify`. */
  readonly code: 'changed' | 'broken_link' | 'missing' | 'not_canonical' | 'bad_signature' | 'unknown_key' | 'no_head' | 'cut' | null;
  readonly message: string;
  readonly sequence: number;
  readonly head: SeenHead | null;
  /** How many steps held before the fault: content, link, head. */
  readonly held: number;
}

/** A signed head, as far as somebody has to keep it to notice later that the chain was cut or made anew. */
export interface SeenHead {
  readonly sequence: number;
  readonly hash: string;
  readonly keyId: string;
  readonly at: string;
}

export interface Proof {
  readonly lines: readonly string[];
  readonly keys: readonly { readonly id: string; readonly public_key: string }[];
}

type Line = Record<string, unknown>;

const hex = (bytes: ArrayBuffer): string => [...new Uint8Array(bytes)].map((byte) => byte.toString(16).padStart(2, '0')).join('');

function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(text.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}

async function sha256(text: string): Promise<string> {
  return hex(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)));
}

function canonical(value: unknown): string {
  return canonicalize(value) ?? '';
}

const object = (value: unknown): Line => (typeof value === 'object' && value !== null ? { ...value } : {});

/** The hash of an entry: over its RFC 8785 form without `seal.hash` and without signatures. */
async function entryHash({ signatures: _signatures, ...entry }: Line): Promise<string> {
  const { hash: _hash, ...seal } = object(entry.seal);
  return await sha256(canonical({ ...entry, seal }));
}

class Fault extends Error {
  readonly code: Exclude<SealReport['code'], null>;
  readonly held: number;

  constructor(code: Exclude<SealReport['code'], null>, message: string, held: number) {
    super(message);
    this.code = code;
    this.held = held;
  }
}

function parsedLine(text: string): Line {
  let line: Line;
  try {
    line = object(JSON.parse(text));
  } catch {
    throw new Fault('not_canonical', 'A line is no JSON.', 0);
  }
  if (canonical(line) !== text) throw new Fault('not_canonical', 'A line is not in its RFC 8785 form.', 0);
  return line;
}

interface Place {
  readonly sequence: number;
  readonly hash: string;
  readonly previous: string | null;
}

async function placeOf(line: Line): Promise<Place> {
  if (line.kind === 'link') return { sequence: placeNumber(line.sequence), hash: String(line.hash), previous: null };
  const seal = object(line.seal);
  const sealed = String(seal.hash);
  if ((await entryHash(line)) !== sealed) {
    throw new Fault('changed', `Entry ${Number(seal.sequence)} was changed: its content does not have the hash it was sealed with.`, 0);
  }
  return { sequence: placeNumber(seal.sequence), hash: sealed, previous: String(seal.previous) };
}

function placeNumber(value: unknown): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value)) throw new Fault('changed', 'An entry does not say which place it has.', 0);
  return value;
}

/** Each entry names the hash of the one before it; a link says its hash and no more. */
function assertLinked(places: readonly Place[]): void {
  for (const [index, place] of places.entries()) {
    const before = places[index - 1];
    if (before === undefined) continue;
    if (place.sequence !== before.sequence + 1) throw new Fault('missing', `After entry ${before.sequence} comes ${place.sequence}.`, 1);
    if (place.previous !== null && place.previous !== before.hash) {
      throw new Fault('broken_link', `Entry ${place.sequence} does not follow entry ${before.sequence}: it names another hash.`, 1);
    }
  }
}

const SIGNATURE = /^[0-9a-f]{128}$/;

async function assertSigned(head: Line, keys: Proof['keys']): Promise<void> {
  const { signature, ...message } = head;
  if (!SIGNATURE.test(String(signature))) throw new Fault('bad_signature', 'The signature is not written as 128 lower-case digits.', 2);
  const key = keys.find(({ id }) => id === head.key_id);
  if (key === undefined)
    throw new Fault('unknown_key', `The head is signed with ${String(head.key_id)}, which this server does not publish.`, 2);
  const name = await sha256Bytes(key.public_key);
  if (key.id !== `key_${name.slice(0, 16)}`) throw new Fault('unknown_key', `The key ${key.id} does not have the name of its bytes.`, 2);
  const imported = await crypto.subtle.importKey('raw', bytesOf(key.public_key), 'Ed25519', false, ['verify']);
  const good = await crypto.subtle.verify('Ed25519', imported, bytesOf(String(signature)), new TextEncoder().encode(canonical(message)));
  if (!good) throw new Fault('bad_signature', `The signature of head ${Number(head.sequence)} is not that of ${key.id}.`, 2);
}

async function sha256Bytes(text: string): Promise<string> {
  return hex(await crypto.subtle.digest('SHA-256', bytesOf(text)));
}

/** Checks a receipt against the lines that prove it: its own content, the links to the next head, and the head's signature. */
export async function checkSeal(run: string, shown: unknown, proof: Proof): Promise<SealReport> {
  let sequence = 0;
  try {
    const lines = proof.lines.map(parsedLine);
    const own = lines.find((line) => line.run_id === run);
    if (own === undefined) throw new Fault('missing', 'The proof does not hold this receipt.', 0);
    sequence = Number(object(own.seal).sequence);
    if (canonical(shown) !== canonical(own)) throw new Fault('changed', 'What this page shows is not what was sealed.', 0);
    const entries = lines.filter(({ kind }) => kind !== 'head');
    const places: Place[] = [];
    for (const line of entries) places.push(await placeOf(line));
    assertLinked(places);
    if (sequence > 1 && !places.some((place) => place.sequence === sequence - 1))
      throw new Fault('missing', `Entry ${sequence - 1}, which this one names, is not there.`, 1);
    const head = lines.find((line) => line.kind === 'head' && Number(line.sequence) >= sequence);
    if (head === undefined) throw new Fault('no_head', 'No signed head covers this entry yet.', 2);
    const covered = places.find((place) => place.sequence === Number(head.sequence));
    if (covered === undefined || covered.hash !== head.hash)
      throw new Fault('broken_link', 'The head names another hash than its entry has.', 1);
    await assertSigned(head, proof.keys);
    const end = seenHead(head);
    return { verdict: 'valid', code: null, message: '', sequence, head: end, held: 3 };
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return { verdict: 'invalid', code: error.code, message: error.message, sequence, head: null, held: error.held };
  }
}

function seenHead(head: Line): SeenHead {
  return { sequence: Number(head.sequence), hash: String(head.hash), keyId: String(head.key_id), at: String(head.at) };
}

/** Heads of the server: its newest, and the one that covers the entry of a kept head. */
export interface Heads {
  readonly newest: unknown;
  readonly atKept: unknown;
}

/** Checks the heads of a server against one that was kept elsewhere: by this browser when it was here last, or by somebody who pasted it. */
export async function checkTail(heads: Heads, keys: Proof['keys'], kept: SeenHead): Promise<Pick<SealReport, 'code' | 'message'>> {
  try {
    const newest = object(heads.newest);
    await assertSigned(newest, keys);
    const last = seenHead(newest).sequence;
    if (last < kept.sequence)
      throw new Fault('cut', `Head ${kept.sequence} was seen before; the chain ends at ${last} now: entries were taken off its end.`, 0);
    const then = object(heads.atKept);
    await assertSigned(then, keys);
    const { sequence, hash } = seenHead(then);
    if (sequence !== kept.sequence || hash !== kept.hash)
      throw new Fault('broken_link', `Entry ${kept.sequence} had another hash when its head was seen: the chain was made anew.`, 0);
    return { code: null, message: '' };
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return { code: error.code, message: error.message };
  }
}

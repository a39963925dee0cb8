import { promisify } from 'node:util';
import { zstdCompress, zstdDecompress } from 'node:zlib';
import { AT_ONCE, digestInTurns } from '../../base/bounded/buffers.ts';
import { sha256 } from '../../base/canonical-json.ts';
import { type NodeAnswer, nodeFetch } from '../../base/node-fetch.ts';
import { AbpError } from '../../contract/errors.ts';
import { HASH_DIGITS, hashOf } from './body-index.ts';
import type { BodyDigest } from './recording.ts';

const ANSWER_MS = 30_000;
/** Refusals and lists of a bucket are short. */
const MOST_TEXT = 256 * 1024;
/** Compressing never adds more than this to what it was given, and a part of it. */
const MOST_ADDED = 1024;
const SUFFIX = '.zst';

const compress = promisify(zstdCompress);
const decompress = promisify(zstdDecompress);

/** A bucket of an object storage that speaks S3, and who we are there. */
export interface BucketPlace {
  readonly endpoint: string;
  readonly bucket: string;
  readonly prefix: string;
  readonly region: string;
  readonly accessKey: string;
  readonly secretKey: string;
}

interface Asked {
  readonly method: 'GET' | 'PUT' | 'DELETE';
  readonly key?: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: Buffer;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Bodies in a bucket, one compressed object each, named by the digest and by the node that wrote it: every node reads what any of them
 * wrote, and removes its own alone.
 */
export class BodyBucket {
  readonly #place: BucketPlace;
  readonly #node: string;
  readonly #keys = new Map<string, ArrayBuffer>();

  constructor(place: BucketPlace, node: string) {
    this.#place = place;
    this.#node = node;
  }

  async put(hash: bigint, body: Buffer, signal?: AbortSignal): Promise<void> {
    const answer = await this.#ask({ method: 'PUT', key: this.#key(hash, this.#node), body: await compress(body), signal });
    await this.#text(answer);
  }

  async remove(hash: bigint, signal?: AbortSignal): Promise<void> {
    const answer = await this.#ask({ method: 'DELETE', key: this.#key(hash, this.#node), signal });
    if (answer.status === 404) await collected(answer, MOST_TEXT);
    else await this.#text(answer);
  }

  /** The bytes of a digest, checked; undefined where no node has left them. */
  async read(digest: BodyDigest): Promise<Buffer | undefined> {
    const hash = hashOf(digest.sha256);
    const own = await this.#readOf(digest, this.#key(hash, this.#node));
    if (own !== undefined) return own;
    for (const node of await this.#nodesWith(hash)) {
      const bytes = node === this.#node ? undefined : await this.#readOf(digest, this.#key(hash, node));
      if (bytes !== undefined) return bytes;
    }
    return undefined;
  }

  async #readOf({ sha256: wanted, bytes }: BodyDigest, key: string): Promise<Buffer | undefined> {
    const answer = await this.#ask({ method: 'GET', key });
    const missing = answer.status === 404 && (await refusalOf(answer)) !== 'NoSuchBucket';
    if (missing) return undefined;
    if (!answer.ok) throw await this.#refused(answer);
    const packed = await collected(answer, bytes + Math.ceil(bytes / 64) + MOST_ADDED);
    const body = packed === undefined ? undefined : await decompress(packed, { maxOutputLength: bytes }).catch(() => undefined);
    // Another body whose digest begins alike, or one that was damaged, is not the one that was asked for.
    if (body === undefined || body.length !== bytes) return undefined;
    return (bytes > AT_ONCE ? await digestInTurns(body) : sha256(body)) === wanted ? body : undefined;
  }

  /** The nodes that have left a body of this digest. */
  async #nodesWith(hash: bigint): Promise<string[]> {
    const query = { 'list-type': '2', prefix: this.#key(hash, '').slice(0, -SUFFIX.length) };
    const list = await this.#text(await this.#ask({ method: 'GET', query }));
    return [...list.matchAll(/<Key>[^<]*\/([A-Za-z0-9_-]+)\.zst<\/Key>/g)].map(([, node = '']) => node);
  }

  #key(hash: bigint, node: string): string {
    return `${this.#place.prefix}${hash.toString(16).padStart(HASH_DIGITS, '0')}/${node}${SUFFIX}`;
  }

  async #ask({ method, key = '', query = {}, body, signal }: Asked): Promise<NodeAnswer> {
    const { endpoint, bucket, region, accessKey, secretKey } = this.#place;
    const url = new URL(`${endpoint.replace(/\/$/, '')}/${bucket}${key === '' ? '' : `/${key}`}`);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    const { AwsV4Signer } = await import('aws4fetch'); // loaded by those who have a bucket
    const signed = await new AwsV4Signer({
      method,
      url: url.href,
      headers: { 'x-amz-content-sha256': body === undefined || body.length <= AT_ONCE ? sha256(body ?? '') : await digestInTurns(body) },
      accessKeyId: accessKey,
      secretAccessKey: secretKey,
      service: 's3',
      region,
      cache: this.#keys,
    }).sign();
    const headers = { ...Object.fromEntries(signed.headers), ...(body && { 'content-length': String(body.length) }) };
    try {
      return await nodeFetch(signed.url.href, { method, headers, body, signal, answerMs: ANSWER_MS });
    } catch (error) {
      throw this.#away(error instanceof Error ? error.message || String(Reflect.get(error, 'code') ?? error.name) : String(error));
    }
  }

  async #text(answer: NodeAnswer): Promise<string> {
    if (!answer.ok) throw await this.#refused(answer);
    return (await collected(answer, MOST_TEXT))?.toString() ?? '';
  }

  async #refused(answer: NodeAnswer): Promise<AbpError> {
    return this.#away(`it answered ${answer.status} ${(await refusalOf(answer)) ?? ''}`.trimEnd());
  }

  #away(reason: string): AbpError {
    const { bucket, endpoint } = this.#place;
    return new AbpError('overloaded', `The bucket ${bucket} of ${new URL(endpoint).host} cannot be used: ${reason}.`);
  }
}

const refusals = new WeakMap<NodeAnswer, string>();

/** The one word that S3 has for a refusal; the rest of its answer repeats what was sent. */
async function refusalOf(answer: NodeAnswer): Promise<string | undefined> {
  const known = refusals.get(answer);
  if (known !== undefined) return known;
  const code = /<Code>([A-Za-z]{1,64})<\/Code>/.exec((await collected(answer, MOST_TEXT))?.toString() ?? '')?.[1];
  if (code !== undefined) refusals.set(answer, code);
  return code;
}

/** The whole answer; undefined where it is longer than it can be. */
async function collected({ body }: NodeAnswer, most: number): Promise<Buffer | undefined> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > most) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, bytes);
}

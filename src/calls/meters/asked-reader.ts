import { type JsonObject, parseJsonObject } from '../../base/json.ts';
import { AbpError } from '../../contract/errors.ts';
import type { Holding } from '../bounds/body-budget.ts';
import { decompress, isEncoding } from '../bounds/decoding.ts';
import { boundaryOf, FormReader } from './multipart.ts';

/** Longer requests are not read: it would keep other calls waiting. */
const MOST_READ = 2 * 1024 * 1024;

/** Looks at the body of a request as it goes by. The memory that it takes is given back with that of the answer. */
export class AskedReader {
  readonly #form: FormReader | undefined;
  readonly #encoding: string;
  readonly #holding: Holding;
  #kept: Buffer[] = [];
  #blind = false;
  #bytes = 0;

  constructor({ contentType, encoding }: { readonly contentType: string; readonly encoding: string }, holding: Holding) {
    const boundary = boundaryOf(contentType);
    this.#form = boundary === undefined || encoding !== '' ? undefined : new FormReader(boundary);
    this.#encoding = encoding;
    this.#holding = holding;
  }

  get bytes(): number {
    return this.#bytes;
  }

  chunk(chunk: Buffer): void {
    this.#bytes += chunk.length;
    if (this.#form !== undefined) this.#form.chunk(chunk);
    else if (!this.#blind) this.#keep(chunk);
  }

  #keep(chunk: Buffer): void {
    try {
      if (this.#bytes > MOST_READ) throw new AbpError('overloaded', 'the request is too long to be read');
      this.#holding.take(chunk.length);
      this.#kept.push(chunk);
    } catch (error) {
      if (!AbpError.is(error)) throw error;
      this.#blind = true;
      this.#kept = [];
    }
  }

  /** The members of the body; none where it could not be read. */
  async fields(): Promise<JsonObject> {
    if (this.#form !== undefined) return Object.fromEntries(this.#form.fields);
    const body = Buffer.concat(this.#kept);
    const text = this.#encoding === '' ? body : await this.#decoded(body);
    this.#kept = [];
    return (text === undefined ? undefined : parseJsonObject(text.toString('utf8'))) ?? {};
  }

  async #decoded(body: Buffer): Promise<Buffer | undefined> {
    if (!isEncoding(this.#encoding)) return undefined;
    return await decompress(body, this.#encoding, { most: MOST_READ, holding: this.#holding }).catch(() => undefined);
  }
}

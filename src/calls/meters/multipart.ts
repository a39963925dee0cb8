const DASHES = '--';
const HEAD_END = Buffer.from('\r\n\r\n');
/** Heads of parts and plain fields are short; of what is longer nobody wants to know. */
const MOST_HELD = 64 * 1024;
const NAME = /(?:^|[;\s])name="?([^";\r\n]*)"?/i;

/** Reads the plain fields of a form as it goes by, and lets its files pass. */
export class FormReader {
  readonly fields = new Map<string, string>();
  readonly #boundary: Buffer;
  /** Bytes that are not understood yet; of a file no more than may be the beginning of its end. */
  #held: Buffer = Buffer.from('\r\n');
  /** The field whose value is being read; null for a file, undefined between the parts. */
  #field: string | null | undefined = null;
  #broken = false;

  constructor(boundary: string) {
    this.#boundary = Buffer.from(`\r\n${DASHES}${boundary}`, 'latin1');
  }

  chunk(chunk: Buffer): void {
    if (this.#broken) return;
    this.#held = Buffer.concat([this.#held, chunk]);
    while (this.#field === undefined ? this.#readHead() : this.#readValue());
    if (this.#held.length > MOST_HELD) this.#broken = true;
  }

  /** Whether there was a head, and more may follow. */
  #readHead(): boolean {
    const end = this.#held.indexOf(HEAD_END);
    if (end === -1) return false;
    const head = this.#held.toString('utf8', 0, end);
    const disposition = head.split('\r\n').find((line) => /^content-disposition:/i.test(line)) ?? '';
    this.#field = /[;\s]filename\*?=/i.test(disposition) ? null : (NAME.exec(disposition)?.[1] ?? null);
    // The line break of the head may begin the end of an empty value.
    this.#held = this.#held.subarray(end + 2);
    return true;
  }

  #readValue(): boolean {
    const end = this.#held.indexOf(this.#boundary);
    if (end === -1) {
      if (this.#field === null) this.#held = this.#held.subarray(Math.max(0, this.#held.length - this.#boundary.length));
      return false;
    }
    if (typeof this.#field === 'string') this.fields.set(this.#field, this.#held.toString('utf8', 2, Math.max(2, end)));
    this.#field = undefined;
    this.#held = this.#held.subarray(end + this.#boundary.length);
    return true;
  }
}

/** The boundary that a content type names; undefined where it is no form. */
export function boundaryOf(contentType: string): string | undefined {
  const found = /^multipart\/form-data\b.*?;\s*boundary=(?:"([^"]+)"|([^;\s]+))/i.exec(contentType);
  return found?.[1] ?? found?.[2];
}

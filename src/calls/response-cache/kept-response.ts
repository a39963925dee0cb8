/** An answer that is kept: its status, headers and bytes, as its caller got them. */
export interface KeptResponse {
  readonly status: number;
  readonly headers: readonly string[];
  readonly body: Buffer;
  /** Events that it was made of; 1 in one piece. */
  readonly events: number;
}

/** Bytes of memory that an entry is reckoned to take beside its body. */
const ENTRY_BYTES = 1024;

export function sizeOf({ body }: KeptResponse): number {
  return body.length + ENTRY_BYTES;
}

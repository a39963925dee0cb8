import { mayHoldMore, mostValues } from '../../base/json-limits.ts';

/** A picture in a result is some megabytes long. */
export const LONGEST_MESSAGE = 10 * 1024 * 1024;
/** The list of a server with hundreds of tools has fewer values; the SDK looks at each of them where other calls wait. */
const MOST_IN_MESSAGE = 50_000;

/** Shorter messages cannot hold as many. */
const SHORTEST = 2 * MOST_IN_MESSAGE;

/** Why a message is too much to be read; undefined where it is not. */
export function messageFault(message: string): string | undefined {
  if (message.length < SHORTEST || !mayHoldMore(Buffer.from(message), MOST_IN_MESSAGE)) return undefined;
  return `a message of more than ${MOST_IN_MESSAGE} values`;
}

/** Measures the messages of an answer while they come. A stream may go on for as long as each of its events is short. */
export class MessageMeasure {
  readonly #streamed: boolean;
  #bytes = 0;
  #values = 0;

  constructor(streamed: boolean) {
    this.#streamed = streamed;
  }

  /** Why the message under way is too much; undefined where it is not. */
  add(chunk: Buffer): string | undefined {
    const ended = this.#streamed ? Math.max(chunk.lastIndexOf('\n\n'), chunk.lastIndexOf('\r\n\r\n')) : -1;
    const rest = ended === -1 ? chunk : chunk.subarray(ended);
    this.#bytes = rest.length + (ended === -1 ? this.#bytes : 0);
    this.#values = mostValues(rest) + (ended === -1 ? this.#values : 0);
    if (this.#bytes > LONGEST_MESSAGE) return `a message longer than ${LONGEST_MESSAGE} bytes`;
    return this.#values > MOST_IN_MESSAGE ? `a message of more than ${MOST_IN_MESSAGE} values` : undefined;
  }
}

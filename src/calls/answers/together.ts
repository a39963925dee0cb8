/** A call with something that has come and not gone on. */
export interface Pending {
  translate(): void;
  send(): void;
}

/**
 * Passes on what came in one turn of the event loop for all calls together: first everything is translated, then everything is sent.
 * With many streams each part of the code then runs in a row instead of between two system calls, and the processor finds it in its
 * caches; chunks of one stream that came together are one write. A lone stream waits for nothing: the turn ends when its chunk is read.
 */
export class Together {
  #calls: Pending[] = [];

  add(call: Pending): void {
    this.#calls.push(call);
    if (this.#calls.length === 1) setImmediate(this.#pass);
  }

  readonly #pass = (): void => {
    const calls = this.#calls;
    this.#calls = [];
    for (const call of calls) call.translate();
    for (const call of calls) call.send();
  };
}

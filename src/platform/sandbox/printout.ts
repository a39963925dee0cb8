/** Text up to a number of characters; what comes later is lost, and that is noted. */
export class Printout {
  readonly #limit: number;
  #text = '';
  #truncated = false;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get text(): string {
    return this.#text;
  }

  get truncated(): boolean {
    return this.#truncated;
  }

  add(more: string): void {
    const room = this.#limit - this.#text.length;
    if (more.length > room) this.#truncated = true;
    if (room > 0) this.#text += more.slice(0, room);
  }
}

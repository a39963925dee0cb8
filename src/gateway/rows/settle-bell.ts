import type { Gateway } from '../gateway.ts';

/** Rings when receipts have been written, also when that was before anybody listened. */
export class SettleBell {
  readonly #end: () => void;
  readonly #closing: AbortSignal;
  readonly #ring = (): void => this.ring();
  #rung = false;
  #wake: () => void = () => undefined;

  constructor({ keeper, closing }: Pick<Gateway, 'keeper' | 'closing'>) {
    this.#closing = closing;
    this.#closing.addEventListener('abort', this.#ring);
    this.#end = keeper.listen(this.#ring);
  }

  /** There is something to tell. */
  ring(): void {
    this.#rung = true;
    this.#wake();
  }

  /** Whether it rang, at the latest when the time is over. */
  async rung(ms: number): Promise<boolean> {
    if (!this.#rung) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#wake = resolve;
      const timer = setTimeout(resolve, ms);
      await promise;
      clearTimeout(timer);
    }
    const rung = this.#rung;
    this.#rung = false;
    return rung;
  }

  end(): void {
    this.#closing.removeEventListener('abort', this.#ring);
    this.#end();
  }
}

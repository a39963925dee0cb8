import type { IrEvent } from './event.ts';
import { tokensIn } from './token-estimate.ts';
import { type IrUsage, NO_USAGE } from './usage.ts';

/** An answer as far as it has come: kept for the case that it is broken off. */
export class PartialAnswer {
  readonly #texts = new Set<number>();
  #begun: IrUsage | undefined;
  #written = 0;
  #text = '';

  see(event: IrEvent): void {
    if (event.type === 'message-start') this.#begun = event.usage;
    else if (event.type === 'part-start' && event.part.kind === 'text') this.#texts.add(event.index);
    else if (event.type === 'part-delta') {
      this.#written += event.text.length;
      if (this.#texts.has(event.index)) this.#text += event.text;
    }
  }

  /** The words of the answer; thoughts and calls that have no end are of no use to anybody. */
  get text(): string {
    return this.#text;
  }

  get writtenTokens(): number {
    return tokensIn(this.#written);
  }

  /** The counts that the engine told at the beginning; it tells what it wrote only at the end. */
  get begun(): IrUsage | undefined {
    return this.#begun;
  }

  /** The usage so far, estimated where the engine has not told it; undefined before it has written anything. */
  usage(requestBytes: number): IrUsage | undefined {
    if (this.#written === 0) return undefined;
    const { inputTokens, outputTokens } = this.#begun ?? { inputTokens: tokensIn(requestBytes), outputTokens: 0 };
    return { ...NO_USAGE, ...this.#begun, inputTokens, outputTokens: Math.max(outputTokens, this.writtenTokens), estimated: true };
  }
}

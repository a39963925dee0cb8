import type { ExchangeSink, Transport } from './exchange.ts';
import type { Health } from './health.ts';
import { KEY_REFUSED, type Load } from './load.ts';

/** A deployment that can be asked whether it is there. */
export interface Probed {
  readonly load: Load;
  readonly health: Health | undefined;
  readonly transport: Transport;
  readonly origin: string;
  readonly path: string;
  readonly headers: readonly string[];
  /** Whether calls may reach it: one that is denied to everybody is not asked either. */
  isAllowed(): boolean;
}

const RESTING_S = 10;
const SILENCE_MS = 5000;

/**
 * Asks deployments whether they are there, so that no caller has to find out: all of them where the operator wants that, else those that are
 * left alone because they failed. A list of models costs nothing. The answer ends a rest, or begins one.
 */
export class Prober {
  readonly #all: readonly Probed[];
  readonly #every: boolean;
  readonly #timer: NodeJS.Timeout;
  readonly #asked = new Set<Probed>();

  constructor(all: readonly Probed[], seconds: number | undefined) {
    this.#all = all;
    this.#every = seconds !== undefined;
    this.#timer = setInterval(() => this.#ask(), (seconds ?? RESTING_S) * 1000);
    this.#timer.unref();
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #ask(): void {
    const now = Date.now();
    for (const one of this.#all) {
      const failing = one.load.rests(now).some(({ reason }) => reason !== 'limited') || one.health?.isOpen === true;
      if (!this.#asked.has(one) && (this.#every || failing) && one.isAllowed()) this.#probe(one);
    }
  }

  #probe(one: Probed): void {
    const { transport, origin, path, headers, load, health } = one;
    this.#asked.add(one);
    const question = load.ask();
    const over = (): void => void this.#asked.delete(one);
    const sink: ExchangeSink = {
      head: (status, answered) => {
        const there = status < 500 && !KEY_REFUSED.has(status);
        if (there) health?.answered(status);
        if (KEY_REFUSED.has(status)) load.refused(question);
        // A server that answers is there, also where this list is none of its paths.
        else load.answered(there ? 200 : status, answered, null, question);
      },
      data: () => true,
      end: over,
      fail: ({ kind }) => {
        over();
        load.failed(kind, question);
      },
    };
    transport({ method: 'GET', origin, path, headers, body: null, silenceMs: SILENCE_MS, runHex: '' }, sink);
  }
}

import { AbpError } from '../../contract/errors.ts';

const MOST_WAITING = 100;

/** Programs that run at the same time. They are few, so that a model that runs much code does not take the machine from everybody else. */
export class Places {
  readonly #size: number;
  #taken = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(size: number) {
    this.#size = size;
  }

  /** Does the work once there is a place; first come, first served. */
  async hold<T>(work: () => Promise<T>): Promise<T> {
    if (this.#taken < this.#size) this.#taken += 1;
    else await this.#turn();
    try {
      return await work();
    } finally {
      // A place that somebody waits for is handed on and stays taken.
      const next = this.#waiting.shift();
      if (next === undefined) this.#taken -= 1;
      else next();
    }
  }

  async #turn(): Promise<void> {
    if (this.#waiting.length >= MOST_WAITING) throw new AbpError('overloaded', 'Too many programs wait for the sandbox.');
    await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }
}

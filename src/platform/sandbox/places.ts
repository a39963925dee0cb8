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

  /** Does the work once there is a place; first come, first served. Undefined where the caller has given up meanwhile. */
  async hold<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T | undefined> {
    if (signal?.aborted === true) return undefined;
    if (this.#taken < this.#size) this.#taken += 1;
    else if (!(await this.#turn(signal))) return undefined;
    try {
      return await work();
    } finally {
      // A place that somebody waits for is handed on and stays taken.
      const next = this.#waiting.shift();
      if (next === undefined) this.#taken -= 1;
      else next();
    }
  }

  /** True with a place, false when the caller has given up. */
  async #turn(signal: AbortSignal | undefined): Promise<boolean> {
    if (this.#waiting.length >= MOST_WAITING) throw new AbpError('overloaded', 'Too many programs wait for the sandbox.');
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const next = (): void => resolve(true);
    const leave = (): void => {
      const at = this.#waiting.indexOf(next);
      // A caller who got a place a moment ago has it, and gives it back by way of the work.
      if (at >= 0) this.#waiting.splice(at, 1);
      resolve(false);
    };
    this.#waiting.push(next);
    signal?.addEventListener('abort', leave, { once: true });
    return await promise.finally(() => signal?.removeEventListener('abort', leave));
  }
}

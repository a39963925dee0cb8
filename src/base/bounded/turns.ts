/**
 * Limits how much of all bodies together is read in one turn of the event loop. The system hands over megabytes at once where somebody
 * sends quickly, and a megabyte may hold a hundred thousand events to read: some are read as they come, others are only put aside here.
 */
const BYTES_A_TURN = 256 * 1024;
const MS_A_TURN = 8;

/** Looking at the clock is not worth it before. */
const LEAST_BYTES = 64 * 1024;

let taken = 0;
let begun = 0;
let waiting: (() => void)[] = [];

/** Whether these bytes were the last that this turn has room for; then `goOn` is called in the next one. */
export function endsTurn(bytes: number, goOn: () => void): boolean {
  if (taken === 0) {
    setImmediate(readOn);
    begun = performance.now();
  }
  taken += bytes;
  if (taken < BYTES_A_TURN && (taken < LEAST_BYTES || performance.now() - begun < MS_A_TURN)) return false;
  waiting.push(goOn);
  return true;
}

function readOn(): void {
  taken = 0;
  const readers = waiting;
  waiting = [];
  for (const goOn of readers) goOn();
}

const slices: (() => void)[] = [];

/**
 * Resolves in a turn of the event loop that nobody else's slice has. Work that takes long is cut into slices of some milliseconds, and
 * each of them waits here: the slices of many large bodies come one after another, with everybody's small calls in between.
 */
export function ownTurn(): Promise<void> {
  return new Promise((resolve) => {
    if (slices.push(resolve) === 1) setImmediate(nextSlice);
  });
}

function nextSlice(): void {
  slices.shift()?.();
  if (slices.length > 0) setImmediate(nextSlice);
}

/**
 * Slices for work of very many small steps, which asks after each of them. The clock ends a slice, so that a step that is dearer than its
 * author thought, or a slower machine, makes slices of fewer steps and not of more milliseconds.
 */
export class Slices {
  #begun = performance.now();

  get over(): boolean {
    return performance.now() - this.#begun >= MS_A_TURN;
  }

  async next(): Promise<void> {
    await ownTurn();
    this.#begun = performance.now();
  }
}

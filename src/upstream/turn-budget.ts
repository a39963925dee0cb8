/**
 * Limits how much of the answers of all calls together is read in one turn of the event loop. The system hands over megabytes at once
 * where an engine sends quickly, and a megabyte may hold a hundred thousand events to read: some are read as they come, others are only
 * put aside here.
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
    setImmediate(nextTurn);
    begun = performance.now();
  }
  taken += bytes;
  if (taken < BYTES_A_TURN && (taken < LEAST_BYTES || performance.now() - begun < MS_A_TURN)) return false;
  waiting.push(goOn);
  return true;
}

function nextTurn(): void {
  taken = 0;
  const calls = waiting;
  waiting = [];
  for (const goOn of calls) goOn();
}

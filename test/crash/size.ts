/** The size of `npm run crash`; `npm test` leaves these suites out. */
export const KILL_ROUNDS = 20;
export const STREAMS = 500;
export const OUTAGE_ROUNDS = 20;
export const QUEUED_FACTS = 200_000;
export const ROUND_MS = 120_000;

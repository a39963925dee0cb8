/** `npm run crash` runs everything; `npm test` one round of most suites, with less traffic. */
const all = process.env.ABP_CRASH === 'all';

export const KILL_ROUNDS = all ? 20 : 1;
export const STREAMS = all ? 500 : 60;
export const OUTAGE_ROUNDS = all ? 20 : 1;
export const QUEUED_FACTS = all ? 200_000 : 4000;
export const ROUND_MS = all ? 120_000 : 60_000;

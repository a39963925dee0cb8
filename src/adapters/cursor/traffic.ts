import type { Traffic } from '../adapter.ts';

export const UNSERVED = 'Cursor talks to its own service in a protocol of its own, and its models are called from there';

/** The agent's loop is on Cursor's servers: what it calls is no model, and the address it can be given is that of the whole service. */
export const traffic: Traffic = { dialect: 'cursor', dialects: [], emulate: [], rows: [], unserved: UNSERVED };

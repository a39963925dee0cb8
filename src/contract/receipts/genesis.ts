/** The hash before the first entry of a chain. Apart from the schemas, because the thread that seals does not load them. */
export const GENESIS = '0'.repeat(64);

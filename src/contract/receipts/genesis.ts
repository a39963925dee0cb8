/** What stands before the first entry of a chain. Apart from the schemas, because whoever seals does not load them. */
export const GENESIS = '0'.repeat(64);

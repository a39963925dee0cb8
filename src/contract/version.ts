/** The contract's version, as it stands in receipts and sidecar greetings. */
export const CONTRACT_VERSION = 'abp/v0.1';
/** The rules that `receipt_sha256` can follow, oldest first: content only, so two runs that did the same have the same hash. */
export const HASH_PROFILES = ['abp-content/1', 'abp-content/2'] as const;
/** The rule of new receipts. It adds to the first one what became of the answer, the rules that held, and the change set. */
export const HASH_PROFILE = HASH_PROFILES[1];

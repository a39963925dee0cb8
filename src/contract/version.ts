/** The contract's version, as it stands in receipts and sidecar greetings. */
export const CONTRACT_VERSION = 'abp/v0.1';
/** Which rule `receipt_sha256` follows: content only, so two runs that did the same have the same hash. */
export const HASH_PROFILE = 'abp-content/1';

/** The contract's version, as it stands in receipts and sidecar greetings. */
export const CONTRACT_VERSION = 'abp/v0.1';

/** The kind of chain entries that hold records of the audit log. */
export const AUDIT = 'audit';

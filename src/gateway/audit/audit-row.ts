/** How requests of a route are recorded. */
export interface AuditRow {
  /** Such as `key.create`. */
  readonly action: string;
  /** Whether the record holds the body as it was sent. Without it only the names of its members: some hold prompts and code. */
  readonly body?: true;
}

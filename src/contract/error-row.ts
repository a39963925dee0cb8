/** One row of the error table. `remedy` is what the caller can do next; it is printed by the CLI and on `/docs/errors/{code}`. */
export interface ErrorRow {
  readonly type: string;
  readonly status: number;
  readonly retryable: boolean;
  readonly meaning: string;
  readonly remedy: string;
}

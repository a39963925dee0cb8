/** Notices to webhooks. */
export interface NoticeTables {
  readonly notices: NoticesTable;
}

/** A notice to one webhook. It stays a while after its end, so that the same one is not sent again. */
export interface NoticesTable {
  readonly id: string;
  /** Which webhook of the configuration: a digest of its address, which is a secret. */
  readonly webhook: string;
  readonly event: string;
  /** The occasion: there is one notice of it per webhook, however many nodes noticed it. */
  readonly topic: string;
  readonly document: string;
  readonly created_at: number;
  /** When it is to be tried next. */
  readonly due_at: number;
  readonly tries: number;
  /** Null until it was delivered or given up. */
  readonly ended_at: number | null;
  readonly outcome: string | null;
}

/** Notices to webhooks and to browsers, and the browsers that want to be told. */
export interface NoticeTables {
  readonly notices: NoticesTable;
  readonly push_subscriptions: PushSubscriptionsTable;
}

/** A notice to one webhook or one browser. It stays a while after its end, so that the same one is not sent again. */
export interface NoticesTable {
  readonly id: string;
  /** Which webhook of the configuration: a digest of its address, which is a secret. For a browser the name that `pushReceiver` gives. */
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

/** A browser that wants to be told when something waits. It belongs to one sign-in and ends with it. */
export interface PushSubscriptionsTable {
  readonly id: string;
  /** The hash of the cookie that the browser is signed in with. */
  readonly session: string;
  readonly endpoint_hash: string;
  /** Where the push service of the browser's vendor takes notes for it. */
  readonly endpoint: string;
  /** The browser's public key, and the secret that it shares with who may write to it: notes are encrypted with both. */
  readonly p256dh: string;
  readonly auth: string;
  /** The public key of the server that the browser takes notes from. */
  readonly push_key: string;
  readonly created_at: number;
  /** When the sign-in ends by itself. */
  readonly expires_at: number;
  /** Made of the rest with the secret of the home; without the right one nothing is sent. */
  readonly mac: string;
}

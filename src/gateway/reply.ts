type ReplyHeaders = Readonly<Record<string, string | string[]>>;

/** An answer that is not plain 200 JSON. */
export class Reply {
  readonly status: number;
  readonly body: unknown;
  readonly headers: ReplyHeaders;

  constructor(status: number, body: unknown, headers: ReplyHeaders = {}) {
    this.status = status;
    this.body = body;
    this.headers = headers;
  }
}

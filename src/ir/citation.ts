/** A page on the web that a piece of an answer rests on. The place is in UTF-16 units of the text of its part. */
export interface Citation {
  readonly url: string;
  readonly title?: string;
  /** The words of the page, where the engine tells them. */
  readonly quote?: string;
  readonly start: number;
  readonly end: number;
}

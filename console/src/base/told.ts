/** What happened to an action that has no place on a page of its own: the frame tells it, whatever page is open. */

/** Stays until the reader closes it. */
export function tellFailure(error: unknown): void {
  window.dispatchEvent(new CustomEvent('abp:failure', { detail: error }));
}

/** Goes by itself. */
export function tellDone(words: string): void {
  window.dispatchEvent(new CustomEvent('abp:said', { detail: words }));
}

/** Pixels at the ends of a scrolled part that something else covers. */
interface Covered {
  readonly left?: number;
  readonly top?: number;
  readonly other?: number;
}

/** Scrolls a part until one of its elements is seen. `scrollIntoView` would also make the next Tab begin there, past the way to skip. */
export function bringIntoView(element: Element, part: Element, { left = 0, top = 0, other = 0 }: Covered = {}): void {
  const [seen, within] = [element.getBoundingClientRect(), part.getBoundingClientRect()];
  const missing = (from: number, to: number, least: number, most: number): number => (from < least ? from - least : Math.max(0, to - most));
  part.scrollLeft += missing(seen.left, seen.right, within.left + left, within.right - other);
  part.scrollTop += missing(seen.top, seen.bottom, within.top + top, within.bottom - other);
}

import type { Draft } from './draft.ts';

type Steps = readonly (string | number)[];

/**
 * Remarks on every value of the file that nothing was made of and nothing was said about. `known` names the values that a translator takes or
 * speaks of itself: `[]` stands for any place in a list, `*` for any name.
 */
export function sayRest(draft: Draft, file: unknown, known: readonly string[]): void {
  const taken = known.map((path) => path.split('.'));
  for (const steps of leavesOf(file)) {
    if (taken.some((path) => isLike(steps, path)) || draft.speaksOf(placesOf(steps))) continue;
    draft.remark(placesOf(steps).at(-1) ?? '', 'no counterpart');
  }
}

/** Where the values of a file are; nothing is said of what is empty. */
function leavesOf(value: unknown, steps: Steps = []): Steps[] {
  if (value === null || value === undefined) return [];
  if (Array.isArray(value)) return value.flatMap((one, at) => leavesOf(one, [...steps, at]));
  if (typeof value === 'object') return Object.entries(value).flatMap(([name, one]) => leavesOf(one, [...steps, name]));
  return [steps];
}

/** The value by its place, and the places that it is in. */
function placesOf(steps: Steps): string[] {
  const places: string[] = [];
  for (const step of steps) {
    const before = places.at(-1);
    const name = before === undefined ? String(step) : `${before}.${step}`;
    places.push(typeof step === 'number' ? `${before}[${step}]` : name);
  }
  return places;
}

function isLike(steps: Steps, path: readonly string[]): boolean {
  if (steps.length !== path.length) return false;
  return steps.every((step, at) => (path[at] === '[]' ? typeof step === 'number' : path[at] === '*' || path[at] === step));
}

/** A member of a value that may be a table. */
export function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Object.entries(value).find(([one]) => one === name)?.[1] : undefined;
}

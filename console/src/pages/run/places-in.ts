import type { FidelityEntry } from '../../../../src/contract/negotiation.ts';

/** Where a field stands in the engine's request. */
export interface Place {
  /** The steps to it, or the part of the request that is not the body. */
  readonly at: string;
  readonly value: unknown;
}

/** The first places of the fields by the path that the receipt calls them. */
export type Places = ReadonlyMap<string, Place>;

/** The places on which what would be sent now and what was sent then agree. */
export function placesIn(entries: readonly FidelityEntry[], now: unknown, then: unknown): Places {
  const places = new Map<string, Place>();
  for (const { path, to } of entries) {
    const [first] = to ?? [];
    if (first === undefined || places.has(path)) continue;
    const steps = stepsOf(first);
    if (steps === undefined) places.set(path, { at: first, value: undefined });
    else {
      const value = reached(then, steps);
      if (value !== undefined && JSON.stringify(value) === JSON.stringify(reached(now, steps)))
        places.set(path, { at: written(steps), value });
    }
  }
  return places;
}

/** The steps of a JSON pointer; undefined for a part of the request that is not its body. */
function stepsOf(pointer: string): readonly string[] | undefined {
  if (!pointer.startsWith('/')) return undefined;
  return pointer
    .slice(1)
    .split('/')
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
}

function reached(body: unknown, steps: readonly string[]): unknown {
  return steps.reduce<unknown>((value, step) => (typeof value === 'object' && value !== null ? Reflect.get(value, step) : undefined), body);
}

const written = (steps: readonly string[]): string =>
  steps.reduce((path, step) => (/^\d+$/.test(step) ? `${path}[${step}]` : path === '' ? step : `${path}.${step}`), '');

import { useEffect, useRef } from 'react';

/** Something that can be done where the reader is; the palette lists it. */
export interface Action {
  readonly id: string;
  readonly text: string;
  readonly icon?: string;
  readonly keys?: string;
  act(): void;
}

const offered = new Map<symbol, () => readonly Action[]>();

/** Offers actions to the palette while the component lives. */
export function useActions(actions: readonly Action[]): void {
  const current = useRef(actions);
  current.current = actions;
  useEffect(() => {
    const owner = Symbol('actions');
    offered.set(owner, () => current.current);
    return () => void offered.delete(owner);
  }, []);
}

/** Everything that is offered now. */
export function offeredActions(): readonly Action[] {
  return [...offered.values()].flatMap((actions) => actions());
}

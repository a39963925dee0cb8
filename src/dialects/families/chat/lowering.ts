import type { FateNote, LowerContext } from '../../dialect.ts';
import type { ChatFlavour } from './flavour.ts';

/** Everything that each step of writing a request needs. */
export interface Lowering {
  readonly flavour: ChatFlavour;
  readonly context: LowerContext;
  readonly notes: FateNote[];
}

/** Limits a note to one node of the caller's body. */
export function where(node: { readonly at?: string }): { at?: string } {
  return node.at === undefined ? {} : { at: node.at };
}

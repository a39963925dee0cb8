import { type Change, type ChangeSet, isFolderOnly, pathKeyOf } from './change-set.ts';
import { type PathKey, parentOf, pathsAround } from './tree.ts';

/** The changes that are brought into the original, and those that are not because nobody asked for them. */
export interface Choice {
  readonly chosen: readonly Change[];
  readonly held: readonly Change[];
}

const comesAsFolder = ({ before, after }: Change): boolean => before === null && after?.type === 'folder';
const takesFolderAway = ({ before, after }: Change): boolean => before?.type === 'folder' && after?.type !== 'folder';

/**
 * Chooses what is not held back, and what somebody asked for by its path or that of a folder around it. Folders follow what is in them: a
 * new one is made for what is chosen in it, and an old one stays as long as something in it does.
 */
export function chooseChanges({ changes }: ChangeSet, isAsked: (path: string) => boolean): Choice {
  const inside = byFolder(changes);
  const chosen = new Set<Change>();
  for (const change of changes.toSorted((a, b) => depthOf(b) - depthOf(a))) {
    const within = inside.get(pathKeyOf(change)) ?? [];
    const isWanted = change.held === undefined || pathsAround(change.path).some(isAsked);
    if (isChosen(change, isWanted, { all: within.length, chosen: within.filter((one) => chosen.has(one)).length })) chosen.add(change);
  }
  const held = changes.filter((change) => !chosen.has(change));
  return {
    chosen: changes.filter((change) => chosen.has(change)),
    held: counted(held, inside).map((change) => ({ ...change, held: change.held ?? 'something in it is held back' })),
  };
}

function isChosen(change: Change, isWanted: boolean, within: { readonly all: number; readonly chosen: number }): boolean {
  if (comesAsFolder(change) && within.all > 0) return within.chosen > 0;
  return isWanted && (!takesFolderAway(change) || within.chosen === within.all);
}

/** Changes as people count them: a folder comes and goes with what is in it, and only an empty one is a change by itself. */
export function counted(changes: readonly Change[], inside: ReadonlyMap<PathKey, readonly Change[]> = byFolder(changes)): Change[] {
  return changes.filter((change) => !isFolderOnly(change) || !inside.has(pathKeyOf(change)));
}

function byFolder(changes: readonly Change[]): Map<PathKey, Change[]> {
  return Map.groupBy(changes, (change) => parentOf(pathKeyOf(change)));
}

const depthOf = ({ path }: Change): number => path.split('/').length;

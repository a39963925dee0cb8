import { readFileSync } from 'node:fs';
import { canonicalJson, sha256 } from '../../base/canonical-json.ts';
import { jsonOf, parseJsonObject } from '../../base/json.ts';
import type { WorkspaceDelta } from '../../contract/receipts/parts.ts';
import { heldBack, marked } from './protected-paths.ts';
import { keyOf, type PathKey, type Seen, sameNode, type TreeNode, textOf } from './tree.ts';

/** Names in the folder of a stage. They stand here, so that the server knows them without the work of the threads that make stages. */
export const CHANGES_FILE = 'changes.json';
export const PATCH_FILE = 'patch.diff';
export const TREE = 'tree';
export const CHECK_TREE = 'check';
export const CHECK_LOG = 'check.log';

/** One path that is not as it was. */
export interface Change {
  /** The path below the workspace, and as base64 where its bytes are no text. */
  readonly path: string;
  readonly raw?: string;
  readonly before: TreeNode | null;
  readonly after: TreeNode | null;
  /** The path of a removed file with the same content. */
  readonly renamedFrom?: string;
  /** Why it is not applied unless somebody asks for it. */
  readonly held?: string;
  /** Why somebody should look at it before working with it. */
  readonly mark?: string;
}

/** Everything that a run changed in its workspace, complete: by content, not by what a version control knows. */
export interface ChangeSet {
  readonly version: 'abp-changes/1';
  readonly changes: readonly Change[];
}

export type ChangeKind = 'added' | 'modified' | 'removed';

export const kindOf = ({ before, after }: Change): ChangeKind => (before === null ? 'added' : after === null ? 'removed' : 'modified');

export const pathKeyOf = ({ path, raw }: Pick<Change, 'path' | 'raw'>): PathKey =>
  raw === undefined ? keyOf(path) : Buffer.from(raw, 'base64').toString('latin1');

/** The differences between two looks at a tree. `denied` says which changes the policy does not let through, and by which rule. */
export function changesBetween(
  before: ReadonlyMap<PathKey, Seen>,
  after: ReadonlyMap<PathKey, Seen>,
  denied: (path: string) => string | undefined = () => undefined,
): ChangeSet {
  const keys = [...new Set([...before.keys(), ...after.keys()])].sort();
  const differing = keys.filter((key) => !sameNode(before.get(key)?.node, after.get(key)?.node));
  // Last first, so that the first one is taken from the end: thousands of files may have the same content.
  const gone = new Map<string, PathKey[]>();
  for (const key of differing.toReversed()) {
    const node = after.has(key) ? undefined : before.get(key)?.node;
    if (node?.type !== 'file' || node.bytes === 0) continue;
    const alike = gone.get(node.sha256);
    if (alike === undefined) gone.set(node.sha256, [key]);
    else alike.push(key);
  }
  const changes = differing.map((key): Change => {
    const [was, is] = [before.get(key)?.node ?? null, after.get(key)?.node ?? null];
    const origin = was === null && is?.type === 'file' ? gone.get(is.sha256)?.pop() : undefined;
    const path = textOf(key);
    const held = denied(path) ?? heldBack(path, is);
    const mark = marked(path, was, is);
    return {
      path,
      ...(keyOf(path) === key ? {} : { raw: Buffer.from(key, 'latin1').toString('base64') }),
      before: was,
      after: is,
      ...(origin === undefined ? {} : { renamedFrom: textOf(origin) }),
      ...(held === undefined ? {} : { held }),
      ...(mark === undefined ? {} : { mark }),
    };
  });
  return { version: 'abp-changes/1', changes };
}

/** A change set by digest, as the receipt of its run holds it. */
export interface ChangeSetRecord {
  readonly sha256: string;
  readonly bytes: number;
  readonly added: number;
  readonly modified: number;
  readonly removed: number;
  /** Where the changes stood when the run ended. */
  readonly state: 'in_place' | 'staged' | 'applied' | 'discarded';
}

export function changeSetRecord(set: ChangeSet, state: ChangeSetRecord['state']): ChangeSetRecord {
  // A change set is JSON by its schema.
  const form = canonicalJson(jsonOf(set));
  const count = (kind: ChangeKind): number => set.changes.filter((change) => kindOf(change) === kind).length;
  return {
    sha256: sha256(form),
    bytes: Buffer.byteLength(form),
    added: count('added'),
    modified: count('modified'),
    removed: count('removed'),
    state,
  };
}

/** The paths of a change set. Folders are not named: they come and go with what is in them. */
export function deltaOf({ changes }: ChangeSet, patchSha256: string | null): WorkspaceDelta {
  const paths = (kind: ChangeKind): string[] =>
    changes.filter((change) => kindOf(change) === kind && !isFolderOnly(change)).map(({ path }) => path);
  return { added: paths('added'), modified: paths('modified'), removed: paths('removed'), patch_sha256: patchSha256 };
}

/** Whether a folder came or went, and nothing else. */
export function isFolderOnly({ before, after }: Change): boolean {
  const types: readonly (TreeNode['type'] | undefined)[] = [before?.type, after?.type];
  return types.every((type) => type === undefined || type === 'folder');
}

/** The record in a file beside a stage; undefined where there is none or it is torn. This program alone writes there: no agent sees the folder. */
export function stageRecord<T>(file: string): T | undefined {
  const text = recordText(file);
  return text === undefined ? undefined : (parseJsonObject(text) as unknown as T | undefined);
}

/** Another process may remove a stage at any time. */
function recordText(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR')) return undefined;
    throw error;
  }
}

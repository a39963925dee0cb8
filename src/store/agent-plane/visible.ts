/** Whose agents and sessions a caller may see: all of them, those of one key (null: those made without a key), or those of several. */
export type Visible = { readonly all: true } | { readonly key: string | null } | { readonly keys: readonly string[] };

export const ALL: Visible = { all: true };

export function isVisible(keyId: string | null, visible: Visible): boolean {
  if ('keys' in visible) return keyId !== null && visible.keys.includes(keyId);
  return 'all' in visible || visible.key === keyId;
}

/** No key has this id: who sees those of several keys only reads, and a statement that writes finds nothing for it. */
const NOBODY = '';

/** As a statement that writes takes it: whether everything is meant, and else whose. */
export function visibleTo(visible: Visible): { readonly all: boolean; readonly key: string | null } {
  if ('keys' in visible) return { all: false, key: NOBODY };
  return 'all' in visible ? { all: true, key: null } : { all: false, key: visible.key };
}

/** The keys that a list is held to; undefined: everything, null: what was made without a key. Never none at all. */
export function keysSeen(visible: Visible): readonly string[] | null | undefined {
  if ('all' in visible) return undefined;
  if ('key' in visible) return visible.key === null ? null : [visible.key];
  return visible.keys.length === 0 ? [NOBODY] : visible.keys;
}

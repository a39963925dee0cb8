/** Whose agents and sessions a caller may see: all of them, or those of one key (null: those made without a key). */
export type Visible = { readonly all: true } | { readonly key: string | null };

export const ALL: Visible = { all: true };

export function isVisible(keyId: string | null, visible: Visible): boolean {
  return 'all' in visible || visible.key === keyId;
}

/** As a statement takes it: whether everything is meant, and else whose. */
export function visibleTo(visible: Visible): { readonly all: boolean; readonly key: string | null } {
  return 'all' in visible ? { all: true, key: null } : { all: false, key: visible.key };
}

import type { Store } from '../store.ts';

/** How far the segment has been drained; 0 when nothing of it has. */
export async function journalPosition(store: Store, segment: string): Promise<number> {
  const row = await store.db.selectFrom('journal_positions').select('position').where('segment', '=', segment).executeTakeFirst();
  return row?.position ?? 0;
}

/** For a segment whose file is gone. */
export async function forgetSegment(store: Store, segment: string): Promise<void> {
  await store.db.deleteFrom('journal_positions').where('segment', '=', segment).execute();
}

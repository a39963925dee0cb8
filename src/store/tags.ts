import { type RawBuilder, sql } from 'kysely';
import type { Store } from './store.ts';
import { damaged, storableText, storedJson } from './text.ts';

/**
 * A JSON array with each tag on its own line. JSON strings hold no raw line break, so a line break, a space and the quoted tag
 * occur in the column exactly where the tag does.
 */
export function tagsColumn(tags: readonly string[]): string {
  return tags.length === 0 ? '[]' : JSON.stringify(tags.map(storableText), null, 1);
}

/** Whether the `tags` column of the row holds this tag. */
export function hasTag(store: Store, tag: string): RawBuilder<boolean> {
  const needle = `\n ${JSON.stringify(storableText(tag))}`;
  return store.kind === 'sqlite' ? sql<boolean>`instr(tags, ${needle}) > 0` : sql<boolean>`strpos(tags, ${needle}) > 0`;
}

export function storedTags(text: string): readonly string[] {
  const value = storedJson('tags', text);
  if (!Array.isArray(value)) throw damaged('tags', 'not an array');
  return value.map(String);
}

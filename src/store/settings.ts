import type { Json } from '../base/json.ts';
import type { Store } from './store.ts';
import { indexedText, storedJson } from './text.ts';

export async function getSetting(store: Store, name: string): Promise<Json | undefined> {
  const row = await store.db.selectFrom('settings').select('value').where('name', '=', indexedText(name)).executeTakeFirst();
  return row === undefined ? undefined : storedJson(`setting ${name}`, row.value);
}

export async function setSetting(store: Store, name: string, value: Json): Promise<void> {
  await store.db
    .insertInto('settings')
    .values({ name: indexedText(name), value: JSON.stringify(value) })
    .onConflict((conflict) => conflict.column('name').doUpdateSet((eb) => ({ value: eb.ref('excluded.value') })))
    .execute();
}

/** Sets it where it is not set; of several processes one does. */
export async function addSetting(store: Store, name: string, value: Json): Promise<void> {
  await store.db
    .insertInto('settings')
    .values({ name: indexedText(name), value: JSON.stringify(value) })
    .onConflict((conflict) => conflict.column('name').doNothing())
    .execute();
}

export async function deleteSetting(store: Store, name: string): Promise<void> {
  await store.db.deleteFrom('settings').where('name', '=', indexedText(name)).execute();
}

/** Every setting whose name begins like this. */
export async function listSettings(store: Store, prefix: string): Promise<{ readonly name: string; readonly value: Json }[]> {
  const rows = await store.db
    .selectFrom('settings')
    .selectAll()
    .where('name', '>=', prefix)
    .where('name', '<', `${prefix}\u{10ffff}`)
    .orderBy('name')
    .execute();
  return rows.map(({ name, value }) => ({ name, value: storedJson(`setting ${name}`, value) }));
}

import { type Kysely, sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { createAgent, deleteAgent } from '../../src/store/agent-plane/agents.ts';
import type { Tables } from '../../src/store/schema.ts';
import type { Store } from '../../src/store/store.ts';

/** Unique columns and index names of a table, by the words of each database. */
async function indexesOf(store: Store, table: string): Promise<string[]> {
  const db: Kysely<Tables> = store.db;
  const names =
    store.kind === 'sqlite'
      ? await sql<{ name: string }>`select name from sqlite_schema where type = 'index' and tbl_name = ${table}`.execute(db)
      : await sql<{ name: string }>`select indexname as name from pg_indexes where tablename = ${table}`.execute(db);
  return names.rows.map(({ name }) => name);
}

/** The seed's table of an agent's capabilities, on whatever database there is. */
export function tablesSuite(database: string, open: () => Promise<Store>): void {
  describe(`the table agent_capabilities on ${database}`, () => {
    test('has the columns, constraints and indexes of the specification', async () => {
      const store = await open();
      const tables = await store.db.introspection.getTables();
      const columns = tables.find(({ name }) => name === 'agent_capabilities')?.columns ?? [];
      expect(columns.map(({ name, isNullable }) => [name, isNullable])).toEqual([
        ['id', false],
        ['agent_id', false],
        ['capability_id', false],
        ['position', false],
        ['created_at', false],
      ]);
      expect(await indexesOf(store, 'agent_capabilities')).toEqual(
        expect.arrayContaining(['idx_agent_capabilities_agent_id', 'idx_agent_capabilities_position']),
      );
      await store.close();
    });

    test('takes a capability once per agent, puts it first unless told, and forgets it with its agent', async () => {
      const store = await open();
      const agent = await createAgent(store, { keyId: null, name: 'a', document: {}, createdAt: 1 });
      const insert = (id: string): Promise<unknown> =>
        sql`insert into agent_capabilities (id, agent_id, capability_id, created_at) values (${id}, ${agent.id}, 'noop', 1)`.execute(
          store.db,
        );
      await insert('one');
      await expect(insert('two')).rejects.toThrow(/unique/i);
      expect(await store.db.selectFrom('agent_capabilities').select('position').execute()).toEqual([{ position: 0 }]);
      await deleteAgent(store, agent.id);
      expect(await store.db.selectFrom('agent_capabilities').selectAll().execute()).toEqual([]);
      await store.close();
    });
  });
}

import { type CreateTableBuilder, type Kysely, SqliteAdapter, sql } from 'kysely';

async function createAgents(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('agents')
    .addColumn('id', 'text', (column) => column.primaryKey().notNull())
    .addColumn('key_id', 'text')
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('status', 'text', (column) => column.notNull())
    .addColumn('tags', 'text', (column) => column.notNull())
    .addColumn('document', 'text', (column) => column.notNull())
    .addColumn('revision', 'bigint', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('updated_at', 'bigint', (column) => column.notNull())
    .execute();
  await db.schema.createIndex('agents_created').on('agents').columns(['created_at', 'id']).execute();
}

async function createCapabilities(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('agent_capabilities')
    .addColumn('id', 'text', (column) => column.primaryKey().notNull())
    .addColumn('agent_id', 'text', (column) => column.notNull().references('agents.id').onDelete('cascade'))
    .addColumn('capability_id', 'varchar(50)', (column) => column.notNull())
    .addColumn('position', 'integer', (column) => column.notNull().defaultTo(0))
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addUniqueConstraint('agent_capabilities_agent_id_capability_id_key', ['agent_id', 'capability_id'])
    .execute();
  await db.schema.createIndex('idx_agent_capabilities_agent_id').on('agent_capabilities').columns(['agent_id']).execute();
  await db.schema.createIndex('idx_agent_capabilities_position').on('agent_capabilities').columns(['agent_id', 'position']).execute();
  await db.schema
    .createTable('custom_capabilities')
    .addColumn('id', 'text', (column) => column.primaryKey().notNull())
    .addColumn('key_id', 'text')
    .addColumn('document', 'text', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('updated_at', 'bigint', (column) => column.notNull())
    .execute();
}

async function createSessions(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('sessions')
    .addColumn('id', 'text', (column) => column.primaryKey().notNull())
    .addColumn('agent_id', 'text', (column) => column.notNull().references('agents.id').onDelete('cascade'))
    .addColumn('key_id', 'text')
    .addColumn('title', 'text')
    .addColumn('tags', 'text', (column) => column.notNull())
    .addColumn('document', 'text', (column) => column.notNull())
    .addColumn('status', 'text', (column) => column.notNull())
    .addColumn('sequence', 'bigint', (column) => column.notNull())
    .addColumn('turn_id', 'text')
    .addColumn('input_tokens', 'bigint', (column) => column.notNull())
    .addColumn('output_tokens', 'bigint', (column) => column.notNull())
    .addColumn('cost_nano_usd', 'bigint', (column) => column.notNull())
    .addColumn('forked_from', 'text')
    .addColumn('forked_sequence', 'bigint')
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('updated_at', 'bigint', (column) => column.notNull())
    .execute();
  await db.schema.createIndex('sessions_created').on('sessions').columns(['created_at', 'id']).execute();
  await db.schema.createIndex('sessions_agent').on('sessions').columns(['agent_id', 'created_at', 'id']).execute();
}

async function createTurns(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('turns')
    .addColumn('id', 'text', (column) => column.primaryKey().notNull())
    .addColumn('session_id', 'text', (column) => column.notNull().references('sessions.id').onDelete('cascade'))
    .addColumn('status', 'text', (column) => column.notNull())
    .addColumn('epoch', 'bigint', (column) => column.notNull())
    .addColumn('owner', 'text')
    .addColumn('checkpoint', 'text', (column) => column.notNull())
    .addColumn('sequence', 'bigint', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('updated_at', 'bigint', (column) => column.notNull())
    .addColumn('ended_at', 'bigint')
    .execute();
  await db.schema.createIndex('turns_session').on('turns').columns(['session_id', 'created_at']).execute();
  // Few turns are unfinished at any time; a worker that starts looks for them.
  await db.schema
    .createIndex('turns_unfinished')
    .on('turns')
    .columns(['updated_at', 'id'])
    .where(sql.ref('ended_at'), 'is', null)
    .execute();
  await db.schema
    .createTable('session_events')
    .addColumn('session_id', 'text', (column) => column.notNull().references('sessions.id').onDelete('cascade'))
    .addColumn('sequence', 'bigint', (column) => column.notNull())
    .addColumn('type', 'text', (column) => column.notNull())
    .addColumn('turn_id', 'text')
    .addColumn('at', 'bigint', (column) => column.notNull())
    .addColumn('data', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('session_events_pkey', ['session_id', 'sequence'])
    .$call((table) => clustered(db, table))
    .execute();
  await db.schema
    .createTable('workers')
    .addColumn('id', 'text', (column) => column.primaryKey().notNull())
    .addColumn('started_at', 'bigint', (column) => column.notNull())
    .addColumn('heartbeat_at', 'bigint', (column) => column.notNull())
    .execute();
}

/** On SQLite the rows lie in the order of their key, without a second tree for it: an event is one write instead of two. */
function clustered<T extends string, C extends string>(db: Kysely<unknown>, table: CreateTableBuilder<T, C>): CreateTableBuilder<T, C> {
  return db.getExecutor().adapter instanceof SqliteAdapter ? table.modifyEnd(sql`without rowid`) : table;
}

export async function up(db: Kysely<unknown>): Promise<void> {
  await createAgents(db);
  await createCapabilities(db);
  await createSessions(db);
  await createTurns(db);
}

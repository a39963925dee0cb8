import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** One step of an agent that works: what the model says, what it thinks, and the tool that is used then. */
export interface WorkStep {
  readonly says: string;
  readonly thinks?: string;
  readonly tool?: 'Read' | 'Write' | 'Edit' | 'Bash';
  readonly input?: Readonly<Record<string, string>>;
  readonly asks?: true;
}

export type ScriptedWork = readonly WorkStep[];

const TEST = 'src/queue/lease.test.ts';

/** The folder that the scripts work in, as it is before the first of them. */
export function makeWorkFolder(folder: string): void {
  for (const name of ['db', 'migrations', 'src/queue']) mkdirSync(join(folder, name), { recursive: true });
  writeFileSync(join(folder, 'db/schema.sql'), 'create table jobs (\n  id text primary key,\n  lease text,\n  until bigint\n);\n');
  writeFileSync(
    join(folder, 'src/queue/lease.ts'),
    'export async function claim(db: Db, worker: string) {\n  const row = await db.oldest();\n  if (row) await db.mark(row.id, worker);\n  return row;\n}\n',
  );
  writeFileSync(
    join(folder, TEST),
    "test('two workers never hold one lease', async () => {\n  const [a, b] = [await claim(db, 'a'), await claim(db, 'b')];\n  expect(a?.id).not.toBe(b?.id);\n});\n",
  );
  writeFileSync(
    join(folder, 'test.sh'),
    `if grep -q 'Promise.all' ${TEST}; then\n  echo "ok  two workers never hold one lease (41 ms)"\n  echo "ok  a lease ends with its worker (12 ms)"\n  echo "2 passed, 0 failed"\nelse\n  echo "not ok  two workers never hold one lease: expected 2 leases, got 1"\n  exit 1\nfi\n`,
  );
}

const MIGRATION = `create table leases (
  job text primary key references jobs (id) on delete cascade,
  worker text not null,
  until bigint not null
);
create index leases_until on leases (until);
insert into leases (job, worker, until)
  select id, lease, until from jobs where lease is not null;
alter table jobs drop column lease;
alter table jobs drop column until;
`;

const READS: ScriptedWork = [
  {
    says: 'I will read the schema and the queue first.',
    thinks: 'The lease columns live in jobs. Readers must see either the old or the new place, never neither.',
    tool: 'Read',
    input: { file_path: 'db/schema.sql' },
  },
  { says: 'Now the code that claims a lease.', tool: 'Read', input: { file_path: 'src/queue/lease.ts' } },
];

const EDITS: ScriptedWork = [
  {
    says: 'A table of its own, filled from the old columns in the same migration.',
    tool: 'Write',
    input: { file_path: 'migrations/0042_lease.sql', content: MIGRATION },
  },
  {
    says: 'The claim becomes one transaction that locks the row.',
    tool: 'Edit',
    input: {
      file_path: 'src/queue/lease.ts',
      old_string: '  const row = await db.oldest();\n  if (row) await db.mark(row.id, worker);\n  return row;',
      new_string:
        '  return db.tx(async (t) => {\n    const row = await t.oldest({ lock: true });\n    if (row) await t.mark(row.id, worker);\n    return row;\n  });',
    },
  },
  { says: 'Let us see whether the tests hold.', tool: 'Bash', input: { command: 'sh test.sh queue' } },
  {
    says: 'The test claims one after the other; it has to claim at the same time.',
    thinks: 'Two awaits in a row never race. Promise.all does.',
    tool: 'Edit',
    input: {
      file_path: TEST,
      old_string: "  const [a, b] = [await claim(db, 'a'), await claim(db, 'b')];",
      new_string: "  const [a, b] = await Promise.all([\n    claim(db, 'a'), claim(db, 'b'),\n  ]);",
    },
  },
  { says: 'Again.', tool: 'Bash', input: { command: 'sh test.sh queue' } },
];

const SCRIPTS: readonly (readonly [RegExp, ScriptedWork])[] = [
  [
    /migration/i,
    [
      ...READS,
      ...EDITS,
      {
        says: 'The migration file is in place. I will apply it to staging to see that it runs.',
        tool: 'Bash',
        input: { command: 'npm run db:migrate -- --env staging' },
        asks: true,
      },
      { says: 'The lease table has its own migration, and the queue claims in one transaction.' },
    ],
  ],
  [
    /flaky/i,
    [
      ...READS.slice(1),
      {
        says: 'The claim reads and writes in two steps; between them another worker can claim the same row.',
        tool: 'Edit',
        input: {
          file_path: 'src/queue/lease.ts',
          old_string: '  const row = await db.oldest();\n  if (row) await db.mark(row.id, worker);\n  return row;',
          new_string:
            '  return db.tx(async (t) => {\n    const row = await t.oldest({ lock: true });\n    if (row) await t.mark(row.id, worker);\n    return row;\n  });',
        },
        asks: true,
      },
      { says: 'Done.' },
    ],
  ],
];

export function scriptFor(prompt: string): ScriptedWork {
  const found = SCRIPTS.find(([words]) => words.test(prompt));
  return found?.[1] ?? [...READS, ...EDITS, { says: 'The queue claims in one transaction, and both tests pass.' }];
}

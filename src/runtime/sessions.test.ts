import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, it, onTestFinished } from 'vitest';
import { fakeAdapter } from '../../test/support/agents/test-adapter.ts';
import type { Adapter, SessionRule } from '../adapters/adapter.ts';
import { exportSession } from './session-export.ts';
import { createSessions } from './sessions.ts';

function home(): string {
  const folder = mkdtempSync(join(tmpdir(), 'abp-sessions-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

const withRule = (sessions: SessionRule): Adapter => ({ ...fakeAdapter('plain'), sessions });

const inFiles = withRule({
  kind: 'files',
  folder: '.fake/sessions',
  folderVariable: 'FAKE_DIR',
  pattern: '**/*.txt',
  summary: ({ path, modifiedAt }, text) =>
    text === '' ? undefined : { sessionId: path.replace('.txt', ''), agent: 'claude', updatedAt: modifiedAt, turnCount: 1, cwd: text },
  messages: (text) => [{ role: 'user', content: text }],
});

function write(file: string, text: string, seconds: number): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  utimesSync(file, seconds, seconds);
}

it('reads sessions from files, newest first, wherever the agent keeps them', async () => {
  const HOME = home();
  const store = join(HOME, '.fake', 'sessions');
  write(join(store, 'old.txt'), '/a', 100);
  write(join(store, 'deep', 'er', 'new.txt'), '/b', 200);
  write(join(store, 'empty.txt'), '', 300);
  write(join(store, 'other.md'), 'no session', 400);
  const sessions = createSessions({ HOME });
  expect((await sessions.list(inFiles)).map(({ sessionId }) => sessionId)).toEqual(['deep/er/new', 'old']);
  expect(await sessions.list(inFiles, { limit: 1 })).toHaveLength(1);
  expect((await sessions.list(inFiles, { cwd: '/a' })).map(({ sessionId }) => sessionId)).toEqual(['old']);
  expect(await sessions.list(inFiles, { since: 150_000 })).toHaveLength(1);
  expect(await sessions.get(inFiles, 'old')).toMatchObject({ cwd: '/a', messages: [{ role: 'user', content: '/a' }] });
  await expect(sessions.get(inFiles, 'none')).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' });
  const moved = createSessions({ HOME, FAKE_DIR: join(store, 'deep') });
  expect((await moved.list(inFiles)).map(({ sessionId }) => sessionId)).toEqual(['er/new']);
});

it('reads sessions from a database without writing to it', async () => {
  const HOME = home();
  const database = new DatabaseSync(join(HOME, 'fake.db'));
  database.exec(
    "create table s (id text, at int); create table m (s text, t text); insert into s values ('one', 5); insert into m values ('one', 'hi')",
  );
  database.close();
  const adapter = withRule({
    kind: 'sqlite',
    file: 'fake.db',
    list: 'select id, at from s',
    read: 'select t from m where s = ?',
    summary: ({ id, at }) => ({ sessionId: String(id), agent: 'claude', updatedAt: Number(at), turnCount: 1 }),
    messages: (rows) => rows.map(({ t }) => ({ role: 'user', content: String(t) })),
  });
  const sessions = createSessions({ HOME });
  expect(await sessions.get(adapter, 'one')).toMatchObject({ updatedAt: 5, messages: [{ content: 'hi' }] });
  expect(await createSessions({ HOME: join(HOME, 'nowhere') }).list(adapter)).toEqual([]);
});

it('writes a session in three forms, and no text can break out of the readable one', () => {
  const session = {
    sessionId: 's',
    agent: 'claude' as const,
    updatedAt: 0,
    turnCount: 1,
    messages: [
      { role: 'user' as const, content: 'do it' },
      { role: 'assistant' as const, content: '', toolCalls: [{ toolCallId: 't', toolName: 'run', input: { a: 1 } }] },
      { role: 'tool' as const, content: '```\n# not a title' },
    ],
  };
  expect(exportSession(session, 'jsonl').split('\n')).toHaveLength(4);
  expect(exportSession(session, 'json')).toContain('"sessionId": "s"');
  expect(exportSession(session, 'markdown')).toBe(
    '# s\n\nclaude · s · 1970-01-01T00:00:00.000Z\n\n## user\n\ndo it\n\n## assistant\n\n- called `run` with `{"a":1}`\n\n## tool\n\n````\n```\n# not a title\n````\n',
  );
});

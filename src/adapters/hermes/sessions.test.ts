import { DatabaseSync } from 'node:sqlite';
import { expect, it } from 'vitest';
import { sessions } from './sessions.ts';

if (sessions.kind !== 'sqlite') throw new Error('sessions of hermes are in a database');
const rule = sessions;

/** A database with the tables of the agent, as far as they are read. */
function store(): DatabaseSync {
  const db = new DatabaseSync(':memory:');
  db.exec(`CREATE TABLE sessions (id text, source text, title text, model text, model_config text, cwd text, parent_session_id text, started_at real);
    CREATE TABLE messages (id integer, session_id text, role text, content text, tool_call_id text, tool_calls text, tool_name text,
      timestamp real, reasoning text, reasoning_content text, active integer);
    INSERT INTO sessions VALUES ('s1', 'acp', NULL, 'm', '{"cwd":"/project"}', NULL, NULL, 1.5), ('t', 'telegram', NULL, 'm', NULL, NULL, NULL, 2);
    INSERT INTO messages VALUES (1, 's1', 'user', 'write it', NULL, NULL, NULL, 2, NULL, NULL, 1),
      (2, 's1', 'assistant', '', NULL, '[{"id":"c1","function":{"name":"write_file","arguments":"{\\"path\\":\\"a\\"}"}}]', NULL, 3, 'hm', NULL, 1),
      (3, 's1', 'tool', '{"error": "denied"}', 'c1', NULL, 'write_file', 4, NULL, NULL, 1),
      (4, 's1', 'assistant', 'rewound', NULL, NULL, NULL, 5, NULL, NULL, 0);`);
  return db;
}

it('lists sessions of terminals and editors', () => {
  expect(store().prepare(rule.list).all().map(rule.summary)).toEqual([
    { sessionId: 's1', agent: 'hermes', cwd: '/project', model: 'm', createdAt: 1500, updatedAt: 5000, turnCount: 2 },
  ]);
});

it('reads a session without what was taken back', () => {
  expect(rule.messages(store().prepare(rule.read).all('s1'))).toEqual([
    { role: 'user', content: 'write it', timestamp: 2000 },
    {
      role: 'assistant',
      content: '',
      timestamp: 3000,
      thinking: 'hm',
      toolCalls: [{ toolCallId: 'c1', toolName: 'write_file', input: { path: 'a' } }],
    },
    {
      role: 'tool',
      content: '{"error": "denied"}',
      timestamp: 4000,
      toolResult: { toolCallId: 'c1', output: '{"error": "denied"}', isError: true },
    },
  ]);
});

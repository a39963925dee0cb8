import { DatabaseSync } from 'node:sqlite';
import { expect, it } from 'vitest';
import { sessions } from './sessions.ts';

if (sessions.kind !== 'sqlite') throw new Error('sessions of opencode are in a database');
const rule = sessions;

/** A database with the tables of the agent, as far as they are read. */
function store(): DatabaseSync {
  const db = new DatabaseSync(':memory:');
  db.exec(`CREATE TABLE session (id text, parent_id text, directory text, title text, model text, time_created integer, time_updated integer);
    CREATE TABLE message (id text, session_id text, time_created integer, data text);
    CREATE TABLE part (id text, message_id text, data text);
    INSERT INTO session VALUES ('s1', NULL, '/project', 'Writes', '{"id":"m"}', 1, 9), ('s2', 's1', '/project', 'Child', NULL, 2, 3);
    INSERT INTO message VALUES ('m1', 's1', 1, '{"role":"user"}'), ('m2', 's1', 2, '{"role":"assistant","modelID":"m"}');
    INSERT INTO part VALUES ('p1', 'm1', '{"type":"text","text":"write it"}'), ('p2', 'm2', '{"type":"reasoning","text":"hm"}'),
      ('p3', 'm2', '{"type":"tool","tool":"write","callID":"c1","state":{"status":"error","input":{"a":1},"error":"denied"}}'),
      ('p4', 'm2', '{"type":"text","text":"no"}');`);
  return db;
}

it('lists sessions and leaves out those of sub-agents', () => {
  expect(store().prepare(rule.list).all().map(rule.summary)).toEqual([
    { sessionId: 's1', agent: 'opencode', title: 'Writes', cwd: '/project', model: 'm', createdAt: 1, updatedAt: 9, turnCount: 1 },
  ]);
});

it('reads a session part by part', () => {
  expect(rule.messages(store().prepare(rule.read).all('s1'))).toEqual([
    { role: 'user', content: 'write it', timestamp: 1 },
    {
      role: 'assistant',
      content: 'no',
      timestamp: 2,
      thinking: 'hm',
      model: 'm',
      toolCalls: [{ toolCallId: 'c1', toolName: 'write', input: { a: 1 } }],
    },
    { role: 'tool', content: 'denied', timestamp: 2, toolResult: { toolCallId: 'c1', output: 'denied', isError: true } },
  ]);
});

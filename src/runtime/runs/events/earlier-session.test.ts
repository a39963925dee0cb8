import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { findAdapter } from '../../../adapters/index.ts';
import { earlierSession, sessionEvents } from './earlier-session.ts';

const START = { type: 'session_start', runId: 'run_1', agent: 'claude', timestamp: 1, sessionId: 's1' } as const;

it('tells of a session that goes on how many turns it had, by the store of the agent', async () => {
  const home = mkdtempSync(join(tmpdir(), 'abp-earlier-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const folder = join(home, '.claude', 'projects', '-work');
  mkdirSync(folder, { recursive: true });
  const at = { sessionId: 's1', cwd: '/work', timestamp: '2026-01-01T00:00:00Z', isSidechain: false };
  const line = (uuid: string, parentUuid: string | null, type: string): string =>
    JSON.stringify({ ...at, uuid, parentUuid, type, message: { role: type, id: uuid, content: [{ type: 'text', text: uuid }] } });
  const lines = [line('a', null, 'user'), line('b', 'a', 'assistant'), line('c', 'b', 'user'), line('d', 'c', 'assistant')];
  writeFileSync(join(folder, 's1.jsonl'), lines.join('\n'));
  const adapter = findAdapter('claude');
  if (adapter === undefined) throw new Error('no adapter');
  const earlier = await earlierSession(adapter, { agent: 'claude', prompt: 'x', sessionId: 's1' }, { HOME: home });
  expect(earlier).toEqual({ turns: 2 });
  expect(sessionEvents({ ...START, resumed: true }, earlier)).toEqual([{ type: 'session_resume', sessionId: 's1', priorTurnCount: 2 }]);
  const unknown = await earlierSession(adapter, { agent: 'claude', prompt: 'x', sessionId: 's2' }, { HOME: home });
  expect(sessionEvents({ ...START, resumed: true }, unknown)).toMatchObject([{ type: 'debug', level: 'info' }]);
});

it('tells of a session that branches off another, and nothing of a new one', () => {
  const nothing = { turns: undefined };
  expect(sessionEvents({ ...START, resumed: false, forkedFrom: 's0' }, nothing)).toEqual([
    { type: 'session_fork', sessionId: 's1', forkedFrom: 's0' },
  ]);
  expect(sessionEvents({ ...START, resumed: false }, nothing)).toEqual([]);
});

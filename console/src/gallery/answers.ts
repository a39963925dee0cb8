import type { Head } from '../api/queries.ts';
import type { Budgets, Engines, Health, Keys, Readiness, RunRowList, Session } from '../api/types.ts';

const SESSION: Session = {
  principal: 'console',
  scopes: ['read', 'answer', 'run', 'settings', 'agents'],
  expires_at: '2026-12-18T20:30:00.000Z',
  user: null,
  sign_in: null,
  recording: { keeps: 'full', used_bytes: 412_000_000, max_bytes: 2_147_483_648 },
  web_push: false,
};
const READY: Readiness = { status: 'ready', database: 'ok', journal: 'ok', chain: 'ok' };
const HEALTH: Health = { version: '0.1.0' };
const HEAD: Head = { sequence: 48_256, hash: '21d6c86c'.repeat(8), at: new Date().toISOString(), key_id: 'key_37103758a9eb2624' };
const NOTHING: { readonly items: never[]; readonly total: number } = { items: [], total: 0 };
const KEYS: Pick<Keys, 'items'> = { items: [] };
const ENGINES: Pick<Engines, 'items'> = { items: [] };
const BUDGETS: Pick<Budgets, 'items'> = { items: [] };
const RUNS: Pick<RunRowList, 'items'> = { items: [] };

/** What every component is told, unless its state says otherwise: a server that is well, and a reader who may do everything. */
export const ANSWERS: readonly (readonly [readonly unknown[], unknown])[] = [
  [['session'], SESSION],
  [['ready'], READY],
  [['health'], HEALTH],
  [['head'], HEAD],
  [['interactions', 'open'], NOTHING],
  [['interactions', 'answered'], NOTHING],
  [['keys'], KEYS],
  [['engines'], ENGINES],
  [['budgets'], BUDGETS],
  [['users'], NOTHING],
  [['palette', 'b41'], RUNS],
  [['agent-names'], new Map([['agent_1', 'release-clerk']])],
];

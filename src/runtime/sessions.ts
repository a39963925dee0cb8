import { glob, readFile, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import type { Adapter, SessionFile, SessionMessage, SessionRule, SessionSummary } from '../adapters/adapter.ts';
import { AgentMuxError } from '../contract/runs/run-error.ts';

type Environment = Readonly<Record<string, string | undefined>>;
type FileRule = Extract<SessionRule, { kind: 'files' }>;
type DatabaseRule = Extract<SessionRule, { kind: 'sqlite' }>;

const DEFAULT_LIMIT = 50;

export interface SessionFilter {
  /** Only sessions that were begun in this folder. */
  readonly cwd?: string | undefined;
  /** Changed at this time or later, in milliseconds since the epoch. */
  readonly since?: number | undefined;
  readonly limit?: number | undefined;
}

export interface Session extends SessionSummary {
  readonly messages: readonly SessionMessage[];
}

/** Sessions as each agent's own store has them. Stores are read and never written. */
export interface Sessions {
  /** Newest first. */
  list(adapter: Adapter, filter?: SessionFilter): Promise<readonly SessionSummary[]>;
  /** Throws SESSION_NOT_FOUND. */
  get(adapter: Adapter, sessionId: string): Promise<Session>;
}

export function createSessions(env: Environment = process.env): Sessions {
  return {
    async list({ sessions }, filter = {}) {
      const limit = filter.limit ?? DEFAULT_LIMIT;
      const found: SessionSummary[] = [];
      for await (const { summary } of summaries(sessions, env)) {
        if (filter.since !== undefined && summary.updatedAt < filter.since) continue;
        if (filter.cwd !== undefined && summary.cwd !== filter.cwd) continue;
        found.push(summary);
        if (found.length >= limit) break;
      }
      return found.toSorted((a, b) => b.updatedAt - a.updatedAt);
    },
    async get({ agent, sessions }, sessionId) {
      for await (const { summary, messages } of summaries(sessions, env)) {
        if (summary.sessionId === sessionId) return { ...summary, messages: await messages() };
      }
      throw new AgentMuxError('SESSION_NOT_FOUND', `${agent} has no session ${sessionId}.`, { agent, session_id: sessionId });
    },
  };
}

interface Found {
  readonly summary: SessionSummary;
  messages(): Promise<readonly SessionMessage[]>;
}

function summaries(rule: SessionRule, env: Environment): AsyncIterable<Found> | Iterable<Found> {
  if (rule.kind === 'files') return inFiles(rule, env);
  return rule.kind === 'sqlite' ? inDatabase(rule, env) : [];
}

/** Newest file first, read one at a time: a store may hold years of sessions. */
async function* inFiles(rule: FileRule, env: Environment): AsyncGenerator<Found> {
  const moved = rule.folderVariable === undefined ? undefined : env[rule.folderVariable];
  const folder = moved !== undefined && moved !== '' ? moved : join(homeOf(env), rule.folder);
  const files = (await filesUnder(folder, rule.pattern)).toSorted((a, b) => b.modifiedAt - a.modifiedAt);
  for (const file of files) {
    const text = await readFile(join(folder, file.path), 'utf8').catch(() => undefined);
    const summary = text === undefined ? undefined : rule.summary(file, text);
    if (summary !== undefined && text !== undefined) yield { summary, messages: async () => rule.messages(text) };
  }
}

/** The files of a store; a folder that is not there holds none. */
async function filesUnder(folder: string, pattern: string): Promise<SessionFile[]> {
  const found: SessionFile[] = [];
  for await (const path of glob(pattern, { cwd: folder })) {
    const facts = await stat(join(folder, path)).catch(() => undefined);
    if (facts?.isFile() === true) found.push({ path, modifiedAt: Math.round(facts.mtimeMs) });
  }
  return found;
}

async function* inDatabase(rule: DatabaseRule, env: Environment): AsyncGenerator<Found> {
  const moved = rule.fileVariable === undefined ? undefined : env[rule.fileVariable];
  const named = moved !== undefined && moved !== '' ? moved : rule.file;
  const file = isAbsolute(named) ? named : join(homeOf(env), named);
  if ((await stat(file).catch(() => undefined)) === undefined) return;
  const { DatabaseSync } = await import('../base/builtin/sqlite.ts');
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    for (const row of database.prepare(rule.list).all()) {
      const summary = rule.summary(row);
      if (summary === undefined) continue;
      yield { summary, messages: async () => rule.messages(database.prepare(rule.read).all(summary.sessionId)) };
    }
  } finally {
    database.close();
  }
}

function homeOf(env: Environment): string {
  return env.HOME ?? env.USERPROFILE ?? homedir();
}

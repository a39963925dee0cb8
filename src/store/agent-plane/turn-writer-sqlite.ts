import type { StatementSync } from 'node:sqlite';
import { GroupCommit } from '../databases/group-commit.ts';
import type { SqliteStore } from '../store.ts';
import { storedObject } from '../text.ts';
import type { Appended, DraftEvent, MessageAppend, StepOutcome, TurnStep } from './turn-step.ts';
import { isEnded } from './turns.ts';
import { visibleTo } from './visible.ts';

/** The statements of a turn, prepared once. */
class TurnStatements {
  readonly #prepare: (sql: string) => StatementSync;
  readonly #inserts = new Map<number, StatementSync>();
  readonly append: StatementSync;
  readonly newTurn: StatementSync;
  readonly session: StatementSync;
  readonly turn: StatementSync;
  readonly owner: StatementSync;

  constructor(prepare: (sql: string) => StatementSync) {
    this.#prepare = prepare;
    this.append = prepare(
      `update sessions set sequence = sequence + case when turn_id is null then ? else 1 end,
         status = case when turn_id is null then 'active' else status end, turn_id = coalesce(turn_id, ?), updated_at = ?
       where id = ? and (? or key_id is ?) and exists (select 1 from agents where agents.id = sessions.agent_id and agents.status = 'active')
       returning sequence, turn_id, agent_id, key_id, document, cost_nano_usd,
         (select revision from agents where agents.id = sessions.agent_id) as revision`,
    );
    this.newTurn = prepare(
      `insert into turns (id, session_id, status, epoch, owner, checkpoint, sequence, created_at, updated_at, ended_at)
       values (?, ?, ?, ?, ?, ?, ?, ?, ?, null)`,
    );
    this.session = prepare(
      `update sessions set sequence = ?, status = ?, turn_id = ?, input_tokens = input_tokens + ?, output_tokens = output_tokens + ?,
         cost_nano_usd = cost_nano_usd + ?, updated_at = ?
       where id = ? and sequence = ? and exists (select 1 from turns where turns.id = ? and turns.epoch = ?)`,
    );
    this.turn = prepare('update turns set status = ?, owner = ?, checkpoint = ?, sequence = ?, updated_at = ?, ended_at = ? where id = ?');
    this.owner = prepare('select 1 from turns where id = ? and epoch = ?');
  }

  /** All events in one statement: as many statements as there are lengths of steps, which are few. */
  insert(events: readonly DraftEvent[], place: { sessionId: string; turnId: string; last: number; at: number }): void {
    if (events.length === 0) return;
    const statement = this.#inserts.get(events.length) ?? this.#prepareInsert(events.length);
    const first = place.last - events.length + 1;
    statement.run(
      ...events.flatMap(({ type, data }, index) => [place.sessionId, first + index, type, place.turnId, place.at, JSON.stringify(data)]),
    );
  }

  #prepareInsert(count: number): StatementSync {
    const rows = Array.from({ length: count }, () => '(?, ?, ?, ?, ?, ?)').join(', ');
    const statement = this.#prepare(`insert into session_events (session_id, sequence, type, turn_id, at, data) values ${rows}`);
    this.#inserts.set(count, statement);
    return statement;
  }
}

interface TurnWriter {
  readonly commits: GroupCommit;
  readonly statements: TurnStatements;
}

const writers = new WeakMap<SqliteStore, TurnWriter>();

function writerOf(store: SqliteStore): TurnWriter {
  const known = writers.get(store);
  if (known !== undefined) return known;
  const made = { commits: new GroupCommit(store), statements: new TurnStatements((sql) => store.sqlite.prepare(sql)) };
  writers.set(store, made);
  return made;
}

export async function appendOnSqlite(store: SqliteStore, append: MessageAppend): Promise<Appended | undefined> {
  const { commits, statements } = writerOf(store);
  return await commits.write(() => appended(statements, append));
}

function appended(statements: TurnStatements, append: MessageAppend): Appended | undefined {
  const { sessionId, visible, message, opening, turn, at } = append;
  const { all, key } = visibleTo(visible);
  const events = [message, ...opening];
  const row = statements.append.get(events.length, turn.id, at, sessionId, all ? 1 : 0, key);
  if (row === undefined) return undefined;
  const sequence = Number(row.sequence);
  const turnId = String(row.turn_id);
  const began = turnId === turn.id;
  if (began) {
    const { id, owner, checkpoint } = turn;
    const status = owner === null ? 'queued' : 'running';
    statements.newTurn.run(id, sessionId, status, owner === null ? 0 : 1, owner, JSON.stringify(checkpoint), sequence, at, at);
  }
  statements.insert(began ? events : [message], { sessionId, turnId, last: sequence, at });
  return {
    sequence,
    turnId,
    began,
    owned: began && turn.owner !== null,
    agentId: String(row.agent_id),
    agentRevision: Number(row.revision),
    keyId: row.key_id === null ? null : String(row.key_id),
    document: storedObject('document of a session', String(row.document)),
    costNanoUsd: Number(row.cost_nano_usd),
  };
}

export async function commitOnSqlite(store: SqliteStore, step: TurnStep): Promise<StepOutcome> {
  const { commits, statements } = writerOf(store);
  return await commits.write(() => committed(statements, step));
}

/** Both checks are made by the first statement, so that a step that may not be written writes nothing. */
function committed(statements: TurnStatements, step: TurnStep): StepOutcome {
  const { turnId, sessionId, epoch, expected, at, spent } = step;
  const last = expected + step.events.length;
  const ended = isEnded(step.status);
  const { inputTokens, outputTokens, costNanoUsd } = spent;
  const session = statements.session.run(
    ...[last, step.sessionStatus, ended ? null : turnId, inputTokens, outputTokens, costNanoUsd, at, sessionId, expected, turnId, epoch],
  );
  if (session.changes === 0) return statements.owner.get(turnId, epoch) === undefined ? 'fenced' : 'behind';
  statements.turn.run(step.status, step.owner, JSON.stringify(step.checkpoint), last, at, ended ? at : null, turnId);
  statements.insert(step.events, { sessionId, turnId, last, at });
  return 'committed';
}

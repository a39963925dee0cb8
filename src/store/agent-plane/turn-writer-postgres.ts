import { CompiledQuery } from 'kysely';
import { EVENTS_CHANNEL, TURNS_CHANNEL } from '../databases/notices.ts';
import type { PostgresStore } from '../store.ts';
import { storedObject } from '../text.ts';
import type { Appended, DraftEvent, MessageAppend, StepOutcome, TurnStep } from './turn-step.ts';
import { isEnded } from './turns.ts';
import { visibleTo } from './visible.ts';

/** Each write is one statement, hence one transaction and one round trip. Listening workers hear of it when it commits. */
const APPEND = `
with s as (
  update sessions set sequence = sequence + case when turn_id is null then cardinality($3::text[]) else 1 end,
    status = case when turn_id is null then 'active' else status end, turn_id = coalesce(turn_id, $2), updated_at = $5
  where id = $1 and ($6::boolean or key_id is not distinct from $7)
    and exists (select 1 from agents where agents.id = sessions.agent_id and agents.status = 'active')
  returning sequence, turn_id, agent_id, key_id, document, cost_nano_usd, turn_id = $2 as began,
    (select revision from agents where agents.id = sessions.agent_id) as revision
), t as (
  insert into turns (id, session_id, status, epoch, owner, checkpoint, sequence, created_at, updated_at, ended_at)
  select $2, $1, case when $8::text is null then 'queued' else 'running' end, case when $8::text is null then 0 else 1 end, $8, $9,
    s.sequence, $5, $5, null from s where s.began
), e as (
  insert into session_events (session_id, sequence, type, turn_id, at, data)
  select $1, s.sequence - case when s.began then cardinality($3::text[]) else 1 end + event.place, event.type, s.turn_id, $5, event.data
  from s, unnest($3::text[], $4::text[]) with ordinality as event (type, data, place) where s.began or event.place = 1
)
select s.*, pg_notify('${EVENTS_CHANNEL}', $10::text || ' ' || $1 || ' ' || s.sequence) as told,
  case when s.began and $8::text is null then pg_notify('${TURNS_CHANNEL}', $2) end as rung
from s`;

interface AppendedRow {
  readonly sequence: number;
  readonly turn_id: string;
  readonly began: boolean;
  readonly agent_id: string;
  readonly key_id: string | null;
  readonly document: string;
  readonly cost_nano_usd: number;
  readonly revision: number;
}

/** Types and data side by side, as the statements unnest them. */
function arrays(events: readonly DraftEvent[]): [types: string[], data: string[]] {
  return [events.map(({ type }) => type), events.map(({ data }) => JSON.stringify(data))];
}

export async function appendOnPostgres(store: PostgresStore, append: MessageAppend): Promise<Appended | undefined> {
  const { sessionId, visible, message, opening, turn, at, origin } = append;
  const { all, key } = visibleTo(visible);
  const { rows } = await store.db.executeQuery<AppendedRow>(
    CompiledQuery.raw(APPEND, [
      ...[sessionId, turn.id, ...arrays([message, ...opening]), at, all, key],
      ...[turn.owner, JSON.stringify(turn.checkpoint), origin],
    ]),
  );
  const [row] = rows;
  if (row === undefined) return undefined;
  return {
    sequence: row.sequence,
    turnId: row.turn_id,
    began: row.began,
    owned: row.began && turn.owner !== null,
    agentId: row.agent_id,
    agentRevision: row.revision,
    keyId: row.key_id,
    document: storedObject('document of a session', row.document),
    costNanoUsd: row.cost_nano_usd,
  };
}

/** The turn is locked and checked before anything is written; where a check fails, no part of the statement finds a row. */
const COMMIT = `
with held as materialized (
  select id from turns where id = $1 and epoch = $2 for update
), s as (
  update sessions set sequence = sequence + cardinality($5::text[]), status = $7, turn_id = $8, input_tokens = input_tokens + $9::bigint,
    output_tokens = output_tokens + $10::bigint, cost_nano_usd = cost_nano_usd + $11::bigint, updated_at = $12
  from held where sessions.id = $3 and sessions.sequence = $4
  returning sessions.sequence
), t as (
  update turns set status = $13, owner = $14, checkpoint = $15, sequence = s.sequence, updated_at = $12, ended_at = $16::bigint
  from s where turns.id = $1
), e as (
  insert into session_events (session_id, sequence, type, turn_id, at, data)
  select $3, $4 + event.place, event.type, $1, $12, event.data
  from s, unnest($5::text[], $6::text[]) with ordinality as event (type, data, place)
)
select (select count(*) from held) as held, s.sequence,
  case when s.sequence is not null then pg_notify('${EVENTS_CHANNEL}', $17::text || ' ' || $3 || ' ' || s.sequence) end as told
from (select 1) as one left join s on true`;

export async function commitOnPostgres(store: PostgresStore, step: TurnStep): Promise<StepOutcome> {
  const ended = isEnded(step.status);
  const { inputTokens, outputTokens, costNanoUsd } = step.spent;
  const { rows } = await store.db.executeQuery<{ held: number; sequence: number | null }>(
    CompiledQuery.raw(COMMIT, [
      ...[step.turnId, step.epoch, step.sessionId, step.expected, ...arrays(step.events), step.sessionStatus],
      ...[ended ? null : step.turnId, inputTokens, outputTokens, costNanoUsd, step.at, step.status, step.owner],
      ...[JSON.stringify(step.checkpoint), ended ? step.at : null, step.origin],
    ]),
  );
  const [row] = rows;
  if (row === undefined || row.held === 0) return 'fenced';
  return row.sequence === null ? 'behind' : 'committed';
}

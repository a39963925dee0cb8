import { parseShallow } from '../../base/json-limits.ts';
import type { SessionMessage, SessionRule, SessionSummary } from '../adapter.ts';
import { listAt, objectAt, textAt } from '../families/lines/fields.ts';

type Row = Readonly<Record<string, unknown>>;

/** The database of the agent holds the chats of all its platforms; these are the ones of a terminal or an editor. Times are in seconds. */
export const sessions: SessionRule = {
  kind: 'sqlite',
  file: '.hermes/state.db',
  list: `SELECT s.id, s.title, s.model, s.started_at, coalesce(s.cwd, json_extract(s.model_config, '$.cwd')) AS cwd,
    (SELECT max(m.timestamp) FROM messages m WHERE m.session_id = s.id) AS updated_at,
    (SELECT count(*) FROM messages m WHERE m.session_id = s.id AND m.role = 'assistant') AS turns
    FROM sessions s WHERE s.source IN ('acp', 'cli') AND s.parent_session_id IS NULL ORDER BY s.started_at DESC`,
  read: `SELECT role, content, tool_call_id, tool_calls, tool_name, timestamp, coalesce(reasoning_content, reasoning) AS thinking
    FROM messages WHERE session_id = ? AND active = 1 ORDER BY id`,
  summary,
  messages: (rows) => rows.flatMap(messageOf),
};

function summary(row: Row): SessionSummary | undefined {
  if (typeof row.id !== 'string') return undefined;
  const createdAt = milliseconds(row.started_at);
  return {
    sessionId: row.id,
    agent: 'hermes',
    createdAt,
    updatedAt: typeof row.updated_at === 'number' ? milliseconds(row.updated_at) : createdAt,
    turnCount: Number(row.turns),
    ...(typeof row.title === 'string' && { title: row.title }),
    ...(typeof row.cwd === 'string' && { cwd: row.cwd }),
    ...(typeof row.model === 'string' && { model: row.model }),
  };
}

function milliseconds(seconds: unknown): number {
  return Math.round(Number(seconds) * 1000);
}

const ROLES = ['user', 'assistant', 'system', 'tool'] as const;

function messageOf(row: Row): readonly SessionMessage[] {
  const role = ROLES.find((known) => known === row.role);
  if (role === undefined) return [];
  const content = typeof row.content === 'string' ? row.content : '';
  const toolCalls = callsIn(row.tool_calls);
  return [
    {
      role,
      content,
      timestamp: milliseconds(row.timestamp),
      ...(typeof row.thinking === 'string' && row.thinking !== '' && { thinking: row.thinking }),
      ...(toolCalls.length > 0 && { toolCalls }),
      ...(role === 'tool' && { toolResult: { toolCallId: String(row.tool_call_id ?? ''), output: content, isError: isError(content) } }),
    },
  ];
}

/** The calls are stored as the chat dialect has them: arguments are JSON in a text. */
function callsIn(stored: unknown): NonNullable<SessionMessage['toolCalls']> {
  const parsed = typeof stored === 'string' ? parseShallow(stored) : undefined;
  if (parsed?.ok !== true) return [];
  return listAt(parsed.value).map((call) => {
    const { id, function: named } = objectAt(call);
    const { name, arguments: text } = objectAt(named);
    const input = parseShallow(textAt(text) ?? '');
    return { toolCallId: textAt(id) ?? '', toolName: textAt(name) ?? '', input: input.ok ? input.value : (text ?? {}) };
  });
}

/** A tool that failed answers with an object that has an `error`. */
function isError(content: string): boolean {
  const parsed = parseShallow(content);
  if (!parsed.ok) return false;
  const { error } = objectAt(parsed.value);
  return error !== undefined && error !== null;
}

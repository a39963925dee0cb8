import type { JsonObject } from '../../base/json.ts';
import { parseShallowObject } from '../../base/json-limits.ts';
import type { SessionMessage, SessionRule, SessionSummary } from '../adapter.ts';
import { objectAt, textAt } from '../families/lines/fields.ts';

type Row = Readonly<Record<string, unknown>>;

/** One database for all projects; a session of a sub-agent has a parent and is not listed. */
export const sessions: SessionRule = {
  kind: 'sqlite',
  file: '.local/share/opencode/opencode.db',
  list: `SELECT s.id, s.title, s.directory, s.model, s.time_created, s.time_updated,
    (SELECT count(*) FROM message m WHERE m.session_id = s.id AND json_extract(m.data, '$.role') = 'assistant') AS turns
    FROM session s WHERE s.parent_id IS NULL ORDER BY s.time_updated DESC`,
  read: `SELECT m.id AS message_id, m.data AS message, m.time_created AS at, p.data AS part
    FROM message m LEFT JOIN part p ON p.message_id = m.id WHERE m.session_id = ? ORDER BY m.time_created, m.id, p.id`,
  summary,
  messages: (rows) => grouped(rows).flatMap(messagesOf),
};

function summary(row: Row): SessionSummary | undefined {
  if (typeof row.id !== 'string') return undefined;
  const model = textAt(objectOf(row.model).id);
  return {
    sessionId: row.id,
    agent: 'opencode',
    updatedAt: Number(row.time_updated),
    createdAt: Number(row.time_created),
    turnCount: Number(row.turns),
    ...(typeof row.title === 'string' && { title: row.title }),
    ...(typeof row.directory === 'string' && { cwd: row.directory }),
    ...(model !== undefined && { model }),
  };
}

interface Stored {
  readonly message: JsonObject;
  readonly at: number;
  readonly parts: JsonObject[];
}

/** A message has a row for each of its parts. */
function grouped(rows: readonly Row[]): readonly Stored[] {
  const byId = new Map<unknown, Stored>();
  for (const row of rows) {
    const stored = byId.get(row.message_id) ?? { message: objectOf(row.message), at: Number(row.at), parts: [] };
    byId.set(row.message_id, stored);
    if (typeof row.part === 'string') stored.parts.push(objectOf(row.part));
  }
  return [...byId.values()];
}

function objectOf(text: unknown): JsonObject {
  return typeof text === 'string' ? (parseShallowObject(text) ?? {}) : {};
}

/** A message, and a message for the result of each of its tools. */
function messagesOf({ message, at, parts }: Stored): readonly SessionMessage[] {
  const content = textsOf(parts, 'text');
  if (message.role !== 'assistant') return [{ role: 'user', content, timestamp: at }];
  const tools = parts.filter(({ type }) => type === 'tool');
  const thinking = textsOf(parts, 'reasoning');
  const model = textAt(message.modelID);
  const answer: SessionMessage = {
    role: 'assistant',
    content,
    timestamp: at,
    ...(thinking !== '' && { thinking }),
    ...(model !== undefined && { model }),
    ...(tools.length > 0 && { toolCalls: tools.map(callOf) }),
  };
  return [answer, ...tools.map((tool): SessionMessage => resultOf(tool, at))];
}

function textsOf(parts: readonly JsonObject[], type: string): string {
  return parts.flatMap((part) => (part.type === type ? (textAt(part.text) ?? []) : [])).join('\n');
}

function callOf(tool: JsonObject): { readonly toolCallId: string; readonly toolName: string; readonly input: unknown } {
  return { toolCallId: textAt(tool.callID) ?? '', toolName: textAt(tool.tool) ?? '', input: objectAt(tool.state).input ?? {} };
}

function resultOf(tool: JsonObject, timestamp: number): SessionMessage {
  const state = objectAt(tool.state);
  const isError = state.status === 'error';
  const output = textAt(isError ? state.error : state.output) ?? '';
  return { role: 'tool', content: output, timestamp, toolResult: { toolCallId: textAt(tool.callID) ?? '', output, isError } };
}

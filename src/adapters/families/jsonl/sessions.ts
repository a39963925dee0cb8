import type { JsonObject } from '../../../base/json.ts';
import { parseShallowObject } from '../../../base/json-limits.ts';
import type { BuiltInAgentName } from '../../../contract/runs/coding-agent.ts';
import type { SessionFile, SessionMessage, SessionRule, SessionSummary } from '../../adapter.ts';
import { textAt } from '../lines/fields.ts';

/** Facts that an agent writes into a session file beside its messages. */
interface SessionFacts {
  /** Undefined: the file is no session of this agent. */
  readonly sessionId: string | undefined;
  readonly title?: string | undefined;
  readonly cwd?: string | undefined;
  readonly model?: string | undefined;
  readonly createdAt?: number | undefined;
}

/** How one agent keeps its sessions: a JSONL file each. */
export interface SessionStore {
  readonly agent: BuiltInAgentName;
  readonly folder: string;
  readonly folderVariable?: string;
  readonly pattern: string;
  facts(entries: readonly JsonObject[], file: SessionFile): SessionFacts;
  messages(entries: readonly JsonObject[]): readonly SessionMessage[];
}

const LONGEST_TITLE = 80;

/** Sessions in JSONL files. A line that was cut off while it was written is left out. */
export function jsonlSessions(store: SessionStore): SessionRule {
  const { agent, folder, folderVariable, pattern } = store;
  return {
    kind: 'files',
    folder,
    ...(folderVariable !== undefined && { folderVariable }),
    pattern,
    summary: (file, text) => {
      const entries = entriesOf(text);
      return summaryOf(agent, file, store.facts(entries, file), store.messages(entries));
    },
    messages: (text) => store.messages(entriesOf(text)),
  };
}

function entriesOf(text: string): readonly JsonObject[] {
  return text
    .split('\n')
    .map(parseShallowObject)
    .filter((entry) => entry !== undefined);
}

function summaryOf(
  agent: BuiltInAgentName,
  file: SessionFile,
  facts: SessionFacts,
  messages: readonly SessionMessage[],
): SessionSummary | undefined {
  if (facts.sessionId === undefined) return undefined;
  const title = facts.title ?? messages.find(({ role }) => role === 'user')?.content.slice(0, LONGEST_TITLE);
  const model = facts.model ?? messages.findLast((message) => message.model !== undefined)?.model;
  return {
    sessionId: facts.sessionId,
    agent,
    updatedAt: file.modifiedAt,
    turnCount: messages.filter(({ role }) => role === 'assistant').length,
    ...(title !== undefined && title !== '' && { title }),
    ...(facts.cwd !== undefined && { cwd: facts.cwd }),
    ...(model !== undefined && { model }),
    ...(facts.createdAt !== undefined && { createdAt: facts.createdAt }),
  };
}

/** A time in milliseconds; undefined when the member is no time. */
export function timeAt(value: JsonObject[string] | undefined): number | undefined {
  const time = typeof value === 'number' ? value : Date.parse(textAt(value) ?? '');
  return Number.isFinite(time) ? time : undefined;
}

/** A message, without the members that are not there. */
export function sessionMessage(
  message: {
    readonly [K in keyof SessionMessage]?: SessionMessage[K] | undefined;
  },
): SessionMessage {
  const { role = 'assistant', content = '' } = message;
  const { timestamp, thinking, model, toolCalls, toolResult } = message;
  return {
    role,
    content,
    ...(timestamp !== undefined && { timestamp }),
    ...(thinking !== undefined && thinking !== '' && { thinking }),
    ...(model !== undefined && { model }),
    ...(toolCalls !== undefined && toolCalls.length > 0 && { toolCalls }),
    ...(toolResult !== undefined && { toolResult }),
  };
}

/** Parts of one answer that a file keeps apart become one message again. */
export function joinedAnswers(messages: readonly SessionMessage[]): readonly SessionMessage[] {
  const joined: SessionMessage[] = [];
  for (const message of messages) {
    const last = joined.at(-1);
    if (last?.role === 'assistant' && message.role === 'assistant') joined.splice(-1, 1, join(last, message));
    else joined.push(message);
  }
  return joined;
}

function join(a: SessionMessage, b: SessionMessage): SessionMessage {
  const lines = (first = '', second = '') => [first, second].filter((text) => text !== '').join('\n\n');
  return sessionMessage({
    role: 'assistant',
    content: lines(a.content, b.content),
    timestamp: a.timestamp ?? b.timestamp,
    thinking: lines(a.thinking, b.thinking),
    model: b.model ?? a.model,
    toolCalls: [...(a.toolCalls ?? []), ...(b.toolCalls ?? [])],
  });
}

import type { JsonObject } from '../../../base/json.ts';
import { parseShallowObject } from '../../../base/json-limits.ts';
import type { BuiltInAgentName } from '../../../contract/runs/coding-agent.ts';
import type { SessionFile, SessionMessage, SessionRule, SessionSummary } from '../../adapter.ts';
import { listAt, numberAt, objectAt, textAt } from '../lines/fields.ts';
import { textOfContent } from '../tools/effects.ts';

/** Where an agent of the family keeps its sessions. */
export interface PiStore {
  readonly agent: BuiltInAgentName;
  readonly folder: string;
  readonly folderVariable?: string;
}

/** Sessions of the family: a JSONL file each, whose entries form a tree by their parents. */
export function piSessions({ agent, ...place }: PiStore): SessionRule {
  return {
    kind: 'files',
    ...place,
    pattern: '*/*.jsonl',
    summary: (file, text) => summaryOf(agent, file, entriesOf(text)),
    messages: (text) => branchOf(entriesOf(text)).flatMap(messagesOf),
  };
}

function entriesOf(text: string): readonly JsonObject[] {
  return text
    .split('\n')
    .map(parseShallowObject)
    .filter((entry) => entry !== undefined);
}

/** The way from the newest entry back to the first; entries of abandoned branches are left out. The oldest format has no parents. */
function branchOf(entries: readonly JsonObject[]): readonly JsonObject[] {
  const tree = entries.filter(({ id, type }) => typeof id === 'string' && type !== 'session');
  if (tree.length === 0) return entries;
  const byId = new Map(tree.map((entry) => [entry.id, entry]));
  const branch: JsonObject[] = [];
  for (let entry = tree.at(-1); entry !== undefined && branch.length < tree.length; entry = byId.get(entry.parentId ?? ''))
    branch.push(entry);
  return branch.reverse();
}

function summaryOf(agent: BuiltInAgentName, file: SessionFile, entries: readonly JsonObject[]): SessionSummary | undefined {
  const header = entries.find(({ type }) => type === 'session');
  const sessionId = textAt(header?.id);
  if (header === undefined || sessionId === undefined) return undefined;
  const messages = branchOf(entries).flatMap(messagesOf);
  const title = titleOf(entries, messages);
  const cwd = textAt(header.cwd);
  const model = messages.findLast((message) => message.model !== undefined)?.model;
  const createdAt = Date.parse(textAt(header.timestamp) ?? '');
  return {
    sessionId,
    agent,
    updatedAt: file.modifiedAt,
    turnCount: messages.filter(({ role }) => role === 'assistant').length,
    ...(title !== undefined && { title }),
    ...(cwd !== undefined && { cwd }),
    ...(model !== undefined && { model }),
    ...(!Number.isNaN(createdAt) && { createdAt }),
  };
}

const LONGEST_TITLE = 80;

/** The name a user or the agent gave the session, else the beginning of the first prompt. */
function titleOf(entries: readonly JsonObject[], messages: readonly SessionMessage[]): string | undefined {
  const named = entries.findLast(
    ({ type, name, title }) => (type === 'session_info' && name !== undefined) || (type === 'title' && title !== ''),
  );
  const given = textAt(named?.name) ?? textAt(named?.title);
  const first = messages.find(({ role }) => role === 'user')?.content.slice(0, LONGEST_TITLE);
  return given ?? first;
}

function messagesOf(entry: JsonObject): readonly SessionMessage[] {
  if (entry.type !== 'message') return [];
  const message = objectAt(entry.message);
  const timestamp = numberAt(message.timestamp);
  const at = timestamp === undefined ? {} : { timestamp };
  const content = textOfContent(message.content);
  switch (message.role) {
    case 'user':
      return [{ role: 'user', content, ...at }];
    case 'assistant':
      return [{ role: 'assistant', content, ...at, ...answerOf(message) }];
    case 'toolResult':
      return [{ role: 'tool', content, ...at, toolResult: resultOf(message, content) }];
    default:
      return [];
  }
}

function answerOf(message: JsonObject): Pick<SessionMessage, 'thinking' | 'model' | 'toolCalls'> {
  const blocks = listAt(message.content).map(objectAt);
  const thinking = blocks.flatMap(({ type, thinking: text }) => (type === 'thinking' ? (textAt(text) ?? []) : [])).join('\n');
  const calls = blocks.filter(({ type }) => type === 'toolCall');
  const toolCalls = calls.map(({ id, name, arguments: input }) => ({ toolCallId: textAt(id) ?? '', toolName: textAt(name) ?? '', input }));
  const model = textAt(message.model);
  return { ...(thinking !== '' && { thinking }), ...(model !== undefined && { model }), ...(toolCalls.length > 0 && { toolCalls }) };
}

function resultOf(message: JsonObject, output: string): NonNullable<SessionMessage['toolResult']> {
  return { toolCallId: textAt(message.toolCallId) ?? '', output, isError: message.isError === true };
}

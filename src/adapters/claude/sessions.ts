import type { JsonObject } from '../../base/json.ts';
import type { SessionMessage, SessionRule } from '../adapter.ts';
import { jsonlSessions, sessionMessage, timeAt } from '../families/jsonl/sessions.ts';
import { listAt, objectAt, textAt } from '../families/lines/fields.ts';
import { textOfContent } from '../families/tools/effects.ts';

/** Claude Code keeps a file for each session in a folder for each project. Entries point to the one before them. */
export const sessions: SessionRule = jsonlSessions({
  agent: 'claude',
  folder: '.claude',
  folderVariable: 'CLAUDE_CONFIG_DIR',
  pattern: 'projects/*/*.jsonl',
  facts: (entries) => {
    const first = entries.find(isMessage);
    return {
      sessionId: textAt(first?.sessionId),
      title: textAt(entries.findLast(({ type }) => type === 'summary' || type === 'custom-title')?.summary),
      cwd: textAt(first?.cwd),
      createdAt: timeAt(first?.timestamp),
    };
  },
  messages: (entries) => joined(branchOf(entries).filter(isMessage)).flatMap(messagesOf),
});

function isMessage({ type, isSidechain }: JsonObject): boolean {
  return (type === 'user' || type === 'assistant') && isSidechain !== true;
}

/** The way from the newest message back to the first. What a rewind left behind is on another branch. */
function branchOf(entries: readonly JsonObject[]): readonly JsonObject[] {
  const byId = new Map(entries.map((entry) => [entry.uuid, entry]));
  const branch: JsonObject[] = [];
  let entry = entries.findLast(isMessage);
  while (entry !== undefined && branch.length < entries.length) {
    branch.push(entry);
    entry = byId.get(entry.parentUuid ?? entry.logicalParentUuid ?? '');
  }
  return branch.reverse();
}

/** One answer is written as several entries, one for each block; they become one again. */
function joined(entries: readonly JsonObject[]): readonly JsonObject[] {
  const whole: JsonObject[] = [];
  for (const entry of entries) {
    const last = whole.at(-1);
    const message = objectAt(entry.message);
    const before = objectAt(last?.message);
    const same = last !== undefined && entry.type === 'assistant' && message.id !== undefined && message.id === before.id;
    if (same) whole.splice(-1, 1, { ...last, message: { ...before, content: [...listAt(before.content), ...listAt(message.content)] } });
    else whole.push(entry);
  }
  return whole;
}

function messagesOf(entry: JsonObject): readonly SessionMessage[] {
  const message = objectAt(entry.message);
  const timestamp = timeAt(entry.timestamp);
  const blocks = listAt(message.content).map(objectAt);
  const content = textOfContent(message.content);
  if (entry.type === 'assistant') {
    const thinking = blocks.map((block) => textAt(block.thinking) ?? '').join('');
    return [sessionMessage({ role: 'assistant', content, timestamp, thinking, model: textAt(message.model), toolCalls: callsIn(blocks) })];
  }
  const results = blocks.filter(({ type }) => type === 'tool_result');
  if (results.length === 0) return [sessionMessage({ role: 'user', content, timestamp })];
  return results.map((block) => {
    const output = textOfContent(block.content);
    const toolResult = { toolCallId: textAt(block.tool_use_id) ?? '', output, isError: block.is_error === true };
    return sessionMessage({ role: 'tool', content: output, timestamp, toolResult });
  });
}

function callsIn(blocks: readonly JsonObject[]): NonNullable<SessionMessage['toolCalls']> {
  return blocks
    .filter(({ type }) => type === 'tool_use')
    .map(({ id, name, input }) => ({ toolCallId: textAt(id) ?? '', toolName: textAt(name) ?? '', input }));
}

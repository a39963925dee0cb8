import { basename } from 'node:path';
import type { JsonObject } from '../../base/json.ts';
import type { SessionMessage, SessionRule } from '../adapter.ts';
import { joinedAnswers, jsonlSessions, sessionMessage } from '../families/jsonl/sessions.ts';
import { listAt, objectAt, textAt } from '../families/lines/fields.ts';
import { textOfContent } from '../families/tools/effects.ts';

/**
 * Cursor keeps its chats in databases whose content only it can read, and beside them a transcript of each: lines without times, in a
 * folder whose name is that of the project with the slashes lost.
 */
export const sessions: SessionRule = jsonlSessions({
  agent: 'cursor',
  folder: '.cursor',
  pattern: 'projects/*/agent-transcripts/{*,*/*}.jsonl',
  facts: (entries, { path }) => ({ sessionId: entries.some(isMessage) ? basename(path, '.jsonl') : undefined }),
  messages: (entries) => joinedAnswers(entries.filter(isMessage).flatMap(messagesOf)),
});

function isMessage({ role }: JsonObject): boolean {
  return role === 'user' || role === 'assistant';
}

function messagesOf(entry: JsonObject): readonly SessionMessage[] {
  const { content } = objectAt(entry.message);
  const blocks = listAt(content).map(objectAt);
  const results = blocks.filter(({ type }) => type === 'tool_result').map(resultOf);
  const text = textOfContent(content);
  if (entry.role === 'user') return text === '' ? results : [...results, sessionMessage({ role: 'user', content: asked(text) })];
  const thinking = blocks.map((block) => textAt(block.thinking) ?? '').join('');
  return [sessionMessage({ role: 'assistant', content: text, thinking, toolCalls: callsIn(blocks) }), ...results];
}

const OPENING = '<user_query>';
const CLOSING = '</user_query>';

/** Cursor wraps the user's words and puts its own in their name before them; this takes the user's out. */
function asked(text: string): string {
  const begin = text.indexOf(OPENING);
  const end = text.lastIndexOf(CLOSING);
  return (begin === -1 || end < begin ? text : text.slice(begin + OPENING.length, end)).trim();
}

function callsIn(blocks: readonly JsonObject[]): NonNullable<SessionMessage['toolCalls']> {
  return blocks
    .filter(({ type }) => type === 'tool_use')
    .map(({ id, name, input }) => ({ toolCallId: textAt(id) ?? '', toolName: textAt(name) ?? '', input }));
}

function resultOf(block: JsonObject): SessionMessage {
  const output = textOfContent(block.content);
  const toolResult = { toolCallId: textAt(block.tool_use_id) ?? '', output, isError: block.is_error === true };
  return sessionMessage({ role: 'tool', content: output, toolResult });
}

import type { JsonObject } from '../../base/json.ts';
import type { SessionMessage, SessionRule } from '../adapter.ts';
import { jsonlSessions, sessionMessage, timeAt } from '../families/jsonl/sessions.ts';
import { listAt, objectAt, textAt } from '../families/lines/fields.ts';
import { textOfContent } from '../families/tools/effects.ts';

/** Gemini CLI keeps a file for each session in a folder for each project. A file is a log of changes to a list of messages. */
export const sessions: SessionRule = jsonlSessions({
  agent: 'gemini',
  folder: '.gemini',
  pattern: 'tmp/*/chats/session-*.jsonl',
  facts: (entries) => {
    const header = entries.find(({ sessionId }) => sessionId !== undefined);
    return { sessionId: textAt(header?.sessionId), createdAt: timeAt(header?.startTime) };
  },
  messages: (entries) => listOf(entries).flatMap(messagesOf),
});

/** A whole list replaces the one before it; a message replaces the one with its id. */
function listOf(entries: readonly JsonObject[]): readonly JsonObject[] {
  const messages = new Map<string, JsonObject>();
  for (const entry of entries) {
    const whole = objectAt(entry.$set).messages;
    if (whole !== undefined) messages.clear();
    for (const message of whole === undefined ? [entry] : listAt(whole).map(objectAt)) {
      if (message.type !== undefined) messages.set(textAt(message.id) ?? '', message);
    }
  }
  return [...messages.values()];
}

/** Gemini CLI writes messages in the name of the user: context with a mark, and results of tools without text. We leave both out. */
const SURROUNDINGS = /^<session_context>|^$/;

function messagesOf(message: JsonObject): readonly SessionMessage[] {
  const timestamp = timeAt(message.timestamp);
  const content = textAt(message.content) ?? textOfContent(listAt(message.content).filter((part) => objectAt(part).thought !== true));
  if (message.type === 'user') return SURROUNDINGS.test(content) ? [] : [sessionMessage({ role: 'user', content, timestamp })];
  if (message.type !== 'gemini') return [];
  const thinking = listAt(message.thoughts)
    .map((thought) => textAt(objectAt(thought).description) ?? '')
    .join(' ');
  const calls = listAt(message.toolCalls).map(objectAt);
  const toolCalls = calls.map(({ id, name, args }) => ({ toolCallId: textAt(id) ?? '', toolName: textAt(name) ?? '', input: args }));
  return [
    sessionMessage({ content, timestamp, thinking, model: textAt(message.model), toolCalls }),
    ...calls.map((call) => resultOf(call, timestamp)),
  ];
}

function resultOf(call: JsonObject, timestamp: number | undefined): SessionMessage {
  const responses = listAt(call.result).map((part) => objectAt(objectAt(objectAt(part).functionResponse).response));
  const output = responses.map((response) => textAt(response.output) ?? textAt(response.error) ?? '').join('\n');
  const toolResult = { toolCallId: textAt(call.id) ?? '', output, isError: call.status !== 'success' };
  return sessionMessage({ role: 'tool', content: output, timestamp, toolResult });
}

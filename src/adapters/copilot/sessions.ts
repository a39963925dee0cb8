import type { JsonObject } from '../../base/json.ts';
import type { SessionMessage, SessionRule } from '../adapter.ts';
import { jsonlSessions, sessionMessage, timeAt } from '../families/jsonl/sessions.ts';
import { listAt, objectAt, textAt } from '../families/lines/fields.ts';

/** Copilot CLI keeps a folder for each session, with its events in one file. */
export const sessions: SessionRule = jsonlSessions({
  agent: 'copilot',
  folder: '.copilot',
  folderVariable: 'COPILOT_HOME',
  pattern: 'session-state/*/events.jsonl',
  facts: (entries) => {
    const start = objectAt(entries.find(({ type }) => type === 'session.start')?.data);
    return {
      sessionId: textAt(start.sessionId),
      title: textAt(objectAt(entries.findLast(({ type }) => type === 'session.title_changed')?.data).title),
      cwd: textAt(objectAt(start.context).cwd),
      createdAt: timeAt(start.startTime),
    };
  },
  messages: (entries) => entries.flatMap(messagesOf),
});

function messagesOf(entry: JsonObject): readonly SessionMessage[] {
  const data = objectAt(entry.data);
  const timestamp = timeAt(entry.timestamp);
  const content = textAt(data.content) ?? '';
  switch (entry.type) {
    case 'user.message':
      return [sessionMessage({ role: 'user', content, timestamp })];
    case 'assistant.message': {
      const requests = listAt(data.toolRequests).map(objectAt);
      const toolCalls = requests.map((call) => ({
        toolCallId: textAt(call.toolCallId) ?? '',
        toolName: textAt(call.name) ?? '',
        input: call.arguments,
      }));
      return [sessionMessage({ content, timestamp, thinking: textAt(data.reasoningText), model: textAt(data.model), toolCalls })];
    }
    case 'tool.execution_complete': {
      const isError = data.success !== true;
      const output = textAt(isError ? objectAt(data.error).message : objectAt(data.result).content) ?? '';
      const toolResult = { toolCallId: textAt(data.toolCallId) ?? '', output, isError };
      return [sessionMessage({ role: 'tool', content: output, timestamp, toolResult })];
    }
    default:
      return [];
  }
}

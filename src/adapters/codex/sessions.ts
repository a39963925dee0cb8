import type { JsonObject } from '../../base/json.ts';
import type { SessionMessage, SessionRule } from '../adapter.ts';
import { joinedAnswers, jsonlSessions, sessionMessage, timeAt } from '../families/jsonl/sessions.ts';
import { listAt, objectAt, textAt } from '../families/lines/fields.ts';
import { textOfContent } from '../families/tools/effects.ts';
import { endOf, writtenCall } from './written-call.ts';

/** Codex keeps a file for each session in a folder for each day; the model's items stand between entries of its own. */
export const sessions: SessionRule = jsonlSessions({
  agent: 'codex',
  folder: '.codex',
  folderVariable: 'CODEX_HOME',
  pattern: 'sessions/*/*/*/rollout-*.jsonl',
  facts: (entries) => {
    const meta = objectAt(entries.find(({ type }) => type === 'session_meta')?.payload);
    const context = objectAt(entries.findLast(({ type }) => type === 'turn_context')?.payload);
    return { sessionId: textAt(meta.id), cwd: textAt(meta.cwd), model: textAt(context.model), createdAt: timeAt(meta.timestamp) };
  },
  messages: (entries) => joinedAnswers(entries.filter(({ type }) => type === 'response_item').flatMap(messagesOf)),
});

/** Codex writes messages in the name of the user, too; it marks them up, so that we can leave them out. */
const SURROUNDINGS = /^<[a-z_]+>/;

function messagesOf({ payload, timestamp: time }: JsonObject): readonly SessionMessage[] {
  const item = objectAt(payload);
  const timestamp = timeAt(time);
  const call = writtenCall(item);
  const toolCallId = textAt(item.call_id) ?? '';
  if (call !== undefined) return [sessionMessage({ timestamp, toolCalls: [{ toolCallId, toolName: call.name, input: call.input }] })];
  if (item.output !== undefined) {
    const output = textAt(item.output) ?? textOfContent(item.output);
    const toolResult = { toolCallId, output, isError: endOf(output).failed };
    return [sessionMessage({ role: 'tool', content: output, timestamp, toolResult })];
  }
  if (item.type === 'reasoning') return [sessionMessage({ timestamp, thinking: listAt(item.summary).map(partText).join('\n\n') })];
  if (item.type !== 'message') return [];
  const content = listAt(item.content).map(partText).join('\n');
  if (item.role === 'assistant') return [sessionMessage({ content, timestamp })];
  return item.role === 'user' && !SURROUNDINGS.test(content) ? [sessionMessage({ role: 'user', content, timestamp })] : [];
}

function partText(part: JsonObject[string]): string {
  return textAt(objectAt(part).text) ?? '';
}

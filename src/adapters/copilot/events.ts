import { type Clock, systemClock } from '../../base/clock.ts';
import type { JsonObject } from '../../base/json.ts';
import type { Dialogue, SpawnPlan } from '../adapter.ts';
import { acpDialogue } from '../families/acp/dialogue.ts';
import { RunAccount } from '../families/jsonl/account.ts';
import { type LineHandlers, nothing, readLine } from '../families/jsonl/reader.ts';
import { objectAt, textAt } from '../families/lines/fields.ts';
import { CopilotReader } from './reader.ts';
import { speaksAcp } from './spawn.ts';
import { voiceOf } from './voice.ts';

/** Listens to Copilot CLI's lines; where somebody answers, the run is held over ACP. */
export function dialogue(plan: SpawnPlan, clock: Clock = systemClock): Dialogue {
  if (speaksAcp(plan)) return acpDialogue({ voice: voiceOf(plan) }, plan, clock);
  const run = new RunAccount(plan, voiceOf(plan), clock);
  const reader = new CopilotReader(run);
  return {
    begin: () => [],
    line: (line) => readLine(reader, HANDLERS, line),
    say: () => undefined,
    end: (exit) => run.close(exit),
  };
}

const HANDLERS: LineHandlers<CopilotReader> = {
  'assistant.turn_start': (reader) => reader.run.turnStarts(),
  'assistant.turn_end': (reader) => reader.run.turnEnds(),
  'assistant.message_delta': (reader, line) => reader.text(dataOf(line)),
  'assistant.reasoning_delta': (reader, line) => reader.thinking(dataOf(line)),
  'assistant.tool_call_delta': (reader, line) => reader.callPiece(dataOf(line)),
  'assistant.message': (reader, line) => reader.message(dataOf(line)),
  'assistant.reasoning': (reader, line) => reader.thought(dataOf(line)),
  'assistant.usage': (reader, line) => reader.used(dataOf(line)),
  'assistant.turn_retry': (reader, line) => reader.retries(dataOf(line)),
  'model.call_failure': (reader, line) => reader.callFailed(dataOf(line)),
  'tool.execution_start': (reader, line) => reader.callRuns(dataOf(line)),
  'tool.shell_output': (reader, line) => reader.callPrints(dataOf(line)),
  'tool.execution_complete': (reader, line) => reader.callEnds(dataOf(line)),
  'skill.invoked': (_, line) => [{ type: 'skill_invoked', skillName: textAt(dataOf(line).name) ?? '' }],
  'session.start': (reader, line) => reader.run.begun(textAt(dataOf(line).sessionId)),
  'session.resume': (reader, line) => reader.run.begun(textAt(dataOf(line).sessionId)),
  'session.error': (reader, line) => reader.failed(dataOf(line)),
  'session.warning': (_, line) => [{ type: 'debug', level: 'warn', message: textAt(dataOf(line).message) ?? '' }],
  'session.compaction_complete': (reader, line) => reader.compacted(dataOf(line)),
  abort: (reader) => reader.aborted(),
  result: (reader, line) => reader.result(line),
  'session.info': nothing,
  'session.skills_loaded': nothing,
  'session.mcp_servers_loaded': nothing,
  'session.mcp_server_status_changed': nothing,
  'session.mcp_server_tools_loaded': nothing,
  'session.tools_updated': nothing,
  'session.custom_agents_updated': nothing,
  'session.background_tasks_changed': nothing,
  'session.title_changed': nothing,
  'session.usage_info': nothing,
  'session.compaction_start': nothing,
  'session.idle': nothing,
  'session.shutdown': nothing,
  'user.message': nothing,
  'system.message': nothing,
  'assistant.message_start': nothing,
  'assistant.streaming_delta': nothing,
  'assistant.intent': nothing,
  'assistant.idle': nothing,
  'model.call_start': nothing,
  'model.call_finished': nothing,
  'model.call_final_result': nothing,
  'tool.execution_partial_result': nothing,
  'tool.execution_progress': nothing,
  'hook.start': nothing,
  'hook.end': nothing,
  'subagent.started': nothing,
  'subagent.completed': nothing,
  'subagent.failed': nothing,
  'subagent.selected': nothing,
  'permission.requested': nothing,
  'permission.completed': nothing,
};

function dataOf(line: JsonObject): JsonObject {
  return objectAt(line.data);
}

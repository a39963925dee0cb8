import { type Clock, systemClock } from '../../base/clock.ts';
import type { JsonObject } from '../../base/json.ts';
import type { Dialogue, EventDraft, SpawnPlan } from '../adapter.ts';
import { RunAccount } from '../families/jsonl/account.ts';
import { type LineHandlers, nothing, readLine } from '../families/jsonl/reader.ts';
import { countAt, listAt, numberAt, objectAt, textAt } from '../families/lines/fields.ts';
import { textOfContent } from '../families/tools/effects.ts';
import { Control, registerHook } from './control.ts';
import { userMessage } from './prompt.ts';
import { ClaudeReader } from './reader.ts';
import { VOICE } from './voice.ts';

/** Listens to Claude Code's lines and speaks its control protocol. */
export function dialogue(plan: SpawnPlan, clock: Clock = systemClock): Dialogue {
  const run = new RunAccount(plan, VOICE, clock);
  const watched = plan.watched === true;
  const reader = new ClaudeReader(run, plan.options.approvalMode === 'yolo' && !watched);
  const control = new Control(reader);
  const handlers = { ...HANDLERS, ...control.handlers };
  return {
    begin: () => (plan.interactive ? [] : [...(watched ? [registerHook()] : []), userMessage(plan)]),
    line: (line) => readLine(reader, handlers, line, typeOf),
    say: (command) => control.say(command),
    end: (exit) => run.close(exit),
  };
}

function typeOf(line: JsonObject): string | undefined {
  const type = textAt(line.type);
  return type === 'system' ? `system:${textAt(line.subtype)}` : type;
}

const HANDLERS: LineHandlers<ClaudeReader> = {
  'system:init': (reader, line) => [...reader.run.begun(textAt(line.session_id)), ...brokenServers(line)],
  'system:api_retry': (_, line) => retry(line),
  'system:permission_denied': (reader, line) => reader.denied(textAt(line.tool_use_id) ?? '', textAt(line.message) ?? ''),
  'system:compact_boundary': (_, line) => compacted(objectAt(line.compact_metadata)),
  stream_event: (reader, line) => (line.parent_tool_use_id ? [] : reader.streamed(objectAt(line.event))),
  assistant: (reader, line) => assistant(reader, line),
  user: (reader, line) => user(reader, line),
  result: (reader, line) => ({ events: result(reader, line), done: !reader.goesOn }),
  rate_limit_event: (_, line) => (objectAt(line.rate_limit_info).status === 'rejected' ? [{ type: 'rate_limited' }] : []),
  'system:status': nothing,
  'system:thinking_tokens': nothing,
  'system:task_started': nothing,
  'system:task_progress': nothing,
  'system:task_updated': nothing,
  'system:task_notification': nothing,
  'system:session_state_changed': nothing,
  'system:files_persisted': nothing,
  'system:hook_started': nothing,
  'system:hook_progress': nothing,
  'system:hook_response': nothing,
  tool_progress: nothing,
  tool_use_summary: nothing,
  prompt_suggestion: nothing,
  keep_alive: nothing,
};

function brokenServers(line: JsonObject): readonly EventDraft[] {
  return listAt(line.mcp_servers)
    .map(objectAt)
    .filter(({ status }) => status === 'failed')
    .map(({ name }) => ({
      type: 'error',
      code: 'INTERNAL',
      message: `the MCP server ${textAt(name) ?? ''} did not start`,
      recoverable: true,
    }));
}

function retry(line: JsonObject): readonly EventDraft[] {
  const status = countAt(line.error_status);
  const delayMs = numberAt(line.retry_delay_ms) ?? 0;
  const limited: readonly EventDraft[] = status === 429 || status === 529 ? [{ type: 'rate_limited', retryAfterMs: delayMs }] : [];
  const reason = [status, textAt(line.error)].filter((part) => part !== undefined).join(' ');
  return [...limited, { type: 'retry', attempt: countAt(line.attempt) ?? 1, maxAttempts: countAt(line.max_retries) ?? 1, reason, delayMs }];
}

function compacted(metadata: JsonObject): readonly EventDraft[] {
  const saved = (countAt(metadata.pre_tokens) ?? 0) - (countAt(metadata.post_tokens) ?? 0);
  return [{ type: 'context_compacted', summary: '', tokensSaved: Math.max(0, saved) }];
}

/** A failed model call is told as an answer of a model that does not exist; the last line says whether it was the end. */
function assistant(reader: ClaudeReader, line: JsonObject): readonly EventDraft[] {
  const message = objectAt(line.message);
  if (line.parent_tool_use_id) return reader.subagent(message);
  if (message.model !== '<synthetic>' || textAt(line.error) === undefined) return reader.answer(message);
  return [];
}

/** Results of tools, and our own messages when the model gets them. */
function user(reader: ClaudeReader, line: JsonObject): readonly EventDraft[] {
  if (line.isReplay === true) reader.replayed();
  return reader.results(objectAt(line.message), objectAt(line.tool_use_result));
}

function result(reader: ClaudeReader, line: JsonObject): readonly EventDraft[] {
  const closing = [...reader.run.turnEnds(), ...reader.totals(line), ...reader.denials(line.permission_denials)];
  reader.run.limit = undefined;
  if (line.subtype === 'error_max_turns') {
    reader.run.limit = 'turn_limit';
    return [...closing, { type: 'turn_limit', maxTurns: reader.run.turns }];
  }
  const { interrupted } = reader;
  reader.interrupted = false;
  if (interrupted && line.subtype === 'error_during_execution') {
    reader.run.limit = 'interrupted';
    return [...closing, { type: 'interrupted' }];
  }
  if (line.subtype === 'error_max_budget_usd') {
    reader.run.limit = 'budget';
    return closing;
  }
  reader.run.answered = true;
  reader.run.failure = undefined;
  if (line.is_error !== true && line.subtype === 'success') return [...structured(reader, line), ...closing];
  const status = countAt(line.api_error_status);
  reader.run.fail({ message: failureText(line), ...(status !== undefined && { status }) });
  return closing;
}

function failureText(line: JsonObject): string {
  const errors = listAt(line.errors).map((error) => textAt(error) ?? textOfContent([error]));
  return textAt(line.result) ?? (errors.join('; ') || `the agent ended with ${textAt(line.subtype) ?? 'an error'}`);
}

/** An answer in JSON mode is the input of a tool and no text; it is told as the text that was asked for. */
function structured(reader: ClaudeReader, line: JsonObject): readonly EventDraft[] {
  if (line.structured_output === undefined) return [];
  return [...reader.run.spoken.text(JSON.stringify(line.structured_output)), ...reader.run.spoken.endText()];
}

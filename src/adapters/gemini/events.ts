import { type Clock, systemClock } from '../../base/clock.ts';
import type { JsonObject } from '../../base/json.ts';
import type { Dialogue, EventDraft, SpawnPlan } from '../adapter.ts';
import { acpDialogue } from '../families/acp/dialogue.ts';
import { RunAccount } from '../families/jsonl/account.ts';
import { embeddedError } from '../families/jsonl/embedded-error.ts';
import { type LineHandlers, readLine } from '../families/jsonl/reader.ts';
import { countAt, objectAt, textAt } from '../families/lines/fields.ts';
import { speaksAcp } from './spawn.ts';
import { voiceOf } from './voice.ts';

/** Listens to Gemini CLI's lines; where somebody answers, the run is held over ACP. */
export function dialogue(plan: SpawnPlan, clock: Clock = systemClock): Dialogue {
  if (speaksAcp(plan)) return acpDialogue(acpKind(plan), plan, clock);
  const run = new RunAccount(plan, voiceOf(plan), clock);
  return {
    begin: () => [],
    line: (line) => readLine(run, HANDLERS, line),
    say: () => undefined,
    end: (exit) => run.close(exit),
  };
}

/**
 * MCP servers stand in the settings of the run, whichever way it is held. The agent is not asked to log in: it would write that into
 * the settings, and forget an earlier login of the user.
 */
function acpKind(plan: SpawnPlan) {
  return {
    voice: voiceOf(plan),
    // The id of a call begins with the name of its tool.
    toolName: (call: JsonObject) => /^(.+?)__/.exec(textAt(call.toolCallId) ?? '')?.[1],
  };
}

const NO_THOUGHTS: EventDraft = {
  type: 'stream_fallback',
  capability: 'thinking',
  reason: 'the agent prints no thoughts in this form of output',
};

const HANDLERS: LineHandlers<RunAccount> = {
  init: (run, line) => [...run.begun(textAt(line.session_id)), NO_THOUGHTS],
  message: (run, line) => (line.role === 'assistant' ? said(run, line) : []),
  tool_use: (run, line) => [
    ...run.inTurn(),
    ...run.spoken.end(),
    ...run.calls.run(textAt(line.tool_id) ?? '', textAt(line.tool_name) ?? '', line.parameters ?? {}),
  ],
  tool_result: (run, line) => returned(run, line),
  error: (_, line) => [erred(line)],
  result: (run, line) => result(run, line),
};

function said(run: RunAccount, line: JsonObject): readonly EventDraft[] {
  const pieces = [...run.inTurn(), ...run.spoken.text(textAt(line.content) ?? '')];
  return line.delta === true ? pieces : [...pieces, ...run.spoken.endText()];
}

/** The model is called again once a tool has returned; several that ran at once return one after the other. */
function returned(run: RunAccount, line: JsonObject): readonly EventDraft[] {
  const failed = line.status === 'error';
  const text = textAt(objectAt(line.error).message) ?? textAt(line.output) ?? '';
  // The result of a command is a success whatever it exited with, and the exit code is not told.
  const end = { failed, text, exitCode: null };
  return [...run.calls.end(textAt(line.tool_id) ?? '', '', end), ...run.turnEnds()];
}

function erred(line: JsonObject): EventDraft {
  const { message } = embeddedError(textAt(line.message) ?? '');
  if (line.severity === 'warning') return { type: 'debug', level: 'warn', message };
  return { type: 'error', code: 'INTERNAL', message, recoverable: true };
}

/** The counts of all calls come at the end. What is neither read nor answer was thought. */
function result(run: RunAccount, line: JsonObject): readonly EventDraft[] {
  run.answered = true;
  if (line.status !== 'success') run.fail(embeddedError(textAt(objectAt(line.error).message) ?? 'the agent failed'));
  const stats = objectAt(line.stats);
  const inputTokens = countAt(stats.input_tokens) ?? 0;
  const outputTokens = Math.max(countAt(stats.output_tokens) ?? 0, (countAt(stats.total_tokens) ?? 0) - inputTokens);
  if (inputTokens + outputTokens === 0) return run.turnEnds();
  const thinkingTokens = outputTokens - (countAt(stats.output_tokens) ?? 0);
  return [
    ...run.turnEnds(),
    ...run.spending.add({ inputTokens, outputTokens, thinkingTokens, cacheReadTokens: countAt(stats.cached) ?? 0 }),
  ];
}

import type { JsonObject } from '../../../base/json.ts';
import type { EventDraft } from '../../adapter.ts';
import type { RunAccount } from '../jsonl/account.ts';
import { type LineHandlers, nothing } from '../jsonl/reader.ts';
import { statusIn } from '../lines/failure.ts';
import { countAt, listAt, numberAt, objectAt, textAt } from '../lines/fields.ts';
import { textOfContent } from '../tools/effects.ts';
import { REFUSED } from './extension.ts';

/** One run of an agent of the family, with what stands open in the message that is being written. */
export interface PiRun {
  readonly account: RunAccount;
  /** Ids of calls by their place in the message, where the agent tells them. */
  readonly places: Map<number, string>;
  /** The message in hand has come in pieces. */
  streamed: boolean;
  /** The caller knows that inputs of calls come whole. */
  toldWholeCalls: boolean;
  /** A run of the agent begins with a prompt for a model; a command that it answers by itself begins none. */
  run: 'none' | 'begun' | 'ended';
}

function messageStarts(run: PiRun, message: JsonObject): readonly EventDraft[] {
  if (message.role === 'assistant') {
    run.places.clear();
    run.streamed = false;
  }
  return [];
}

/** One update of a message that is being written. */
function update(run: PiRun, event: JsonObject): readonly EventDraft[] {
  const { spoken, calls } = run.account;
  const delta = textAt(event.delta) ?? '';
  const place = countAt(event.contentIndex) ?? -1;
  switch (event.type) {
    case 'text_delta':
      run.streamed = true;
      return spoken.text(delta);
    case 'text_end':
      return spoken.endText();
    case 'thinking_delta':
      run.streamed = true;
      return spoken.thinking(delta);
    case 'thinking_end':
      return spoken.endThinking();
    case 'toolcall_start':
      return callStarts(run, event, place);
    case 'toolcall_delta':
      return calls.piece(run.places.get(place) ?? '', delta);
    case 'toolcall_end':
      return callReady(run, objectAt(event.toolCall));
    default:
      return [];
  }
}

// The newest version names the call; an older one shows the message so far; omp tells the id with the complete call only.
function callStarts(run: PiRun, event: JsonObject, place: number): readonly EventDraft[] {
  const block = objectAt(listAt(objectAt(event.partial).content)[place]);
  const toolCallId = textAt(event.id) ?? textAt(block.id);
  const toolName = textAt(event.toolName) ?? textAt(block.name);
  if (toolCallId === undefined || toolName === undefined) return [...run.account.spoken.end(), ...wholeCalls(run)];
  run.places.set(place, toolCallId);
  return [...run.account.spoken.end(), ...run.account.calls.start(toolCallId, toolName)];
}

function wholeCalls(run: PiRun): readonly EventDraft[] {
  if (run.toldWholeCalls) return [];
  run.toldWholeCalls = true;
  return [{ type: 'stream_fallback', capability: 'tool_calls', reason: 'the agent names a call when its input is complete' }];
}

function callReady(run: PiRun, call: JsonObject): readonly EventDraft[] {
  const toolCallId = textAt(call.id);
  return toolCallId === undefined ? [] : run.account.calls.ready(toolCallId, textAt(call.name) ?? '', call.arguments ?? {});
}

function messageEnds(run: PiRun, message: JsonObject): readonly EventDraft[] {
  if (message.role !== 'assistant') return [];
  const blocks = listAt(message.content).map(objectAt);
  return [
    ...(run.streamed ? [] : blocks.flatMap((block) => wholeBlock(run, block))),
    ...run.account.spoken.end(),
    ...blocks.filter(({ type }) => type === 'toolCall').flatMap((call) => callReady(run, call)),
    ...used(run, objectAt(message.usage)),
    ...stopped(run, message),
  ];
}

function wholeBlock({ account: { spoken } }: PiRun, block: JsonObject): readonly EventDraft[] {
  if (block.type === 'text') return [...spoken.text(textAt(block.text) ?? ''), ...spoken.endText()];
  return block.type === 'thinking' ? [...spoken.thinking(textAt(block.thinking) ?? ''), ...spoken.endThinking()] : [];
}

function used({ account }: PiRun, usage: JsonObject): readonly EventDraft[] {
  const inputTokens = countAt(usage.input) ?? 0;
  const outputTokens = countAt(usage.output) ?? 0;
  if (inputTokens === 0 && outputTokens === 0) return [];
  const thinkingTokens = countAt(usage.reasoning) ?? countAt(usage.reasoningTokens);
  const usd = numberAt(objectAt(usage.cost).total);
  return account.spending.add({
    inputTokens,
    outputTokens,
    cacheReadTokens: countAt(usage.cacheRead) ?? 0,
    cacheWriteTokens: countAt(usage.cacheWrite) ?? 0,
    ...(thinkingTokens !== undefined && { thinkingTokens }),
    ...(usd !== undefined && { usd }),
  });
}

/** A failed model call is told here only, and the process still exits with 0. It is the end unless a retry follows. */
function stopped({ account }: PiRun, message: JsonObject): readonly EventDraft[] {
  if (message.stopReason === 'error') account.fail({ message: textAt(message.errorMessage) ?? 'the model call failed' });
  else account.failure = undefined;
  return [];
}

/** The failed turn is done again, under the same number. */
function retries({ account }: PiRun, line: JsonObject): readonly EventDraft[] {
  account.failure = undefined;
  account.turns = Math.max(0, account.turns - 1);
  const reason = textAt(line.errorMessage) ?? '';
  const delayMs = numberAt(line.delayMs) ?? 0;
  const status = statusIn(reason);
  const limited: readonly EventDraft[] = status === 429 || status === 529 ? [{ type: 'rate_limited', retryAfterMs: delayMs }] : [];
  const attempt = countAt(line.attempt) ?? 1;
  return [...limited, { type: 'retry', attempt, maxAttempts: countAt(line.maxAttempts) ?? attempt, reason, delayMs }];
}

function retriesEnd({ account }: PiRun, line: JsonObject): readonly EventDraft[] {
  if (line.success === false) account.fail({ message: textAt(line.finalError) ?? 'the model call failed after its retries' });
  return [];
}

function callRuns({ account }: PiRun, line: JsonObject): readonly EventDraft[] {
  return [...account.spoken.end(), ...account.calls.run(textAt(line.toolCallId) ?? '', textAt(line.toolName) ?? '', line.args ?? {})];
}

function callPrints({ account }: PiRun, line: JsonObject): readonly EventDraft[] {
  return account.calls.printed(textAt(line.toolCallId) ?? '', textOfContent(objectAt(line.partialResult).content));
}

function callEnds({ account }: PiRun, line: JsonObject): readonly EventDraft[] {
  const toolCallId = textAt(line.toolCallId) ?? '';
  const result = objectAt(line.result);
  const text = textOfContent(result.content);
  const failed = line.isError === true;
  const diff = textAt(objectAt(result.details).diff);
  const exit = /Command exited with code (\d+)/.exec(text)?.[1];
  const refused: readonly EventDraft[] =
    failed && text.includes(REFUSED) ? [{ type: 'approval_denied', interactionId: toolCallId, reason: REFUSED }] : [];
  const end = { failed, text, ...(diff !== undefined && { diff }), ...(exit !== undefined && { exitCode: Number(exit) }) };
  return [...refused, ...account.calls.end(toolCallId, textAt(line.toolName) ?? '', end)];
}

function compacted(_run: PiRun, line: JsonObject): readonly EventDraft[] {
  const result = objectAt(line.result);
  const summary = textAt(result.summary);
  if (summary === undefined) return [];
  const tokensSaved = (countAt(result.tokensBefore) ?? 0) - (countAt(result.estimatedTokensAfter) ?? 0);
  return [{ type: 'context_compacted', summary, tokensSaved: Math.max(0, tokensSaved) }];
}

function extensionFails(_run: PiRun, line: JsonObject): readonly EventDraft[] {
  const path = textAt(line.extensionPath) ?? '';
  return [{ type: 'plugin_error', pluginId: path, pluginName: path, error: textAt(line.error) ?? '' }];
}

/** The session events of the family, the same in its one-shot and its RPC mode. */
export const SESSION_LINES: LineHandlers<PiRun> = {
  session: ({ account }, line) => account.begun(textAt(line.id)),
  agent_start: (run) => {
    run.run = 'begun';
    return [];
  },
  turn_start: ({ account }) => account.turnStarts(),
  message_start: (run, line) => messageStarts(run, objectAt(line.message)),
  message_update: (run, line) => update(run, objectAt(line.assistantMessageEvent)),
  message_end: (run, line) => messageEnds(run, objectAt(line.message)),
  tool_execution_start: callRuns,
  tool_execution_update: callPrints,
  tool_execution_end: callEnds,
  turn_end: ({ account }) => account.turnEnds(),
  agent_end: (run) => {
    run.run = 'ended';
    run.account.answered = true;
    return [];
  },
  agent_settled: nothing,
  auto_retry_start: retries,
  auto_retry_end: retriesEnd,
  compaction_start: nothing,
  compaction_end: compacted,
  auto_compaction_start: nothing,
  auto_compaction_end: compacted,
  extension_error: extensionFails,
  queue_update: nothing,
  entry_appended: nothing,
  session_info_changed: nothing,
  thinking_level_changed: nothing,
  advisor_cost_changed: nothing,
  available_commands_update: nothing,
  ready: nothing,
  prompt_result: nothing,
};

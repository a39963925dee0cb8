import type { JsonObject } from '../base/json.ts';
import type { FinishReason } from '../ir/response.ts';
import type { CallEnd, CutAnswer, ModelAnswer, ModelFailure } from './signal.ts';
import type { CallState, TurnState } from './state.ts';

/** An event of a session as it is stored and sent; members have the names of the wire. */
export interface LoopRecord {
  readonly type: string;
  readonly data: JsonObject;
}

const PREVIEW = 200;

/** The records at the beginning of a turn, after the message that began it. */
export function opening(turnId: string, inputMessageId: string, messageId: string): LoopRecord[] {
  return [
    { type: 'session.activated', data: { turn_id: turnId } },
    { type: 'turn.started', data: { turn_id: turnId, input_message_id: inputMessageId } },
    ...asking(messageId, 1),
  ];
}

/** The model is about to be asked. */
export function asking(messageId: string, iteration: number): LoopRecord[] {
  return [
    { type: 'reason.started', data: { iteration } },
    { type: 'output.message.started', data: { message_id: messageId, iteration } },
  ];
}

export function answered(state: TurnState, answer: ModelAnswer): LoopRecord[] {
  const usage = usageOf(answer);
  const text = answer.parts.map((part) => (part.kind === 'text' ? part.text : '')).join('');
  return [
    {
      type: 'llm.generation',
      data: {
        run_id: answer.runId,
        engine: answer.engine,
        model: answer.model,
        finish_reason: answer.finish,
        usage,
        duration_ms: answer.ms,
        attempts: state.failures + 1,
      },
    },
    {
      type: 'output.message.completed',
      // Parts are JSON by their types; interfaces have no index signature, which JsonObject asks for.
      data: {
        message: { id: state.messageId, role: 'agent', parts: answer.parts as unknown as JsonObject[] },
        // Messages came meanwhile: a reader of the conversation must know that the answer was given without them.
        ...(state.unseen ? { read_up_to: answer.readUpTo } : {}),
      },
    },
    {
      type: 'reason.completed',
      data: {
        success: true,
        has_tool_calls: answer.calls.length > 0,
        tool_call_count: answer.calls.length,
        text_preview: text.slice(0, PREVIEW).toWellFormed(),
      },
    },
  ];
}

/** An answer that was broken off: its words are kept, and said to be a part. */
export function brokenOff(state: TurnState, cut: CutAnswer): LoopRecord[] {
  const { runId, engine, model, text } = cut;
  const generation = { run_id: runId, engine, model, finish_reason: 'interrupted', usage: usageOf(cut), attempts: state.failures + 1 };
  const message = { id: state.messageId, role: 'agent', parts: [{ kind: 'text', text }] };
  return [
    { type: 'llm.generation', data: generation },
    ...(text === '' ? [] : [{ type: 'output.message.completed', data: { message, partial: true } }]),
  ];
}

function usageOf({ usage, costNanoUsd }: Pick<ModelAnswer, 'usage' | 'costNanoUsd'>): JsonObject {
  return {
    input_tokens: usage.inputTokens,
    output_tokens: usage.outputTokens,
    cache_read_tokens: usage.cacheReadTokens,
    cache_creation_tokens: usage.cacheWriteTokens,
    cost_nano_usd: costNanoUsd,
    ...(usage.estimated === true && { estimated: true }),
  };
}

export function retrying({ code, message }: ModelFailure, delayMs: number, attempt: number): LoopRecord {
  return { type: 'reason.retrying', data: { error: message, error_code: code, attempt, delay_ms: delayMs } };
}

export function reasonFailed({ code, message }: ModelFailure): LoopRecord {
  return {
    type: 'reason.completed',
    data: { success: false, has_tool_calls: false, tool_call_count: 0, error: message, error_code: code },
  };
}

/** Members of a call that events of every kind carry. */
function callOf(call: CallState): JsonObject {
  return { id: call.id, name: call.name, arguments: call.arguments };
}

export function actStarted(calls: readonly CallState[]): LoopRecord {
  return { type: 'act.started', data: { tool_calls: calls.map(callOf) } };
}

export function callStarted(call: CallState): LoopRecord {
  return { type: 'tool.started', data: { tool_call: callOf(call), attempt: call.attempt } };
}

export function approvalRequested(call: CallState): LoopRecord {
  return {
    type: 'approval.requested',
    data: { approval_id: call.approval?.id ?? '', reason: call.approval?.reason ?? 'policy', tool_call: callOf(call) },
  };
}

export function callEnded(call: CallState, end: CallEnd, ms: number): LoopRecord {
  return {
    type: 'tool.completed',
    data: {
      tool_call_id: call.id,
      tool_name: call.name,
      success: end.status === 'success',
      status: end.status,
      duration_ms: ms,
      ...('output' in end ? { result: end.output } : { error: end.error }),
    },
  };
}

export function actCompleted(calls: readonly CallState[]): LoopRecord {
  return { type: 'act.completed', data: { completed: true, tool_call_count: calls.length } };
}

/** How a turn comes to its end. */
export type Ending = { readonly finish: FinishReason } | { readonly failure: ModelFailure } | { readonly cancelled: string };

/** How a turn ended, and that the session is at rest. */
export function ending(turnId: string, state: TurnState, how: Ending): LoopRecord[] {
  return [turnEnded(turnId, state, how), { type: 'session.idled', data: { turn_id: turnId } }];
}

function turnEnded(turnId: string, state: TurnState, how: Ending): LoopRecord {
  const { spent, iteration, toolCalls } = state;
  const usage = {
    input_tokens: spent.inputTokens,
    output_tokens: spent.outputTokens,
    cost_nano_usd: spent.costNanoUsd,
    ...(spent.estimated === true && { estimated: true }),
  };
  const data = { turn_id: turnId, iterations: iteration, tool_call_count: toolCalls, usage };
  if ('finish' in how) {
    // An answer that was cut at a limit is the end of the turn all the same; its reader should know.
    return { type: 'turn.completed', data: { ...data, final_message_id: state.messageId, finish_reason: how.finish } };
  }
  if ('cancelled' in how) return { type: 'turn.cancelled', data: { ...data, reason: how.cancelled } };
  return { type: 'turn.failed', data: { ...data, error: how.failure.message, error_code: how.failure.code } };
}

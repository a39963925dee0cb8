import type { Json, JsonObject } from '../../../base/json.ts';
import type { EventDraft } from '../../adapter.ts';
import type { RunAccount } from '../jsonl/account.ts';
import { countAt, numberAt, objectAt, textAt } from '../lines/fields.ts';
import type { ToolEffect } from '../tools/effects.ts';
import type { AcpKind } from './kind.ts';
import { createsFile, EFFECT_OF_KIND, exitCodeOf, inputOf, isPatch, outputOf, PATCH } from './tools.ts';

/** One run over ACP as far as the agent has told it. */
export interface AcpRun {
  readonly account: RunAccount;
  readonly kind: AcpKind;
  /** Effects of the tools that were named so far; the protocol tells them call by call. */
  readonly effects: Record<string, ToolEffect>;
  /** Everything told of a call so far, update by update. */
  readonly calls: Map<string, JsonObject>;
  /** A tool has returned, so what the model says next is its next answer. */
  toolReturned: boolean;
  /** The last question of the agent was answered with no. */
  refused: boolean;
  usd: number;
}

type Handler = (run: AcpRun, update: JsonObject) => readonly EventDraft[];

const UPDATES: Readonly<Record<string, Handler>> = {
  agent_message_chunk: (run, update) => [...answering(run), ...run.account.spoken.text(chunk(update))],
  agent_thought_chunk: (run, update) => [...answering(run), ...run.account.spoken.thinking(chunk(update))],
  tool_call: toolCall,
  tool_call_update: toolCall,
  usage_update: usageUpdate,
  user_message_chunk: () => [],
  available_commands_update: () => [],
  current_mode_update: () => [],
  config_option_update: () => [],
  session_info_update: () => [],
  plan: () => [],
};

/** The events of a `session/update`; undefined when its kind is unknown. */
export function readUpdate(run: AcpRun, update: JsonObject): readonly EventDraft[] | undefined {
  return UPDATES[textAt(update.sessionUpdate) ?? '']?.(run, update);
}

/** The protocol has no line between two answers of the model; an answer after a tool's return is a new one. */
function answering(run: AcpRun): readonly EventDraft[] {
  return [...(run.kind.untoldEnds === true ? endCalls(run) : []), ...beginning(run)];
}

/** A call may be one of several of the same answer, so it ends none of the others. */
function beginning(run: AcpRun): readonly EventDraft[] {
  if (!run.toolReturned) return run.account.inTurn();
  run.toolReturned = false;
  return run.account.turnStarts();
}

/** Calls whose end was never told are over by the time the model goes on; what they returned is not known. */
function endCalls(run: AcpRun): readonly EventDraft[] {
  const { refused } = run;
  run.refused = false;
  const open = [...run.calls].filter(([, { status }]) => status !== 'completed' && status !== 'failed');
  return open.flatMap(([toolCallId]) =>
    refused
      ? toolCall(run, { toolCallId, status: 'failed' }, 'the call was not allowed')
      : toolCall(run, { toolCallId, status: 'completed' }, ''),
  );
}

function chunk(update: JsonObject): string {
  return textAt(objectAt(update.content).text) ?? '';
}

/** A call is told in several updates, each with what changed. */
function toolCall(run: AcpRun, update: JsonObject, output?: string): readonly EventDraft[] {
  const id = textAt(update.toolCallId) ?? '';
  const known = run.calls.get(id);
  const call: JsonObject = { ...known, ...withoutEmpty(update), title: known?.title ?? update.title ?? '' };
  run.calls.set(id, call);
  const name = nameOf(run, call);
  const opening = known === undefined ? [...beginning(run), ...run.account.spoken.end(), ...run.account.calls.start(id, name)] : [];
  return [...opening, ...progress(run, call, name, output ?? outputOf(call))];
}

function progress(run: AcpRun, call: JsonObject, name: string, output: string): readonly EventDraft[] {
  const id = textAt(call.toolCallId) ?? '';
  const { calls } = run.account;
  const input = inputOf(call);
  if (call.status === 'in_progress') return [...calls.run(id, name, input), ...calls.printed(id, output)];
  if (call.status !== 'completed' && call.status !== 'failed') return Object.keys(input).length === 0 ? [] : calls.ready(id, name, input);
  run.toolReturned = true;
  const exitCode = exitCodeOf(call);
  const end = { failed: call.status === 'failed', text: output, created: createsFile(call) };
  return [...calls.run(id, name, input), ...calls.end(id, name, exitCode === undefined ? end : { ...end, exitCode })];
}

/** The name of the tool in a call, and with it what that tool does. */
export function nameOf(run: AcpRun, call: JsonObject): string {
  const name = run.kind.toolName?.(call) ?? textAt(call.kind) ?? 'tool';
  const effect = isPatch(call) ? PATCH : EFFECT_OF_KIND[textAt(call.kind) ?? ''];
  if (effect !== undefined) run.effects[name] = effect;
  return name;
}

/** Later updates repeat members as empty ones; the full ones are kept. */
function withoutEmpty(update: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(update).filter(([, value]) => !isEmpty(value)));
}

function isEmpty(value: Json): boolean {
  if (value === null) return true;
  return Array.isArray(value) ? value.length === 0 : typeof value === 'object' && Object.keys(value).length === 0;
}

const NEARLY_FULL = 0.9;

/** `used` of `size` is how full the context is; the cost is that of the whole session so far. */
function usageUpdate(run: AcpRun, update: JsonObject): readonly EventDraft[] {
  run.usd = numberAt(objectAt(update.cost).amount) ?? run.usd;
  const used = countAt(update.used);
  const size = countAt(update.size);
  if (used === undefined || size === undefined || size === 0 || used / size < NEARLY_FULL) return [];
  return [{ type: 'context_limit_warning', usedTokens: used, maxTokens: size, pctUsed: Math.round((100 * used) / size) }];
}

import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts';
import { parseShallow } from '../../base/json-limits.ts';
import type { CallEnd } from '../../loop/signal.ts';
import type { CallState } from '../../loop/state.ts';
import { problemOf } from '../checks/checks.ts';
import type { Tool, ToolBehalf, ToolContext, ToolOutcome } from './tool.ts';

const TIMEOUT_MS = 120_000;
/** The most that a model gets of one result; more would only push the conversation out of its window. */
const MOST_OUTPUT = 64 * 1024;

export interface ToolRunOptions {
  readonly tool: Tool | undefined;
  readonly call: CallState;
  readonly agentId: string;
  readonly sessionId: string;
  /** The folder that holds the sessions' workspaces. */
  readonly workspaces: string;
  /** Aborted when the turn is. */
  readonly signal: AbortSignal;
  readonly behalf?: ToolBehalf | undefined;
  /** A fault of the tool itself; the model hears only that there was one. */
  readonly onFault: (error: unknown) => void;
}

/** Makes one call. It always ends, and always with something the model can read. */
export async function runTool(options: ToolRunOptions): Promise<CallEnd> {
  const { tool, call } = options;
  if (tool === undefined) return failed(`There is no tool named ${call.name}.`);
  const input = inputOf(call.arguments);
  if (input === undefined) return failed('The arguments are not a JSON object.');
  const problem = await problemOf(tool.parameters, input);
  if (problem !== undefined) return failed(`The arguments do not fit: ${problem}`);
  const { agentId, sessionId, behalf } = options;
  const workspace = join(options.workspaces, sessionId);
  return await timed(options, tool, async (signal) => {
    await mkdir(workspace, { recursive: true, mode: 0o700 });
    return await tool.execute(input, { callId: call.id, agentId, sessionId, workspace, signal, behalf });
  });
}

function inputOf(text: string): JsonObject | undefined {
  const parsed = parseShallow(text === '' ? '{}' : text);
  return parsed.ok && isJsonObject(parsed.value) ? parsed.value : undefined;
}

/** A tool that does not listen to its signal is left alone: its result comes too late to count. */
async function timed(
  { signal, onFault }: ToolRunOptions,
  { timeoutMs = TIMEOUT_MS, effect }: Tool,
  execute: (signal: ToolContext['signal']) => Promise<ToolOutcome>,
): Promise<CallEnd> {
  const own = new AbortController();
  const { promise: cut, resolve } = Promise.withResolvers<CallEnd>();
  const known = effect === 'idempotent' ? '' : ' Whether it had an effect is not known.';
  const timer = setTimeout(() => {
    resolve({ status: 'timeout', error: `The call took longer than ${timeoutMs} ms.${known}` });
    own.abort(new Error('the time of the call is over'));
  }, timeoutMs);
  const onAbort = (): void => {
    resolve({ status: 'cancelled', error: 'The turn was cancelled.' });
    own.abort(signal.reason);
  };
  if (signal.aborted) onAbort();
  else signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([cut, executed(execute, own.signal, onFault)]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
  }
}

async function executed(
  execute: (signal: AbortSignal) => Promise<ToolOutcome>,
  signal: AbortSignal,
  onFault: (error: unknown) => void,
): Promise<CallEnd> {
  try {
    const outcome = await execute(signal);
    return 'error' in outcome ? failed(outcome.error) : { status: 'success', output: bounded(outcome.output) };
  } catch (error) {
    if (!signal.aborted) onFault(error);
    return failed('The tool failed inside.');
  }
}

function failed(error: string): CallEnd {
  return { status: 'error', error };
}

function bounded(output: Json): Json {
  const text = typeof output === 'string' ? output : JSON.stringify(output);
  if (text.length <= MOST_OUTPUT) return output;
  const shortened = isJsonObject(output) ? withShorterTexts(output, text.length - MOST_OUTPUT) : undefined;
  if (shortened !== undefined) return { ...shortened, truncated: true, characters_total: text.length };
  return { truncated: true, characters_total: text.length, text: text.slice(0, MOST_OUTPUT).toWellFormed() };
}

/** Room for what is added to an output that was cut. */
const MARKS = 100;

/** The longest text of an output gives way, so that a short one beside it, such as an error, stays whole; undefined where that is not enough. */
function withShorterTexts(output: JsonObject, over: number): JsonObject | undefined {
  const [longest] = Object.entries(output)
    .flatMap(([name, value]) => (typeof value === 'string' ? [{ name, value }] : []))
    .toSorted((a, b) => b.value.length - a.value.length);
  if (longest === undefined) return undefined;
  const { name, value } = longest;
  const written = JSON.stringify(value).length;
  if (written <= over + MARKS) return undefined;
  // One character may be written as several.
  const kept = Math.floor((value.length * (written - over - MARKS)) / written);
  const shorter = { ...output, [name]: value.slice(0, kept).toWellFormed() };
  return JSON.stringify(shorter).length <= MOST_OUTPUT ? shorter : undefined;
}

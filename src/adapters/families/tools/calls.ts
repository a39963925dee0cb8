import type { Clock } from '../../../base/clock.ts';
import type { Json } from '../../../base/json.ts';
import type { EventDraft } from '../../adapter.ts';
import { effectsOfEnd, effectsOfStart, type ToolCall, type ToolEnd, type ToolReading } from './effects.ts';

interface OpenCall {
  readonly toolName: string;
  input: Json | undefined;
  startedAt: number | undefined;
  /** Output of the command so far. */
  printed: string;
}

/** How a call ended, as far as its agent tells. */
export interface CallEnd extends Omit<ToolEnd, 'durationMs'> {
  readonly durationMs?: number;
}

/** The tool calls of a run: each is started, made ready, run and ended once, whatever order and number of lines tell it. */
export class ToolCalls {
  readonly #reading: ToolReading;
  readonly #cwd: string;
  readonly #clock: Clock;
  readonly #open = new Map<string, OpenCall>();
  readonly #ended = new Set<string>();

  constructor(reading: ToolReading, cwd: string, clock: Clock) {
    this.#reading = reading;
    this.#cwd = cwd;
    this.#clock = clock;
  }

  /** The model begins a call. */
  start(toolCallId: string, toolName: string): readonly EventDraft[] {
    if (this.#open.has(toolCallId) || this.#ended.has(toolCallId)) return [];
    this.#open.set(toolCallId, { toolName, input: undefined, startedAt: undefined, printed: '' });
    return [{ type: 'tool_call_start', toolCallId, toolName }];
  }

  /** A piece of the input. */
  piece(toolCallId: string, delta: string): readonly EventDraft[] {
    return this.#open.has(toolCallId) && delta !== '' ? [{ type: 'tool_input_delta', toolCallId, delta }] : [];
  }

  /** The input is complete. */
  ready(toolCallId: string, toolName: string, input: Json): readonly EventDraft[] {
    const started = this.start(toolCallId, toolName);
    const call = this.#open.get(toolCallId);
    if (call === undefined || call.input !== undefined) return started;
    call.input = input;
    return [...started, { type: 'tool_call_ready', toolCallId, toolName: call.toolName, input }];
  }

  /** The tool is run, now that it has been allowed. */
  run(toolCallId: string, toolName: string, input: Json): readonly EventDraft[] {
    const made = this.ready(toolCallId, toolName, input);
    const call = this.#open.get(toolCallId);
    if (call === undefined || call.startedAt !== undefined) return made;
    call.startedAt = this.#clock.now();
    return [...made, ...effectsOfStart(this.#reading, asCall(toolCallId, call), this.#cwd)];
  }

  /** All that a running command has printed so far; what is new of it is an event. */
  printed(toolCallId: string, text: string): readonly EventDraft[] {
    const call = this.#open.get(toolCallId);
    if (call === undefined || this.#reading.effects[call.toolName]?.does !== 'shell') return [];
    const delta = rest(text, call.printed);
    call.printed = text;
    return delta === '' ? [] : [{ type: 'shell_stdout_delta', delta }];
  }

  /** The tool was not allowed to run: it has no effects, and nothing of it began. */
  refused(toolCallId: string, toolName: string, error: string): readonly EventDraft[] {
    const made = this.ready(toolCallId, toolName, {});
    const call = this.#open.get(toolCallId);
    if (call === undefined) return [];
    this.#open.delete(toolCallId);
    this.#ended.add(toolCallId);
    return [...made, { type: 'tool_error', toolCallId, toolName: call.toolName, error }];
  }

  /** The tool returned or failed. */
  end(toolCallId: string, toolName: string, end: CallEnd): readonly EventDraft[] {
    const made = this.run(toolCallId, toolName, {});
    const call = this.#open.get(toolCallId);
    if (call === undefined) return [];
    this.#open.delete(toolCallId);
    this.#ended.add(toolCallId);
    const durationMs = end.durationMs ?? this.#clock.now() - (call.startedAt ?? this.#clock.now());
    const told = { toolCallId, toolName: call.toolName };
    const result: EventDraft = end.failed
      ? { type: 'tool_error', ...told, error: end.text }
      : { type: 'tool_result', ...told, output: end.text, durationMs };
    const left = { ...end, durationMs, text: call.printed === '' ? end.text : rest(end.text, call.printed) };
    return [...made, ...effectsOfEnd(this.#reading, asCall(toolCallId, call), left), result];
  }
}

function asCall(toolCallId: string, call: OpenCall): ToolCall {
  return { toolCallId, toolName: call.toolName, input: call.input ?? {} };
}

/**
 * The end of the output that we have not told yet. Of an agent that cuts long output only the end is there, and we cannot know what of it
 * is new.
 */
function rest(text: string, known: string): string {
  return text.startsWith(known) ? text.slice(known.length) : '';
}

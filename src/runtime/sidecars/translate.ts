import type { EventDraft } from '../../adapters/adapter.ts';
import { isJsonObject, type Json } from '../../base/json.ts';
import { AgentEvent, type EventName } from '../../contract/runs/event.ts';
import type { SidecarEvent } from '../../contract/work-orders/sidecar.ts';

/** The member of `ext` under which a sidecar of ours sends an event of our union that the ten kinds have no place for. */
export const WHOLE_EVENT = 'abp.event';

/** Events that tell of the work. Those that steer a run (approvals, ends, limits, errors) are not a sidecar's to send. */
const TELLING: ReadonlySet<string> = new Set<EventName>([
  'session_start',
  'session_resume',
  'session_fork',
  'turn_start',
  'turn_end',
  'step_start',
  'step_end',
  'thinking_start',
  'thinking_delta',
  'thinking_stop',
  'file_read',
  'file_write',
  'file_create',
  'file_delete',
  'file_patch',
  'shell_start',
  'shell_stdout_delta',
  'shell_stderr_delta',
  'shell_exit',
  'mcp_tool_call_start',
  'mcp_tool_result',
  'mcp_tool_error',
  'subagent_spawn',
  'subagent_result',
  'subagent_error',
  'skill_loaded',
  'skill_invoked',
  'agentdoc_read',
  'cost',
  'token_usage',
  'rate_limited',
  'context_limit_warning',
  'context_compacted',
  'stream_fallback',
]);

/** Ids, oldest first, and how many of them have their result. Nothing is moved: a sidecar may call a tool tens of thousands of times before the first one. */
interface Waiting {
  readonly ids: string[];
  next: number;
}

type Told<T extends SidecarEvent['type']> = Extract<SidecarEvent, { type: T }>;

/** Reads the ten kinds of event of a sidecar as events of ours. Calls without an id get one, and their results find it by the tool. */
export class SidecarTranslator {
  readonly #cwd: string;
  /** Calls without an id that wait for their result, by tool. */
  readonly #unnamed = new Map<string, Waiting>();
  #calls = 0;
  #speaking = false;

  constructor(cwd: string) {
    this.#cwd = cwd;
  }

  read(event: SidecarEvent): EventDraft[] {
    const raw = event.ext?.raw_message;
    if (event.type === 'run_started' && typeof raw === 'string') return [{ type: 'log', source: 'stdout', line: raw }];
    const whole = wholeEvent(event.ext?.[WHOLE_EVENT]);
    if (whole !== undefined) return [whole];
    switch (event.type) {
      case 'run_started':
      case 'run_completed':
        return [{ type: 'debug', level: 'info', message: event.message }];
      case 'assistant_delta':
        return [...this.#speak(), { type: 'text_delta', delta: event.text }];
      case 'assistant_message':
        return [...this.#speak(), ...this.#stop(event.text)];
      case 'tool_call':
        return [...this.end(), ...this.#call(event)];
      case 'tool_result':
        return [this.#result(event)];
      case 'file_changed':
        return [{ type: 'file_patch', path: event.path, diff: event.summary }];
      case 'command_executed':
        return this.#command(event);
      case 'warning':
        return [{ type: 'debug', level: 'warn', message: event.message }];
      case 'error':
        return [{ type: 'error', code: event.error_code ?? 'SIDECAR_FAILED', message: event.message, recoverable: true }];
    }
  }

  /** A message that was begun in pieces and never given whole is what its pieces add up to. */
  end(): EventDraft[] {
    return this.#speaking ? this.#stop('') : [];
  }

  #speak(): EventDraft[] {
    if (this.#speaking) return [];
    this.#speaking = true;
    return [{ type: 'message_start' }];
  }

  #stop(text: string): EventDraft[] {
    this.#speaking = false;
    return [{ type: 'message_stop', text }];
  }

  #call({ tool_name: toolName, tool_use_id, input }: Told<'tool_call'>): EventDraft[] {
    this.#calls += 1;
    const toolCallId = tool_use_id ?? `call_${this.#calls}`;
    if (tool_use_id === null) this.#wait(toolName, toolCallId);
    return [
      { type: 'tool_call_start', toolCallId, toolName },
      { type: 'tool_call_ready', toolCallId, toolName, input },
    ];
  }

  #result({ tool_name: toolName, tool_use_id, output, is_error }: Told<'tool_result'>): EventDraft {
    const toolCallId = tool_use_id ?? this.#oldest(toolName) ?? `call_${toolName}`;
    return is_error
      ? { type: 'tool_error', toolCallId, toolName, error: typeof output === 'string' ? output : JSON.stringify(output) }
      : { type: 'tool_result', toolCallId, toolName, output, durationMs: 0 };
  }

  #wait(toolName: string, id: string): void {
    const waiting = this.#unnamed.get(toolName) ?? { ids: [], next: 0 };
    waiting.ids.push(id);
    this.#unnamed.set(toolName, waiting);
  }

  #oldest(toolName: string): string | undefined {
    const waiting = this.#unnamed.get(toolName);
    const id = waiting?.ids[waiting.next];
    if (waiting !== undefined && id !== undefined) waiting.next += 1;
    return id;
  }

  #command({ command, exit_code, output_preview }: Told<'command_executed'>): EventDraft[] {
    return [
      { type: 'shell_start', command, cwd: this.#cwd },
      ...(output_preview === null ? [] : [{ type: 'shell_stdout_delta', delta: output_preview } as const]),
      { type: 'shell_exit', exitCode: exit_code, durationMs: 0 },
    ];
  }
}

/** An event of our own union, where the sidecar sent one that tells of the work. */
function wholeEvent(value: Json | undefined): EventDraft | undefined {
  if (!isJsonObject(value) || typeof value.type !== 'string' || !TELLING.has(value.type)) return undefined;
  const filled = { ...value, runId: '', agent: '', timestamp: 0 };
  const parsed = AgentEvent.safeParse(filled);
  if (!parsed.success) return undefined;
  const { runId: _run, agent: _agent, timestamp: _time, ...draft } = parsed.data;
  // An event without what the run engine adds is a draft; the union loses that in a spread.
  return draft as EventDraft;
}

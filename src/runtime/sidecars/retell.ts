import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts';
import type { AgentEvent } from '../../contract/runs/event.ts';
import type { EventDraft, SidecarRun } from '../../sidecar/sidecar.ts';
import { WHOLE_EVENT } from './translate.ts';

/**
 * Tells the events of a run of ours to the control plane that runs us as a sidecar: as the ten kinds where they have one, and whole to a backplane that
 * knows our union (`whole`). Others are spared what they could not read.
 */
export function retell(event: AgentEvent, run: SidecarRun, { whole }: { readonly whole: boolean }): void {
  const told = kindOf(event);
  if (told !== undefined) run.send(told);
  else if (event.type === 'log' && event.source === 'stdout')
    run.send({ type: 'run_started', message: 'raw' }, { raw_message: event.line });
  else if (whole) run.send({ type: 'run_started', message: event.type }, { [WHOLE_EVENT]: bare(event) });
}

function kindOf(event: AgentEvent): EventDraft | undefined {
  switch (event.type) {
    case 'text_delta':
      return { type: 'assistant_delta', text: event.delta };
    case 'message_stop':
      return { type: 'assistant_message', text: event.text };
    case 'tool_call_ready':
      return {
        type: 'tool_call',
        tool_name: event.toolName,
        tool_use_id: event.toolCallId,
        parent_tool_use_id: null,
        // The member of an event is JSON by its schema.
        input: event.input as Json,
      };
    case 'tool_result':
      return resultOf(event, event.output as Json, false); // likewise
    case 'tool_error':
      return resultOf(event, event.error, true);
    case 'debug':
      return event.level === 'warn' ? { type: 'warning', message: event.message } : undefined;
    case 'error':
      return { type: 'error', message: event.message, error_code: event.code };
    case 'auth_error':
    case 'rate_limit_error':
      return { type: 'error', message: event.message, error_code: event.type };
    default:
      return undefined;
  }
}

function resultOf({ toolName, toolCallId }: { toolName: string; toolCallId: string }, output: Json, isError: boolean): EventDraft {
  return { type: 'tool_result', tool_name: toolName, tool_use_id: toolCallId, output, is_error: isError };
}

/** The event without what the other side adds itself. */
function bare({ runId: _run, agent: _agent, timestamp: _time, ...event }: AgentEvent): JsonObject {
  const { accumulated: _sum, inputAccumulated: _input, ...rest } = event as unknown as Record<string, Json>; // an event is JSON by its schema
  return isJsonObject(rest) ? rest : {};
}

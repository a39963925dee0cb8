import type { TraceLinks } from '../../calls/trace-links.ts';
import type { RunId } from '../../contract/run-id.ts';
import type { AgentEvent } from '../../contract/runs/event.ts';

/** Calls that have begun and not ended; an agent that never ends its calls has spans for the first of them only. */
const MOST_OPEN = 1000;

/** Makes tool calls for a trace of the events of one run. A call begins when its input is complete, where the agent says when that is. */
export function toolCallsInto(traces: Pick<TraceLinks, 'toolEnded'>): (run: RunId, event: AgentEvent) => void {
  const begun = new Map<string, number>();
  return (run, event) => {
    switch (event.type) {
      case 'tool_call_start':
      case 'tool_call_ready':
        if (begun.size < MOST_OPEN || begun.has(event.toolCallId)) begun.set(event.toolCallId, event.timestamp);
        break;
      case 'tool_result':
      case 'tool_error': {
        const { toolCallId: id, toolName: name, timestamp, type } = event;
        const at = begun.get(id) ?? timestamp;
        begun.delete(id);
        traces.toolEnded(run, { id, name, at, ms: Math.max(0, timestamp - at), error: type === 'tool_error' ? 'error' : undefined });
      }
    }
  };
}

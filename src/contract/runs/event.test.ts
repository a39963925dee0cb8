import { expect, expectTypeOf, it } from 'vitest';
import { AgentEvent, EVENT_NAMES, type EventOf } from './event.ts';
import type { CostRecord } from './event-table.ts';

const base = { runId: 'run_1', agent: 'claude', timestamp: 1 };

it('has these types, in this order', () => {
  expect(EVENT_NAMES.join(' ')).toBe(
    'session_start session_resume session_fork session_checkpoint session_end turn_start turn_end step_start step_end ' +
      'message_start text_delta message_stop thinking_start thinking_delta thinking_stop ' +
      'tool_call_start tool_input_delta tool_call_ready tool_result tool_error file_read file_write file_create file_delete file_patch ' +
      'shell_start shell_stdout_delta shell_stderr_delta shell_exit mcp_tool_call_start mcp_tool_result mcp_tool_error ' +
      'subagent_spawn subagent_result subagent_error plugin_loaded plugin_invoked plugin_error skill_loaded skill_invoked agentdoc_read ' +
      'image_output image_input_ack cost token_usage input_required approval_request approval_granted approval_denied ' +
      'rate_limited context_limit_warning context_compacted retry interrupted aborted paused resumed timeout turn_limit stream_fallback ' +
      'auth_error rate_limit_error context_exceeded crash error debug log',
  );
  expect(EVENT_NAMES).toHaveLength(67);
});

it('narrows by type', () => {
  const event = AgentEvent.parse({ ...base, type: 'text_delta', delta: 'lo', accumulated: 'hello' });
  expect(event.type === 'text_delta' ? event.accumulated : undefined).toBe('hello');
  expectTypeOf<EventOf<'text_delta'>['delta']>().toEqualTypeOf<string>();
  expectTypeOf<EventOf<'turn_end'>['cost']>().toEqualTypeOf<CostRecord | undefined>();
  expectTypeOf<EventOf<'input_required'>['source']>().toEqualTypeOf<'agent' | 'tool'>();
  expectTypeOf<EventOf<'paused'>['source']>().toEqualTypeOf<string | undefined>();
  expectTypeOf<EventOf<'timeout'>['kind']>().toEqualTypeOf<'run' | 'inactivity'>();
});

it('lets an event with a source of its own replace the common one', () => {
  expect(AgentEvent.safeParse({ ...base, type: 'log', source: 'stdout', line: 'x' }).success).toBe(true);
  expect(AgentEvent.safeParse({ ...base, type: 'log', source: 'syslog', line: 'x' }).success).toBe(false);
  expect(AgentEvent.safeParse({ ...base, type: 'paused', source: 'syslog' }).success).toBe(true);
});

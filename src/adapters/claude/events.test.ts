import { expect, it } from 'vitest';
import { attached, outline, planOf, told } from '../../../test/support/dialogue.ts';
import { dialogue } from './events.ts';

const json = (line: object): string => JSON.stringify(line);
const INIT = json({ type: 'system', subtype: 'init', session_id: 's1', mcp_servers: [] });
const answer = (id: string, block: object): string =>
  json({ type: 'assistant', message: { id, model: 'm', content: [block] }, parent_tool_use_id: null });
const stream = (event: object): string => json({ type: 'stream_event', event, parent_tool_use_id: null });
const result = (more: object = {}): string =>
  json({ type: 'result', subtype: 'success', is_error: false, result: 'hi', total_cost_usd: 0, modelUsage: {}, ...more });
const toolResult = (block: object, details: object = {}): string =>
  json({ type: 'user', message: { content: [{ type: 'tool_result', ...block }] }, tool_use_result: details });

const play = (lines: readonly string[], options = {}, plan = {}) => told(dialogue(planOf('claude', options, plan)), lines);

it('tells text once although it comes in pieces and as a whole', () => {
  const { events, outcome, done } = play([
    INIT,
    stream({ type: 'message_start', message: { id: 'm1', usage: { input_tokens: 10, cache_read_input_tokens: 5 } } }),
    stream({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'he' } }),
    stream({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'llo' } }),
    answer('m1', { type: 'text', text: 'hello' }),
    stream({ type: 'content_block_stop', index: 0 }),
    stream({ type: 'message_delta', usage: { output_tokens: 7, output_tokens_details: { thinking_tokens: 3 } } }),
    stream({ type: 'message_stop' }),
    result({ total_cost_usd: 0.5, modelUsage: { m: { inputTokens: 10, outputTokens: 7, cacheReadInputTokens: 5 } } }),
  ]);
  const cost = { totalUsd: 0.5, inputTokens: 15, outputTokens: 7, cachedTokens: 5, cacheReadTokens: 5, cacheCreationTokens: 0 };
  expect(events).toEqual([
    { type: 'session_start', sessionId: 's1', resumed: false },
    { type: 'turn_start', turnIndex: 0 },
    { type: 'message_start' },
    { type: 'text_delta', delta: 'he' },
    { type: 'text_delta', delta: 'llo' },
    { type: 'message_stop', text: 'hello' },
    { type: 'token_usage', inputTokens: 15, outputTokens: 7, thinkingTokens: 3, cachedTokens: 5 },
    { type: 'turn_end', turnIndex: 0 },
    { type: 'cost', cost },
    { type: 'session_end', sessionId: 's1', turnCount: 1, cost },
  ]);
  expect(outcome).toEqual({ ok: true });
  expect(done).toBe(true);
});

it('counts one turn for all blocks of one message', () => {
  const lines = [
    INIT,
    answer('m1', { type: 'thinking', thinking: 'hm' }),
    answer('m1', { type: 'text', text: 'a' }),
    answer('m2', { type: 'text', text: 'b' }),
  ];
  expect(outline(play([...lines, result()]).events)).toEqual([
    'session_start',
    'turn_start',
    'thinking_start',
    'thinking_stop',
    'message_start',
    'message_stop',
    'turn_end',
    'turn_start',
    'message_start',
    'message_stop',
    'turn_end',
    'session_end',
  ]);
});

it('tells what a command did, live where nobody is asked', () => {
  const { events } = play(
    [
      INIT,
      answer('m1', { type: 'tool_use', id: 'c1', name: 'Bash', input: { command: 'false' } }),
      toolResult({ tool_use_id: 'c1', is_error: true, content: 'Exit code 3\nno' }),
    ],
    { approvalMode: 'yolo' },
  );
  expect(outline(events)).toEqual([
    'session_start',
    'turn_start',
    'tool_call_start',
    'tool_call_ready',
    'shell_start',
    'shell_exit',
    'tool_error',
    'turn_end',
    'session_end',
  ]);
  expect(events).toContainEqual({ type: 'shell_start', command: 'false', cwd: '/project' });
  expect(events).toContainEqual(expect.objectContaining({ type: 'shell_exit', exitCode: 3 }));
});

it('tells a new file from a changed one, with the diff that the agent made', () => {
  const patch = { type: 'update', structuredPatch: [{ oldStart: 1, oldLines: 1, newStart: 1, newLines: 1, lines: ['-a', '+b'] }] };
  const { events } = play([
    answer('m1', { type: 'tool_use', id: 'c1', name: 'Write', input: { file_path: '/a', content: 'äb' } }),
    toolResult({ tool_use_id: 'c1', content: 'ok' }, { type: 'create' }),
    answer('m2', { type: 'tool_use', id: 'c2', name: 'Edit', input: { file_path: '/a' } }),
    toolResult({ tool_use_id: 'c2', content: [{ type: 'text', text: 'ok' }] }, patch),
  ]);
  expect(events).toContainEqual({ type: 'file_create', path: '/a', byteCount: 3 });
  expect(events).toContainEqual({ type: 'file_patch', path: '/a', diff: '@@ -1,1 +1,1 @@\n-a\n+b\n' });
});

it('tells a refused call once, and that nothing of it began', () => {
  const { events, outcome } = play([
    INIT,
    answer('m1', { type: 'tool_use', id: 'c1', name: 'Bash', input: { command: 'rm' } }),
    json({ type: 'system', subtype: 'permission_denied', tool_use_id: 'c1', message: 'needs approval' }),
    toolResult({ tool_use_id: 'c1', is_error: true, content: 'needs approval' }),
    result({ permission_denials: [{ tool_name: 'Bash', tool_use_id: 'c1' }] }),
  ]);
  expect(events.filter(({ type }) => type === 'approval_denied')).toEqual([
    { type: 'approval_denied', interactionId: 'c1', reason: 'needs approval' },
  ]);
  expect(outline(events)).not.toContain('shell_start');
  expect(outcome).toEqual({ ok: true });
});

it('reads tools of MCP servers, sub-agents and skills', () => {
  const use = (id: string, name: string, input: object): string => answer(id, { type: 'tool_use', id, name, input });
  const { events } = play(
    [
      use('c1', 'mcp__probe__echo', { text: 'a' }),
      toolResult({ tool_use_id: 'c1', content: 'b' }),
      use('c2', 'Task', { prompt: 'go', subagent_type: 'Explore' }),
      json({
        type: 'assistant',
        parent_tool_use_id: 'c2',
        message: {
          content: [
            { type: 'text', text: 'inner' },
            { type: 'tool_use', id: 'c3', name: 'Read', input: { file_path: '/x' } },
          ],
        },
      }),
      toolResult({ tool_use_id: 'c2', content: 'found' }),
      use('c4', 'Skill', { skill: 'pdf' }),
    ],
    { approvalMode: 'yolo' },
  );
  expect(events).toContainEqual({ type: 'mcp_tool_call_start', toolCallId: 'c1', server: 'probe', toolName: 'echo', input: { text: 'a' } });
  expect(events).toContainEqual({ type: 'subagent_spawn', subagentId: 'c2', agentName: 'Explore', prompt: 'go' });
  expect(events).toContainEqual({ type: 'subagent_result', subagentId: 'c2', agentName: 'Explore', summary: 'found' });
  expect(events).toContainEqual({ type: 'skill_invoked', skillName: 'pdf' });
  expect(events).toContainEqual({ type: 'tool_call_start', toolCallId: 'c3', toolName: 'Read' });
  expect(outline(events)).not.toContain('message_start');
});

it('tells retries, and a rate limit that was not overcome', () => {
  const { events, outcome } = play([
    INIT,
    json({ type: 'system', subtype: 'api_retry', attempt: 1, max_retries: 2, retry_delay_ms: 5.5, error_status: 429, error: 'rate_limit' }),
    json({
      type: 'assistant',
      error: 'rate_limit',
      message: { id: 'x', model: '<synthetic>', content: [{ type: 'text', text: 'API Error' }] },
    }),
    result({ is_error: true, api_error_status: 429, result: 'API Error: 429' }),
  ]);
  expect(events.slice(1, 3)).toEqual([
    { type: 'rate_limited', retryAfterMs: 5.5 },
    { type: 'retry', attempt: 1, maxAttempts: 2, reason: '429 rate_limit', delayMs: 5.5 },
  ]);
  expect(outline(events)).not.toContain('message_start');
  expect(outcome).toEqual({ ok: false, code: 'RATE_LIMITED', message: 'API Error: 429' });
});

it.each([
  [
    { subtype: 'error_max_turns', is_error: true },
    { ok: false, code: 'ABORTED', message: 'the agent has used all its turns', limit: 'turn_limit' },
  ],
  [
    { subtype: 'error_max_budget_usd', is_error: true },
    { ok: false, code: 'ABORTED', message: 'the agent has used up its budget', limit: 'budget' },
  ],
  [
    { is_error: true, api_error_status: 401, result: 'no key' },
    { ok: false, code: 'AUTH_ERROR', message: 'no key' },
  ],
  [
    { subtype: 'error_during_execution', is_error: true, result: undefined, errors: ['boom'] },
    { ok: false, code: 'INTERNAL', message: 'boom' },
  ],
  [
    { is_error: true, subtype: 'error_during_execution', result: undefined, errors: ['No conversation found with session ID: x'] },
    { ok: false, code: 'SESSION_NOT_FOUND', message: 'No conversation found with session ID: x' },
  ],
])('ends with %j as it is', (more, outcome) => {
  expect(play([INIT, result(more)]).outcome).toEqual(outcome);
});

it('gives an answer in JSON mode as text', () => {
  expect(play([INIT, result({ structured_output: { a: 1 } })], { outputFormat: 'json' }).events).toContainEqual({
    type: 'message_stop',
    text: '{"a":1}',
  });
});

it('asks for approvals and carries the answers', () => {
  const talk = dialogue(planOf('claude', {}, { answerable: true }));
  expect(talk.begin().map((line) => JSON.parse(line))).toEqual([
    { type: 'user', message: { role: 'user', content: [{ type: 'text', text: 'say hello' }] } },
  ]);
  const request = { subtype: 'can_use_tool', tool_name: 'Bash', tool_use_id: 'c1', input: { command: 'ls' } };
  expect(talk.line(json({ type: 'control_request', request_id: 'r1', request })).events).toEqual([
    {
      type: 'approval_request',
      interactionId: 'r1',
      action: 'Bash',
      detail: '{"command":"ls"}',
      toolName: 'Bash',
      toolCallId: 'c1',
      riskLevel: 'high',
    },
  ]);
  expect(talk.say({ kind: 'approve', interactionId: 'other' })).toBeUndefined();
  expect(talk.say({ kind: 'approve', interactionId: 'r1' })?.map((line) => JSON.parse(line))).toEqual([
    {
      type: 'control_response',
      response: { subtype: 'success', request_id: 'r1', response: { behavior: 'allow', updatedInput: { command: 'ls' } } },
    },
  ]);
  talk.line(json({ type: 'control_request', request_id: 'r2', request: { ...request, tool_use_id: 'c2' } }));
  expect(talk.say({ kind: 'deny', interactionId: 'r2', reason: 'no' })?.[0]).toContain('"behavior":"deny","message":"no"');
  talk.line(answer('m', { type: 'tool_use', id: 'c2', name: 'Bash', input: {} }));
  const { events } = talk.line(toolResult({ tool_use_id: 'c2', is_error: true, content: 'no' }));
  expect(outline(events)).toEqual(['tool_error']);
});

it('registers a hook, waits for it before every tool and carries what it says', () => {
  const talk = dialogue(planOf('claude', { approvalMode: 'yolo' }, { watched: true }));
  expect(talk.begin().map((line) => JSON.parse(line))[0]).toEqual({
    type: 'control_request',
    request_id: 'abp-hooks',
    request: {
      subtype: 'initialize',
      hooks: { PreToolUse: [{ matcher: null, hookCallbackIds: ['abp-pre-tool-use'], timeout: 86_400 }] },
    },
  });
  const called = (id: string) =>
    json({
      type: 'control_request',
      request_id: id,
      request: {
        subtype: 'hook_callback',
        callback_id: 'abp-pre-tool-use',
        tool_use_id: `c-${id}`,
        input: { hook_event_name: 'PreToolUse', tool_name: 'Bash', tool_input: { command: 'ls' } },
      },
    });
  expect(talk.line(called('w1'))).toEqual({
    events: [],
    waiting: [{ waitId: 'w1', toolName: 'Bash', input: { command: 'ls' }, toolCallId: 'c-w1' }],
  });
  const outputs = (lines: readonly string[] | undefined) => lines?.map((line) => JSON.parse(line).response.response);
  expect(outputs(talk.say({ kind: 'let', waitId: 'w1' }))).toEqual([{}]);
  expect(talk.say({ kind: 'let', waitId: 'w1' })).toBeUndefined();
  talk.line(called('w2'));
  expect(outputs(talk.say({ kind: 'let', waitId: 'w2', input: { command: 'pwd' } }))).toEqual([
    { hookSpecificOutput: { hookEventName: 'PreToolUse', updatedInput: { command: 'pwd' } } },
  ]);
  talk.line(answer('m', { type: 'tool_use', id: 'c-w3', name: 'Bash', input: { command: 'ls' } }));
  talk.line(called('w3'));
  expect(outputs(talk.say({ kind: 'stop', waitId: 'w3', reason: 'no' }))).toEqual([
    { hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'deny', permissionDecisionReason: 'no' } },
  ]);
  const { events } = talk.line(toolResult({ tool_use_id: 'c-w3', is_error: true, content: 'PreToolUse:Bash hook error: no' }));
  expect(outline(events)).toEqual(['tool_error']);
});

it('lets a text answer a question of the agent', () => {
  const talk = dialogue(planOf('claude', {}, { answerable: true }));
  const input = { questions: [{ question: 'Which?', options: [{ label: 'red' }, { label: 'blue' }] }] };
  const request = { subtype: 'can_use_tool', tool_name: 'AskUserQuestion', tool_use_id: 'c1', input };
  expect(talk.line(json({ type: 'control_request', request_id: 'r1', request })).events).toEqual([
    { type: 'input_required', interactionId: 'r1', question: 'Which?', source: 'agent', context: 'red, blue' },
  ]);
  expect(talk.say({ kind: 'message', text: 'blue' })?.[0]).toContain('"answers":{"Which?":"blue"}');
  expect(talk.say({ kind: 'message', text: 'more' })?.[0]).toBe(
    '{"type":"user","message":{"role":"user","content":[{"type":"text","text":"more"}]}}',
  );
});

it('refuses requests it does not serve, so that the agent does not wait', () => {
  const { send } = dialogue(planOf('claude')).line(
    json({ type: 'control_request', request_id: 'r1', request: { subtype: 'hook_callback' } }),
  );
  expect(send?.[0]).toContain('"subtype":"error"');
});

it('tells an interruption as one', () => {
  const talk = dialogue(planOf('claude'));
  expect(talk.say({ kind: 'interrupt' })?.[0]).toContain('"subtype":"interrupt"');
  talk.line(result({ subtype: 'error_during_execution', is_error: true }));
  expect(talk.end({ code: 1, signal: null }).outcome).toMatchObject({ code: 'ABORTED', limit: 'interrupted' });
});

it('attaches images and documents to the prompt', () => {
  const talk = dialogue(
    planOf(
      'claude',
      { prompt: ['look', 'well'] },
      {
        attachments: [
          attached('image', 'a.png'),
          attached('text', 'n.txt', 'hi'),
          attached('pdf', 'b.pdf'),
          { kind: 'pdf', mimeType: 'application/pdf', name: 'c', url: 'https://x.example/a.pdf' },
        ],
      },
    ),
  );
  expect(JSON.parse(talk.begin()[0] ?? '').message.content).toEqual([
    { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'QUJD' } },
    { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'hi' }, title: 'n.txt' },
    { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'QUJD' }, title: 'b.pdf' },
    { type: 'document', source: { type: 'url', url: 'https://x.example/a.pdf' } },
    { type: 'text', text: 'look\n\nwell' },
  ]);
});

it('is done after the answer to its last message, whether the message was read in the midst of the work or not', () => {
  const replay = (text: string): string =>
    json({ type: 'user', isReplay: true, message: { role: 'user', content: [{ type: 'text', text }] } });
  const done = (lines: readonly string[], talk = dialogue(planOf('claude'))): boolean[] => {
    talk.line(replay('say hello'));
    talk.say({ kind: 'steer', text: 'more' });
    return lines.map((line) => talk.line(line).done === true);
  };
  expect(done([result(), replay('more'), result()])).toEqual([false, false, true]);
  expect(done([replay('more'), result()])).toEqual([false, true]);
});

it('does not wait for a message of ours in a version that sends none back', () => {
  const talk = dialogue(planOf('claude'));
  talk.say({ kind: 'message', text: 'more' });
  expect(talk.line(result()).done).toBe(true);
});

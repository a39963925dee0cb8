import { expect, it } from 'vitest';
import { attached, GATEWAY, outline, planOf, told } from '../../../test/support/dialogue.ts';
import { dialogue } from './events.ts';

const json = (line: object): string => JSON.stringify(line);
const notice = (method: string, params: object): string => json({ method, params });
const item = (phase: 'started' | 'completed', body: object): string => notice(`item/${phase}`, { item: body });
const THREAD = json({ id: 'thread', result: { thread: { id: 't1' } } });
const TURN = notice('turn/started', { turn: { id: 'u1' } });
const DONE = notice('turn/completed', { turn: { id: 'u1', status: 'completed', error: null } });
const USED = notice('thread/tokenUsage/updated', {
  tokenUsage: { last: { inputTokens: 9, cachedInputTokens: 4, outputTokens: 3, reasoningOutputTokens: 1 } },
});

const play = (lines: readonly string[], options = {}, plan = {}) => told(dialogue(planOf('codex', options, plan)), lines);
const sentBy = (options: object, plan: object = {}) =>
  play([json({ id: 'initialize', result: {} }), THREAD], options, plan).sent.map((line) => JSON.parse(line));

it('shakes hands, opens a thread and begins a turn, each after the answer to the one before', () => {
  const sent = sentBy({});
  expect(sent.map(({ method }) => method)).toEqual(['initialize', 'initialized', 'thread/start', 'turn/start']);
  expect(sent[2].params).toEqual({ cwd: '/project', experimentalRawEvents: true, approvalPolicy: 'never', sandbox: 'read-only' });
  expect(sent[3].params).toEqual({ threadId: 't1', input: [{ type: 'text', text: 'say hello' }] });
});

it.each([
  [{ approvalMode: 'yolo' }, {}, { approvalPolicy: 'never', sandbox: 'danger-full-access' }],
  [{ approvalMode: 'deny' }, { answerable: true }, { approvalPolicy: 'never', sandbox: 'read-only' }],
  [{}, { answerable: true }, { approvalPolicy: 'untrusted', sandbox: 'danger-full-access' }],
])('turns %j %j into a policy and a sandbox', (options, plan, settings) => {
  expect(sentBy(options, plan)[2].params).toMatchObject(settings);
});

it.each([
  [{ sessionId: 's' }, 'thread/resume', { threadId: 's' }],
  [{ forkSessionId: 's' }, 'thread/fork', { threadId: 's' }],
  [{ noSession: true }, 'thread/start', { ephemeral: true }],
])('opens %j', (options, method, params) => {
  expect(sentBy(options)[2]).toMatchObject({ method, params });
});

it('tells instructions, servers and attachments in its first messages', () => {
  const sent = sentBy(
    {
      systemPrompt: 'S',
      systemPromptMode: 'replace',
      agentsDoc: 'D',
      outputFormat: 'json',
      mcpServers: [{ name: 'a', transport: 'stdio', command: 'node', env: { SECRET: 's3' } }],
      skills: ['/s/fruit', 'pdf'],
    },
    {
      gateway: GATEWAY,
      attachments: [attached('image', 'a.png'), { kind: 'image', mimeType: 'image/png', name: 'b', url: 'https://x.example/b.png' }],
    },
  );
  expect(sent[2].params).toMatchObject({
    model: 'default',
    baseInstructions: 'S',
    developerInstructions: 'D\n\nAnswer with one JSON object and nothing else: no prose, no code fence.',
    config: { 'mcp_servers.a': { command: 'node', args: [], env: { SECRET: 's3' } } },
  });
  expect(sent[3].params.input).toEqual([
    { type: 'localImage', path: '/run/attachments/a.png' },
    { type: 'image', url: 'https://x.example/b.png' },
    { type: 'skill', name: 'fruit', path: '/s/fruit/SKILL.md' },
    { type: 'text', text: 'say hello\n\n$pdf' },
  ]);
});

it('tells thinking and text in pieces, and each model call as a turn', () => {
  const { events, outcome, done } = play([
    THREAD,
    TURN,
    item('started', { type: 'userMessage', id: 'm0' }),
    item('started', { type: 'reasoning', id: 'r1' }),
    notice('item/reasoning/summaryTextDelta', { itemId: 'r1', delta: 'a' }),
    notice('item/reasoning/summaryPartAdded', { itemId: 'r1', summaryIndex: 1 }),
    notice('item/reasoning/summaryTextDelta', { itemId: 'r1', delta: 'b' }),
    item('completed', { type: 'reasoning', id: 'r1', summary: ['a', 'b'] }),
    USED,
    item('started', { type: 'agentMessage', id: 'm1', text: '' }),
    notice('item/agentMessage/delta', { itemId: 'm1', delta: 'hello' }),
    item('completed', { type: 'agentMessage', id: 'm1', text: 'hello' }),
    USED,
    DONE,
  ]);
  expect(events).toEqual([
    { type: 'session_start', sessionId: 't1', resumed: false },
    { type: 'turn_start', turnIndex: 0 },
    { type: 'thinking_start' },
    { type: 'thinking_delta', delta: 'a' },
    { type: 'thinking_delta', delta: '\n\n' },
    { type: 'thinking_delta', delta: 'b' },
    { type: 'thinking_stop', thinking: 'a\n\nb' },
    { type: 'token_usage', inputTokens: 9, outputTokens: 3, thinkingTokens: 1, cachedTokens: 4 },
    { type: 'turn_end', turnIndex: 0 },
    { type: 'turn_start', turnIndex: 1 },
    { type: 'message_start' },
    { type: 'text_delta', delta: 'hello' },
    { type: 'message_stop', text: 'hello' },
    { type: 'token_usage', inputTokens: 9, outputTokens: 3, thinkingTokens: 1, cachedTokens: 4 },
    { type: 'turn_end', turnIndex: 1 },
    { type: 'session_end', sessionId: 't1', turnCount: 2 },
  ]);
  expect(outcome).toEqual({ ok: true });
  expect(done).toBe(true);
});

it('tells whole messages of versions that send no pieces', () => {
  const { events } = play([THREAD, TURN, item('completed', { type: 'agentMessage', id: 'm1', text: 'hello' }), DONE]);
  expect(events).toContainEqual({ type: 'message_stop', text: 'hello' });
});

const COMMAND = { type: 'commandExecution', id: 'c1', command: 'ls', cwd: '/w', status: 'inProgress' };

it('tells a command with what it printed, live where nobody is asked', () => {
  const { events } = play([
    item('started', COMMAND),
    notice('item/commandExecution/outputDelta', { itemId: 'c1', delta: 'a\n' }),
    notice('item/commandExecution/outputDelta', { itemId: 'c1', delta: 'b\n' }),
    item('completed', { ...COMMAND, status: 'failed', aggregatedOutput: 'a\nb\nc\n', exitCode: 2, durationMs: 5 }),
  ]);
  expect(events.slice(1, -1)).toEqual([
    { type: 'tool_call_start', toolCallId: 'c1', toolName: 'shell' },
    { type: 'tool_call_ready', toolCallId: 'c1', toolName: 'shell', input: { command: 'ls', cwd: '/w' } },
    { type: 'shell_start', command: 'ls', cwd: '/w' },
    { type: 'shell_stdout_delta', delta: 'a\n' },
    { type: 'shell_stdout_delta', delta: 'b\n' },
    { type: 'shell_stdout_delta', delta: 'c\n' },
    { type: 'shell_exit', exitCode: 2, durationMs: 5 },
    { type: 'tool_error', toolCallId: 'c1', toolName: 'shell', error: 'a\nb\nc\n' },
  ]);
});

it('tells each file of a change', () => {
  const changes = [
    { path: '/a', kind: { type: 'add' }, diff: 'hi\n' },
    { path: '/b', kind: { type: 'update' }, diff: '-a\n+b\n' },
    { path: '/c', kind: { type: 'delete' }, diff: '' },
  ];
  const { events } = play([item('completed', { type: 'fileChange', id: 'c1', status: 'completed', changes })]);
  expect(events.filter(({ type }) => type.startsWith('file_'))).toEqual([
    { type: 'file_create', path: '/a', byteCount: 3 },
    { type: 'file_patch', path: '/b', diff: '-a\n+b\n' },
    { type: 'file_delete', path: '/c' },
  ]);
});

it('tells tools of MCP servers', () => {
  const body = { type: 'mcpToolCall', id: 'c1', server: 'probe', tool: 'echo', arguments: { a: 1 } };
  const result = { content: [{ type: 'text', text: 'ok' }] };
  const { events } = play([
    item('started', { ...body, status: 'inProgress' }),
    item('completed', { ...body, status: 'completed', result }),
  ]);
  expect(events).toContainEqual({ type: 'mcp_tool_result', toolCallId: 'c1', server: 'probe', toolName: 'echo', output: 'ok' });
});

const raw = (body: object): string => notice('rawResponseItem/completed', { item: body });
const CALL = raw({ type: 'function_call', call_id: 'c1', name: 'exec_command', arguments: '{"cmd":"touch a"}' });

it('tells a command that the sandbox ended before an item told of it', () => {
  const output = 'Chunk ID: 1\nProcess exited with code 1\nOutput:\nRead-only file system\n';
  const { events } = play([CALL, raw({ type: 'function_call_output', call_id: 'c1', output })]);
  expect(events).toContainEqual({ type: 'shell_start', command: 'touch a', cwd: '/project' });
  expect(events).toContainEqual(expect.objectContaining({ type: 'shell_exit', exitCode: 1 }));
  expect(events).toContainEqual({ type: 'tool_error', toolCallId: 'c1', toolName: 'shell', error: 'Read-only file system\n' });
});

it('tells a call once when an item tells of it too', () => {
  const { events } = play([
    CALL,
    item('started', COMMAND),
    item('completed', { ...COMMAND, status: 'completed', aggregatedOutput: 'x', exitCode: 0 }),
    raw({ type: 'function_call_output', call_id: 'c1', output: 'x' }),
  ]);
  expect(events.filter(({ type }) => type === 'tool_call_start')).toHaveLength(1);
  expect(events.filter(({ type }) => type === 'tool_result')).toHaveLength(1);
});

it.each([
  {
    method: 'item/commandExecution/requestApproval',
    params: { command: 'ls' },
    detail: 'ls',
    allowed: { decision: 'accept' },
    refused: { decision: 'decline' },
  },
  {
    method: 'item/permissions/requestApproval',
    params: { permissions: { net: true } },
    detail: '{"net":true}',
    allowed: { permissions: { net: true }, scope: 'turn' },
    refused: { permissions: {}, scope: 'turn' },
  },
  {
    method: 'mcpServer/elicitation/request',
    params: { serverName: 's', message: 'may I' },
    detail: 'may I',
    allowed: { action: 'accept', content: {}, _meta: null },
    refused: { action: 'decline', content: null, _meta: null },
  },
])('asks for $method and carries the answer', ({ method, params, detail, allowed, refused }) => {
  const talk = dialogue(planOf('codex', {}, { answerable: true }));
  const interactionId = `${method}#0`;
  const ask = (): unknown => talk.line(json({ id: 0, method, params })).events;
  expect(ask()).toEqual([expect.objectContaining({ type: 'approval_request', interactionId, detail })]);
  expect(talk.say({ kind: 'approve', interactionId })?.map((line) => JSON.parse(line))).toEqual([{ id: 0, result: allowed }]);
  expect(talk.say({ kind: 'approve', interactionId })).toBeUndefined();
  ask();
  expect(talk.say({ kind: 'deny', interactionId })?.map((line) => JSON.parse(line))).toEqual([{ id: 0, result: refused }]);
});

it('names the files of a change that waits for an approval', () => {
  const talk = dialogue(planOf('codex', {}, { answerable: true }));
  talk.line(item('started', { type: 'fileChange', id: 'c1', status: 'inProgress', changes: [{ path: '/a' }, { path: '/b' }] }));
  const { events } = talk.line(json({ id: 3, method: 'item/fileChange/requestApproval', params: { itemId: 'c1' } }));
  expect(events).toEqual([expect.objectContaining({ toolName: 'apply_patch', detail: '/a, /b' })]);
});

it('tells a call that was not allowed without effects', () => {
  const { events } = play([item('started', COMMAND), item('completed', { ...COMMAND, status: 'declined' })], {}, { answerable: true });
  expect(outline(events).slice(1, -1)).toEqual(['tool_call_start', 'tool_call_ready', 'tool_error']);
});

it('lets a text answer a question, else steers the turn', () => {
  const talk = dialogue(planOf('codex', {}, { answerable: true }));
  expect(talk.say({ kind: 'message', text: 'too early' })).toBeUndefined();
  talk.line(THREAD);
  talk.line(TURN);
  talk.line(json({ id: 5, method: 'item/tool/requestUserInput', params: { questions: [{ id: 'q', question: 'Which?' }] } }));
  expect(talk.say({ kind: 'message', text: 'blue' })).toEqual(['{"id":5,"result":{"answers":{"q":{"answers":["blue"]}}}}']);
  expect(talk.say({ kind: 'message', text: 'go on' })?.[0]).toContain(
    '"method":"turn/steer","params":{"threadId":"t1","expectedTurnId":"u1"',
  );
  expect(talk.say({ kind: 'interrupt' })?.[0]).toContain('"method":"turn/interrupt"');
});

it('refuses requests it does not serve, so that the agent does not wait', () => {
  expect(play([json({ id: 9, method: 'attestation/generate', params: {} })]).sent.at(-1)).toBe(
    '{"id":9,"error":{"code":-32601,"message":"attestation/generate is not served here"}}',
  );
});

const failed = (error: object): string => notice('turn/completed', { turn: { status: 'failed', error } });

it.each([
  [
    { message: 'no', codexErrorInfo: 'unauthorized' },
    { code: 'AUTH_ERROR', message: 'no' },
  ],
  [{ message: 'exceeded retry limit, last status: 429 Too Many Requests' }, { code: 'RATE_LIMITED' }],
  [{ message: 'x', codexErrorInfo: { responseTooManyFailedAttempts: { httpStatusCode: 429 } } }, { code: 'RATE_LIMITED' }],
  [{ message: 'full', codexErrorInfo: 'contextWindowExceeded' }, { code: 'CONTEXT_EXCEEDED' }],
  [{ message: '{"error":{"code":"E001","message":"no form"}}' }, { code: 'INTERNAL', message: 'no form' }],
])('reads the failure %j', (error, outcome) => {
  expect(play([THREAD, TURN, failed(error)]).outcome).toMatchObject({ ok: false, ...outcome });
});

it('tells retries', () => {
  const error = { message: 'Reconnecting... 2/5', additionalDetails: 'last status: 429', codexErrorInfo: null };
  expect(play([notice('error', { error, willRetry: true })]).events).toEqual([
    { type: 'rate_limited' },
    { type: 'retry', attempt: 2, maxAttempts: 5, reason: 'Reconnecting... 2/5: last status: 429', delayMs: 0 },
  ]);
});

it('ends when its thread cannot be opened', () => {
  const { outcome, done } = play([json({ id: 'thread', error: { code: -32600, message: 'no rollout found for thread id x' } })]);
  expect(outcome).toEqual({ ok: false, code: 'SESSION_NOT_FOUND', message: 'no rollout found for thread id x' });
  expect(done).toBe(true);
});

it('tells an interruption as one', () => {
  const { events, outcome } = play([THREAD, TURN, notice('turn/completed', { turn: { status: 'interrupted' } })]);
  expect(outline(events)).toContain('interrupted');
  expect(outcome).toEqual({ ok: false, code: 'ABORTED', message: 'the agent was interrupted', limit: 'interrupted' });
});

it('takes a message into the turn under way, and as a turn of its own when there is none', () => {
  const talk = dialogue(planOf('codex'));
  for (const line of [THREAD, TURN]) talk.line(line);
  expect(talk.say({ kind: 'steer', text: 'left' })?.[0]).toContain('"turn/steer"');
  talk.line(notice('turn/completed', { turn: { status: 'completed' } }));
  expect(talk.say({ kind: 'steer', text: 'left' })).toBeUndefined();
  expect(talk.say({ kind: 'message', text: 'more' })?.map((line) => JSON.parse(line))).toMatchObject([
    { method: 'turn/start', params: { input: [{ type: 'text', text: 'more' }] } },
  ]);
});

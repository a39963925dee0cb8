import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { outline, planOf, told } from '../../../../test/support/dialogue.ts';
import type { JsonObject } from '../../../base/json.ts';
import type { RunOptions } from '../../../contract/runs/run-options.ts';
import type { SpawnPlan } from '../../adapter.ts';
import { acpDialogue, acpMcpServers } from './dialogue.ts';
import { type AcpKind, toolNameInTitle } from './kind.ts';

const KIND: AcpKind = { voice: { guidance: 'log in', tools: { mcp: () => undefined } }, toolName: toolNameInTitle };

const answer = (id: number, result: JsonObject): string => JSON.stringify({ jsonrpc: '2.0', id, result });
const update = (told: JsonObject): string =>
  JSON.stringify({ jsonrpc: '2.0', method: 'session/update', params: { sessionId: 's1', update: told } });
const says = (text: string): string => update({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } });

const OPENING = [
  answer(0, { protocolVersion: 1, agentCapabilities: { sessionCapabilities: { resume: {} } } }),
  answer(1, { sessionId: 's1' }),
];
const END = answer(2, { stopReason: 'end_turn', usage: { inputTokens: 5, outputTokens: 2 } });

function talk(options: Partial<RunOptions> = {}, plan: Partial<SpawnPlan> = {}, kind: AcpKind = KIND) {
  return acpDialogue(kind, planOf('opencode', options, { answerable: true, ...plan }), { now: () => 0 });
}

/** The methods of what was sent. */
const methods = (sent: readonly string[]): unknown[] => sent.map((line) => JSON.parse(line).method);

describe('opening a session', () => {
  it('greets, opens a session and prompts', () => {
    const { sent, events, done, outcome } = told(talk(), [...OPENING, says('hel'), says('lo'), END]);
    expect(methods(sent)).toEqual(['initialize', 'session/new', 'session/prompt']);
    expect(JSON.parse(sent[2]!).params).toEqual({ sessionId: 's1', prompt: [{ type: 'text', text: 'say hello' }] });
    expect(events).toEqual([
      { type: 'session_start', sessionId: 's1', resumed: false },
      { type: 'turn_start', turnIndex: 0 },
      { type: 'message_start' },
      { type: 'text_delta', delta: 'hel' },
      { type: 'text_delta', delta: 'lo' },
      { type: 'message_stop', text: 'hello' },
      { type: 'token_usage', inputTokens: 5, outputTokens: 2 },
      { type: 'turn_end', turnIndex: 0 },
      { type: 'session_end', sessionId: 's1', turnCount: 1 },
    ]);
    expect(done).toBe(true);
    expect(outcome).toEqual({ ok: true });
  });

  it('logs in first where the agent wants it', () => {
    const { sent } = told(talk({}, {}, { ...KIND, authMethod: 'gemini-api-key' }), [answer(0, {}), answer(1, {})]);
    expect(methods(sent)).toEqual(['initialize', 'authenticate', 'session/new']);
  });

  it.each([
    [{ sessionId: 's1' }, { sessionCapabilities: { resume: {} } }, 'session/resume'],
    [{ sessionId: 's1' }, {}, 'session/load'],
    [{ forkSessionId: 's0' }, {}, 'session/fork'],
  ])('opens %j of an agent with %j by %s', (options, agentCapabilities, method) => {
    expect(methods(told(talk(options), [answer(0, { agentCapabilities })]).sent)[1]).toBe(method);
  });

  it('does not take the history of a session for the run', () => {
    const { events } = told(talk({ sessionId: 's1' }), [answer(0, {}), says('of old'), answer(1, {}), says('new')]);
    expect(events.filter(({ type }) => type === 'text_delta')).toEqual([{ type: 'text_delta', delta: 'new' }]);
  });

  it('sends settings before the prompt, and goes on when one is refused', () => {
    const configure = () => [{ method: 'session/set_model', params: { modelId: 'm' } }];
    const { sent, events, outcome } = told(talk({}, {}, { ...KIND, configure }), [
      ...OPENING,
      JSON.stringify({ id: 2, error: { code: -32602, message: 'Invalid params', data: { details: 'no such model' } } }),
      answer(3, { stopReason: 'end_turn' }),
    ]);
    expect(methods(sent)).toEqual(['initialize', 'session/new', 'session/set_model', 'session/prompt']);
    expect(events).toContainEqual({ type: 'error', code: 'INTERNAL', message: 'Invalid params: no such model', recoverable: true });
    expect(outcome).toEqual({ ok: true });
  });

  it('says what is missing when the agent is silent', () => {
    expect(told(talk({}, {}, { ...KIND, silence: 'it needs its acp extra' }), [], { code: 1, signal: null }).outcome.message).toBe(
      'it needs its acp extra',
    );
  });

  it('hands over MCP servers in the form of the protocol', () => {
    const mcpServers = [
      { name: 'a', transport: 'stdio', command: 'node', args: ['s.js'], env: { K: 'v' } },
      { name: 'b', transport: 'streamable-http', url: 'https://example.com/mcp' },
    ] as const;
    expect(acpMcpServers(planOf('hermes', { mcpServers: [...mcpServers.map((server) => ({ ...server }))] as never }))).toEqual([
      { name: 'a', command: 'node', args: ['s.js'], env: [{ name: 'K', value: 'v' }] },
      { type: 'http', name: 'b', url: 'https://example.com/mcp', headers: [] },
    ]);
  });
});

describe('tools', () => {
  const CALL = { toolCallId: 't1', title: 'write', kind: 'edit', status: 'pending', rawInput: {} };
  const WRITE = { filePath: '/a', content: 'ab' };

  it('are told over several updates', () => {
    const { events } = told(talk(), [
      ...OPENING,
      update({ sessionUpdate: 'tool_call', ...CALL }),
      update({ sessionUpdate: 'tool_call_update', toolCallId: 't1', status: 'in_progress', rawInput: WRITE }),
      update({
        sessionUpdate: 'tool_call_update',
        toolCallId: 't1',
        status: 'completed',
        title: 'a',
        rawOutput: { output: 'Wrote.', metadata: { exists: false } },
      }),
      says('done'),
      END,
    ]);
    expect(outline(events)).toEqual([
      'session_start',
      'turn_start',
      'tool_call_start',
      'tool_call_ready',
      'file_create',
      'tool_result',
      'turn_end',
      'turn_start',
      'message_start',
      'message_stop',
      'token_usage',
      'turn_end',
      'session_end',
    ]);
    expect(events).toContainEqual({ type: 'tool_result', toolCallId: 't1', toolName: 'write', output: 'Wrote.', durationMs: 0 });
  });

  it('show a command in the title where there is no input', () => {
    const call = { sessionUpdate: 'tool_call', toolCallId: 't1', title: 'terminal: echo hi', kind: 'execute', status: 'in_progress' };
    expect(told(talk(), [...OPENING, update(call)]).events).toContainEqual({ type: 'shell_start', command: 'echo hi', cwd: '/project' });
  });

  it('whose end is never told are over when the model goes on', () => {
    const lines = [...OPENING, update({ sessionUpdate: 'tool_call', ...CALL, rawInput: WRITE }), says('done'), END];
    expect(outline(told(talk({}, {}, { ...KIND, untoldEnds: true }), lines).events)).toContain('tool_result');
    expect(outline(told(talk(), lines).events)).not.toContain('tool_result');
  });
});

describe('questions', () => {
  const ASK = JSON.stringify({
    jsonrpc: '2.0',
    id: 7,
    method: 'session/request_permission',
    params: {
      toolCall: { toolCallId: 't1', title: 'write: /a', kind: 'edit', rawInput: { path: '/a' } },
      options: [
        { optionId: 'always', kind: 'allow_always' },
        { optionId: 'once', kind: 'allow_once' },
        { optionId: 'no', kind: 'reject_once' },
      ],
    },
  });
  const reply = (optionId: string): string =>
    `{"jsonrpc":"2.0","id":7,"result":{"outcome":{"outcome":"selected","optionId":"${optionId}"}}}`;

  it('go to the caller, and the answer goes back', () => {
    const dialogue = talk({ approvalMode: 'prompt' });
    expect(dialogue.line(ASK).events).toEqual([
      {
        type: 'approval_request',
        interactionId: 'permission-7',
        action: 'write: /a',
        detail: '{"path":"/a"}',
        toolName: 'write',
        toolCallId: 't1',
        riskLevel: 'medium',
      },
    ]);
    expect(dialogue.say({ kind: 'approve', interactionId: 'permission-7' })).toEqual([reply('once')]);
    expect(dialogue.say({ kind: 'deny', interactionId: 'permission-7' })).toBeUndefined();
  });

  it('are answered by the mode where nobody else can', () => {
    expect(talk({ approvalMode: 'yolo' }).line(ASK)).toEqual({ events: [], send: [reply('once')] });
    const denied = talk({ approvalMode: 'prompt' }, { answerable: false }).line(ASK);
    expect(denied.send).toEqual([reply('no')]);
    expect(outline(denied.events)).toEqual(['approval_request', 'approval_denied']);
  });

  it('for what this client does not have are refused', () => {
    expect(talk().line('{"id":3,"method":"terminal/create","params":{}}').send).toEqual([
      '{"jsonrpc":"2.0","id":3,"error":{"code":-32601,"message":"this client has no terminal/create"}}',
    ]);
    expect(talk().line('{"id":3,"method":"fs/write_text_file","params":{}}').send).toEqual(['{"jsonrpc":"2.0","id":3,"result":{}}']);
  });
});

describe('the end', () => {
  it.each([
    [answer(2, { stopReason: 'refusal' }), 'the model refused to answer'],
    ['{"id":2,"error":{"code":-32603,"message":"Internal error: it broke"}}', 'Internal error: it broke'],
  ])('%s is a failure', (line, message) => {
    const { outcome, done } = told(talk(), [...OPENING, line]);
    expect(outcome).toEqual({ ok: false, code: 'INTERNAL', message });
    expect(done).toBe(true);
  });

  it.each([
    ['cancelled', { type: 'interrupted' }, 'interrupted'],
    ['max_turn_requests', { type: 'turn_limit', maxTurns: 0 }, 'turn_limit'],
  ])('at %s is a limit of the run', (stopReason, event, limit) => {
    const { events, outcome } = told(talk(), [...OPENING, answer(2, { stopReason })]);
    expect(events).toContainEqual(event);
    expect(outcome).toMatchObject({ ok: false, code: 'ABORTED', limit });
  });

  it('may be told as an answer', () => {
    const kind: AcpKind = { ...KIND, failureIn: (text) => /^API call failed: (.*)/.exec(text)?.[1] };
    expect(told(talk({}, {}, kind), [...OPENING, says('API call failed: HTTP 429: slow'), END]).outcome).toEqual({
      ok: false,
      code: 'RATE_LIMITED',
      message: 'HTTP 429: slow',
    });
  });

  it('waits while the caller has more to say', () => {
    const dialogue = talk();
    dialogue.begin();
    for (const line of OPENING) dialogue.line(line);
    expect(dialogue.say({ kind: 'message', text: 'and then?' })).toEqual([]);
    const next = dialogue.line(END);
    expect(next.done).toBeUndefined();
    expect(JSON.parse(next.send![0]!)).toMatchObject({
      method: 'session/prompt',
      params: { prompt: [{ type: 'text', text: 'and then?' }] },
    });
    expect(dialogue.line(answer(3, { stopReason: 'end_turn' })).done).toBe(true);
  });

  it('comes early when the caller interrupts', () => {
    expect(methods(talk().say({ kind: 'interrupt' }) ?? [])).toEqual(['session/cancel']);
  });

  it('counts what the session has cost, and warns of a full context', () => {
    const usage = { sessionUpdate: 'usage_update', used: 95, size: 100, cost: { amount: 0.5, currency: 'USD' } };
    const { events } = told(talk(), [...OPENING, says('hi'), update(usage), END]);
    expect(events).toContainEqual({ type: 'context_limit_warning', usedTokens: 95, maxTokens: 100, pctUsed: 95 });
    expect(events).toContainEqual({ type: 'cost', cost: { totalUsd: 0.5, inputTokens: 5, outputTokens: 2 } });
  });
});

it('never throws, whatever the agent writes', () => {
  const line = fc.record({
    id: fc.option(fc.nat(3)),
    method: fc.constantFrom(undefined, 'session/update', 'session/request_permission'),
    params: fc.jsonValue(),
    result: fc.jsonValue(),
  });
  fc.assert(
    fc.property(
      fc.array(line, { maxLength: 6 }),
      (lines) =>
        void told(
          talk(),
          lines.map((value) => JSON.stringify(value)),
        ),
    ),
  );
});

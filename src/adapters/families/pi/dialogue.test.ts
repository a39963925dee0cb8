import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { attached, outline, planOf, told } from '../../../../test/support/dialogue.ts';
import { type PiVoice, piDialogue } from './dialogue.ts';
import { GATE_TITLE, HOOK_TITLE, REFUSED } from './extension.ts';

const VOICE: PiVoice = {
  tools: { mcp: () => undefined, effects: { bash: { does: 'shell', command: ['command'] } } },
  guidance: 'log in',
  lastLine: () => 'agent_settled',
};

const lines = (...values: readonly object[]): string[] => values.map((value) => JSON.stringify(value));
const update = (assistantMessageEvent: object): object => ({ type: 'message_update', assistantMessageEvent });
const assistant = (message: object): object => ({ role: 'assistant', content: [], usage: {}, stopReason: 'stop', ...message });
const END = [{ type: 'agent_end', messages: [], willRetry: false }, { type: 'agent_settled' }];

const oneShot = () => piDialogue(VOICE, planOf('pi'), { now: () => 0 });
const talking = () => piDialogue(VOICE, planOf('pi', { approvalMode: 'prompt' }, { answerable: true }), { now: () => 0 });

describe('a one-shot run', () => {
  it('tells an answer that comes in pieces once', () => {
    const { events, outcome, sent } = told(
      oneShot(),
      lines(
        { type: 'session', id: 's1', cwd: '/project' },
        { type: 'turn_start' },
        { type: 'message_start', message: assistant({}) },
        update({ type: 'text_start', contentIndex: 0 }),
        update({ type: 'text_delta', contentIndex: 0, delta: 'hel' }),
        update({ type: 'text_delta', contentIndex: 0, delta: 'lo' }),
        update({ type: 'text_end', contentIndex: 0, content: 'hello' }),
        {
          type: 'message_end',
          message: assistant({
            content: [{ type: 'text', text: 'hello' }],
            usage: { input: 5, output: 2, cacheRead: 1, cost: { total: 0.5 } },
          }),
        },
        { type: 'turn_end' },
        ...END,
      ),
    );
    const cost = { totalUsd: 0.5, inputTokens: 5, outputTokens: 2, cachedTokens: 1, cacheReadTokens: 1, cacheCreationTokens: 0 };
    expect(events).toEqual([
      { type: 'session_start', sessionId: 's1', resumed: false },
      { type: 'turn_start', turnIndex: 0 },
      { type: 'message_start' },
      { type: 'text_delta', delta: 'hel' },
      { type: 'text_delta', delta: 'lo' },
      { type: 'message_stop', text: 'hello' },
      { type: 'token_usage', inputTokens: 5, outputTokens: 2, cachedTokens: 1 },
      { type: 'cost', cost },
      { type: 'turn_end', turnIndex: 0, cost },
      { type: 'session_end', sessionId: 's1', turnCount: 1, cost },
    ]);
    expect(outcome).toEqual({ ok: true });
    expect(sent).toEqual([]);
  });

  it('tells an answer that comes whole', () => {
    const message = assistant({
      content: [
        { type: 'thinking', thinking: 'hm' },
        { type: 'text', text: 'hello' },
      ],
    });
    const { events } = told(oneShot(), lines({ type: 'message_start', message: assistant({}) }, { type: 'message_end', message }, ...END));
    expect(outline(events)).toEqual(['thinking_start', 'thinking_stop', 'message_start', 'message_stop']);
  });

  it('takes the name of a call from whichever version tells it', () => {
    const partial = { content: [{ type: 'toolCall', id: 'c2', name: 'bash' }] };
    const starts = [
      [update({ type: 'toolcall_start', contentIndex: 0, id: 'c1', toolName: 'bash' })],
      [update({ type: 'toolcall_start', contentIndex: 0, partial })],
      [
        update({ type: 'toolcall_start', contentIndex: 0 }),
        update({ type: 'toolcall_end', contentIndex: 0, toolCall: { id: 'c3', name: 'bash', arguments: {} } }),
      ],
    ];
    expect(starts.map((start) => outline(told(oneShot(), lines(...start)).events))).toEqual([
      ['tool_call_start'],
      ['tool_call_start'],
      ['stream_fallback', 'tool_call_start', 'tool_call_ready'],
    ]);
  });

  it('tells the exit code of a command that failed', () => {
    const call = { toolCallId: 'c1', toolName: 'bash' };
    const result = { content: [{ type: 'text', text: 'no\n\nCommand exited with code 3' }] };
    const { events } = told(
      oneShot(),
      lines(
        { type: 'tool_execution_start', ...call, args: { command: 'false' } },
        { type: 'tool_execution_update', ...call, partialResult: { content: [{ type: 'text', text: 'no' }] } },
        { type: 'tool_execution_end', ...call, result, isError: true },
      ),
    );
    expect(events).toContainEqual({ type: 'shell_start', command: 'false', cwd: '/project' });
    expect(events).toContainEqual({ type: 'shell_stdout_delta', delta: 'no' });
    expect(events).toContainEqual({ type: 'shell_exit', exitCode: 3, durationMs: 0 });
  });

  it('tells a refusal of the gate as one', () => {
    const result = { content: [{ type: 'text', text: REFUSED }] };
    const { events } = told(oneShot(), lines({ type: 'tool_execution_end', toolCallId: 'c1', toolName: 'write', result, isError: true }));
    expect(events).toContainEqual({ type: 'approval_denied', interactionId: 'c1', reason: REFUSED });
  });

  it('tells a retry, and does the turn again under the same number', () => {
    const failed = { type: 'message_end', message: assistant({ stopReason: 'error', errorMessage: '429: slow' }) };
    const { events, outcome } = told(
      oneShot(),
      lines(
        { type: 'turn_start' },
        failed,
        { type: 'turn_end' },
        { type: 'auto_retry_start', attempt: 1, maxAttempts: 3, delayMs: 2000, errorMessage: '429: slow' },
        { type: 'turn_start' },
        { type: 'message_end', message: assistant({}) },
        { type: 'turn_end' },
        ...END,
      ),
    );
    expect(events).toEqual([
      { type: 'turn_start', turnIndex: 0 },
      { type: 'turn_end', turnIndex: 0 },
      { type: 'rate_limited', retryAfterMs: 2000 },
      { type: 'retry', attempt: 1, maxAttempts: 3, reason: '429: slow', delayMs: 2000 },
      { type: 'turn_start', turnIndex: 0 },
      { type: 'turn_end', turnIndex: 0 },
    ]);
    expect(outcome).toEqual({ ok: true });
  });

  it('fails although the process exits with 0', () => {
    const failed = { type: 'message_end', message: assistant({ stopReason: 'error', errorMessage: '429: slow' }) };
    expect(told(oneShot(), lines(failed, ...END)).outcome).toEqual({ ok: false, code: 'RATE_LIMITED', message: '429: slow' });
  });

  it('has crashed when it ends without an end', () => {
    expect(told(oneShot(), lines({ type: 'agent_start' }), { code: null, signal: 'SIGKILL' }).outcome).toEqual({
      ok: false,
      code: 'AGENT_CRASH',
      message: 'the agent ended before it answered (SIGKILL)',
    });
  });

  it('has done what was asked where a command was all the prompt was, which begins no run', () => {
    const session = lines({ type: 'session', id: 's1', cwd: '/project' });
    expect(told(oneShot(), session).outcome).toEqual({ ok: true });
    expect(told(oneShot(), session, { code: 1, signal: null }).outcome).toMatchObject({ ok: false, code: 'AGENT_CRASH' });
    expect(told(oneShot(), [...session, '{"type":"agent_start"}']).outcome).toMatchObject({ ok: false, code: 'AGENT_CRASH' });
    expect(told(oneShot(), []).outcome).toMatchObject({ ok: false, code: 'AGENT_CRASH' });
  });

  it('keeps lines it does not know and never throws, also on half of one', () => {
    expect(told(oneShot(), ['{"type":"brand_new"}', '{"type":"mess']).events).toEqual([
      { type: 'log', source: 'stdout', line: '{"type":"brand_new"}' },
      { type: 'log', source: 'stdout', line: '{"type":"mess' },
    ]);
    const types = fc.constantFrom(
      'session',
      'message_end',
      'message_update',
      'tool_execution_end',
      'auto_retry_start',
      'response',
      '__proto__',
    );
    fc.assert(
      fc.property(
        types,
        fc.dictionary(fc.string(), fc.jsonValue()),
        (type, rest) => void told(oneShot(), [JSON.stringify({ ...rest, type })]),
      ),
    );
  });

  it('cannot be told anything', () => {
    expect(oneShot().say({ kind: 'message', text: 'stop' })).toBeUndefined();
  });
});

describe('a run over standard input', () => {
  it('asks for the session and sends the prompt', () => {
    const { sent, events, done } = told(
      talking(),
      lines(
        { type: 'response', command: 'get_state', success: true, data: { sessionId: 's1' } },
        { type: 'agent_end' },
        { type: 'agent_settled' },
      ),
    );
    expect(sent).toEqual(['{"id":"state","type":"get_state"}', '{"id":"prompt","type":"prompt","message":"say hello"}']);
    expect(outline(events)).toEqual(['session_start', 'session_end']);
    expect(done).toBe(true);
  });

  it('sends images with the prompt', () => {
    const plan = planOf('pi', { nonInteractive: false }, { attachments: [attached('image', 'a.png')] });
    expect(piDialogue(VOICE, plan).begin()[1]).toBe(
      '{"id":"prompt","type":"prompt","message":"say hello","images":[{"type":"image","data":"QUJD","mimeType":"image/png"}]}',
    );
  });

  it('is not done while a retry is to come', () => {
    const dialogue = piDialogue({ ...VOICE, lastLine: () => 'agent_end' }, planOf('pi', {}, { answerable: true }));
    expect(dialogue.line('{"type":"agent_end","willRetry":true}')).toEqual({ events: [] });
    expect(dialogue.line('{"type":"agent_end"}')).toEqual({ events: [], done: true });
  });

  it('ends when the prompt is refused', () => {
    const refused = { type: 'response', id: 'prompt', command: 'prompt', success: false, error: 'No API key for provider' };
    const { outcome, done } = told(talking(), lines(refused));
    expect(done).toBe(true);
    expect(outcome).toEqual({ ok: false, code: 'AUTH_ERROR', message: 'prompt: No API key for provider' });
  });

  const taken = (data?: object) => ({ type: 'response', id: 'prompt', command: 'prompt', success: true, ...(data && { data }) });
  const notify = { type: 'extension_ui_request', id: 'n1', method: 'notify', message: 'No MCP servers configured.', notifyType: 'info' };

  it.each([
    ['pi', notify, { disposition: 'handled' }],
    ['omp', { type: 'command_output', text: 'No MCP servers configured.' }, { agentInvoked: false }],
  ])('ends when a command of %s was all the prompt was, with what it said', (_agent, said, data) => {
    const { events, outcome, done } = told(talking(), lines(said, taken(data)));
    expect(events).toEqual([{ type: 'log', source: 'stdout', line: 'No MCP servers configured.' }]);
    expect([done, outcome]).toEqual([true, { ok: true }]);
    expect(told(talking(), lines({ type: 'agent_start' }, taken(data))).done).toBe(false);
  });

  it.each([[undefined], [{ disposition: 'started' }], [{ disposition: 'queued' }], [{ agentInvoked: true }]])(
    'waits for the run that follows where the answer to the prompt says %j',
    (data) => {
      expect(told(talking(), lines(taken(data))).done).toBe(false);
    },
  );

  it('asks for an approval and carries the answer', () => {
    const dialogue = talking();
    const message = JSON.stringify({ toolCallId: 'c1', toolName: 'bash', input: { command: 'ls' } });
    const request = { type: 'extension_ui_request', id: 'q1', method: 'confirm', title: GATE_TITLE, message };
    expect(dialogue.line(JSON.stringify(request)).events).toEqual([
      {
        type: 'approval_request',
        interactionId: 'q1',
        action: 'bash',
        detail: '{"command":"ls"}',
        toolName: 'bash',
        toolCallId: 'c1',
        riskLevel: 'high',
      },
    ]);
    expect(dialogue.say({ kind: 'approve', interactionId: 'q1' })).toEqual(['{"type":"extension_ui_response","id":"q1","confirmed":true}']);
    expect(dialogue.say({ kind: 'approve', interactionId: 'q1' })).toBeUndefined();
    dialogue.line(JSON.stringify({ ...request, id: 'q2' }));
    expect(dialogue.say({ kind: 'deny', interactionId: 'q2' })).toEqual(['{"type":"extension_ui_response","id":"q2","confirmed":false}']);
  });

  it('waits for a hook and carries what it says', () => {
    const dialogue = piDialogue(VOICE, planOf('pi', { approvalMode: 'yolo' }, { watched: true }));
    const placeholder = JSON.stringify({ toolCallId: 'c1', toolName: 'bash', input: { command: 'ls' } });
    const request = { type: 'extension_ui_request', id: 'w1', method: 'input', title: HOOK_TITLE, placeholder };
    expect(dialogue.line(JSON.stringify(request))).toEqual({
      events: [],
      waiting: [{ waitId: 'w1', toolCallId: 'c1', toolName: 'bash', input: { command: 'ls' } }],
    });
    expect(dialogue.say({ kind: 'let', waitId: 'w1' })).toEqual(['{"type":"extension_ui_response","id":"w1","value":"abp-let"}']);
    expect(dialogue.say({ kind: 'stop', waitId: 'w2', reason: 'no' })).toEqual(['{"type":"extension_ui_response","id":"w2","value":"no"}']);
    expect(dialogue.say({ kind: 'let', waitId: 'w3', input: {} })).toBeUndefined();
  });

  it('answers a question of another extension with a text', () => {
    const dialogue = talking();
    const request = { type: 'extension_ui_request', id: 'q1', method: 'select', title: 'Which?', options: ['a', 'b'] };
    expect(dialogue.line(JSON.stringify(request)).events).toEqual([
      { type: 'input_required', interactionId: 'q1', question: 'Which?', context: 'a, b', source: 'tool' },
    ]);
    expect(dialogue.say({ kind: 'message', text: 'b' })).toEqual(['{"type":"extension_ui_response","id":"q1","value":"b"}']);
    expect(dialogue.say({ kind: 'message', text: 'hurry' })).toEqual([
      '{"id":"message","type":"prompt","message":"hurry","streamingBehavior":"steer"}',
    ]);
  });

  it('can be interrupted', () => {
    expect(talking().say({ kind: 'interrupt' })).toEqual(['{"type":"abort"}']);
  });
});

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { GATEWAY, outline, planOf } from '../../../test/support/dialogue.ts';
import type { EventDraft, SpawnPlan } from '../adapter.ts';
import { dialogue } from './events.ts';
import { spawn as specOf } from './spawn.ts';

const FAKE = fileURLToPath(new URL('../../../test/support/agents/hermes.ts', import.meta.url));

/** Runs the fake agent and answers its questions. */
async function run(plan: SpawnPlan, answer: 'approve' | 'deny' = 'approve') {
  const child = spawn(process.execPath, [FAKE, ...specOf(plan).args], { stdio: ['pipe', 'pipe', 'inherit'] });
  const talk = dialogue(plan, { now: () => 0 });
  const events: EventDraft[] = [];
  const write = (lines: readonly string[] = []): void => lines.forEach((line) => void child.stdin.write(`${line}\n`));
  write(talk.begin());
  createInterface(child.stdout).on('line', (line) => {
    const heard = talk.line(line);
    events.push(...heard.events);
    write(heard.send);
    for (const event of heard.events) {
      if (event.type === 'approval_request') write(talk.say({ kind: answer, interactionId: event.interactionId }));
    }
    if (heard.done === true) child.stdin.end();
  });
  const [code, signal] = await once(child, 'close');
  const end = talk.end({ code, signal });
  return { events: [...events, ...end.events], outcome: end.outcome };
}

it('answers a prompt', async () => {
  const { events, outcome } = await run(planOf('hermes'));
  expect(outcome).toEqual({ ok: true });
  expect(events).toContainEqual({ type: 'message_stop', text: 'heard: say hello' });
});

it.each([
  ['approve', 'tool_result', 'written'],
  ['deny', 'tool_error', 'not written'],
] as const)('asks before an edit: %s', async (answer, type, text) => {
  const { events } = await run(planOf('hermes', { prompt: 'write', approvalMode: 'prompt' }, { answerable: true }), answer);
  expect(outline(events)).toEqual([
    'session_start',
    'turn_start',
    'tool_call_start',
    'tool_call_ready',
    'approval_request',
    type,
    'turn_end',
    'turn_start',
    'message_start',
    'message_stop',
    'token_usage',
    'turn_end',
    'session_end',
  ]);
  expect(events).toContainEqual({ type: 'message_stop', text });
});

it('takes a failure for one, although the agent tells it as its answer', async () => {
  expect((await run(planOf('hermes', { prompt: 'fail' }))).outcome).toEqual({ ok: false, code: 'RATE_LIMITED', message: 'HTTP 429: slow' });
});

it('moves a resumed session to the address of the run', () => {
  const talk = dialogue(planOf('hermes', { sessionId: 's1' }, { gateway: GATEWAY, modelId: 'm' }));
  talk.begin();
  talk.line('{"id":0,"result":{"agentCapabilities":{"sessionCapabilities":{"resume":{}}}}}');
  expect(talk.line('{"id":1,"result":{}}').send?.[0]).toBe(
    '{"jsonrpc":"2.0","id":2,"method":"session/set_model","params":{"sessionId":"s1","modelId":"custom:abp:m"}}',
  );
});

it('knows the server in the name of a tool', () => {
  const talk = dialogue(planOf('hermes'));
  talk.begin();
  talk.line('{"id":0,"result":{}}');
  talk.line('{"id":1,"result":{"sessionId":"s1"}}');
  const update = {
    sessionUpdate: 'tool_call',
    toolCallId: 't1',
    title: 'mcp__my_server__echo',
    status: 'in_progress',
    rawInput: { text: 'hi' },
  };
  expect(talk.line(JSON.stringify({ method: 'session/update', params: { update } })).events).toContainEqual({
    type: 'mcp_tool_call_start',
    toolCallId: 't1',
    server: 'my_server',
    toolName: 'echo',
    input: { text: 'hi' },
  });
});

it('says what is missing when the agent cannot speak', () => {
  expect(dialogue(planOf('hermes')).end({ code: 1, signal: null }).outcome.message).toBe(
    'hermes could not speak ACP; it needs its acp extra: pip install "hermes-agent[acp]"',
  );
});

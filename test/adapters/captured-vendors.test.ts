import { describe, expect, it } from 'vitest';
import type { Dialogue, SpawnPlan } from '../../src/adapters/adapter.ts';
import { dialogue as claude } from '../../src/adapters/claude/events.ts';
import { dialogue as codex } from '../../src/adapters/codex/events.ts';
import { dialogue as copilot } from '../../src/adapters/copilot/events.ts';
import { dialogue as gemini } from '../../src/adapters/gemini/events.ts';
import { parseJsonObject } from '../../src/base/json.ts';
import { captured, hasCaptures, NO_CAPTURES } from '../support/captures.ts';
import { outline, planOf, told } from '../support/dialogue.ts';
import { needing } from '../support/needs.ts';

const DIALOGUES: Readonly<Record<string, (plan: SpawnPlan) => Dialogue>> = { claude, codex, gemini, copilot };

function play(capture: string, lines = captured(capture)) {
  const [agent = ''] = capture.split('.');
  return told(DIALOGUES[agent]!(planOf(agent, { approvalMode: 'yolo' })), lines);
}

/** What the agent wrote in a capture of both directions. */
function fromAgent(capture: string): string[] {
  return captured(capture)
    .map(parseJsonObject)
    .flatMap((line) => (line?.dir === 'out' ? [JSON.stringify(line.o)] : []));
}

describe.skipIf(!hasCaptures)(needing('what the agents of the vendors have printed', hasCaptures ? undefined : NO_CAPTURES), () => {
  it.each(['claude.hello', 'claude.partial', 'gemini.hello', 'gemini.r1', 'gemini.r2', 'copilot.hello', 'copilot.r1', 'copilot.r2'])(
    '%s is one answer, and every line of it is understood',
    (capture) => {
      const { events, outcome } = play(capture);
      expect(outcome).toEqual({ ok: true });
      expect(events.filter(({ type }) => type === 'log')).toEqual([]);
      expect(events.filter(({ type }) => type === 'message_stop')).toEqual([{ type: 'message_stop', text: 'hello from mock' }]);
      expect(events.filter(({ type }) => type === 'session_start')).toHaveLength(1);
    },
  );

  it.each([
    ['claude.tool', 'file_create'],
    ['gemini.tool', 'file_write'],
    ['copilot.tool', 'file_create'],
  ])('%s writes a file and then answers', (capture, effect) => {
    const { events, outcome } = play(capture);
    expect(outcome).toEqual({ ok: true });
    expect(events.filter(({ type }) => type === 'log')).toEqual([]);
    expect(outline(events).filter((type) => type.startsWith('tool_') || type.startsWith('file_'))).toEqual([
      'tool_call_start',
      'tool_call_ready',
      effect,
      'tool_result',
    ]);
    expect(events.filter(({ type }) => type === 'turn_start')).toHaveLength(2);
  });

  it.each(['claude.err401', 'gemini.err401', 'copilot.err401'])('%s is a refused key', (capture) => {
    const { events, outcome } = play(capture);
    expect(outcome).toMatchObject({ ok: false, code: 'AUTH_ERROR' });
    expect(outline(events)).toContain('auth_error');
    expect(outline(events)).not.toContain('message_start');
  });

  it('claude prints what it cost', () => {
    expect(play('claude.tool').events.findLast(({ type }) => type === 'cost')).toMatchObject({
      cost: { totalUsd: 0.0015800000000000002, inputTokens: 300, outputTokens: 14, cachedTokens: 60 },
    });
  });

  it('claude asks over its control protocol and takes a second message', () => {
    const { events, outcome, done } = play('claude', fromAgent('claude.control'));
    expect(outcome).toEqual({ ok: true });
    expect(done).toBe(true);
    expect(outline(events).filter((type) => type === 'approval_request' || type === 'file_create')).toEqual([
      'approval_request',
      'file_create',
    ]);
    expect(events.filter(({ type }) => type === 'turn_start')).toHaveLength(3);
  });

  it('codex asks over its app server, runs and answers', () => {
    const talk = codex(planOf('codex', {}, { answerable: true }));
    // In the capture our requests have other ids.
    const lines = fromAgent('codex.appserver').map((line) =>
      line.replace(/^\{"id":0,"result"/, '{"id":"initialize","result"').replace(/^\{"id":1,/, '{"id":"thread",'),
    );
    const { events, outcome, done } = told(talk, lines);
    expect(outcome).toEqual({ ok: true });
    expect(done).toBe(true);
    expect(events.filter(({ type }) => type === 'log')).toEqual([]);
    expect(outline(events).filter((type) => type !== 'debug')).toEqual([
      'session_start',
      'turn_start',
      'thinking_start',
      'thinking_stop',
      'tool_call_start',
      'tool_call_ready',
      'approval_request',
      'shell_start',
      'shell_exit',
      'tool_result',
      'token_usage',
      'turn_end',
      'turn_start',
      'thinking_start',
      'thinking_stop',
      'message_start',
      'message_stop',
      'token_usage',
      'turn_end',
      'session_end',
    ]);
  });
});

import { describe, expect, it } from 'vitest';
import type { Dialogue, SpawnPlan } from '../../src/adapters/adapter.ts';
import { dialogue as omp } from '../../src/adapters/omp/events.ts';
import { dialogue as openclaw } from '../../src/adapters/openclaw/events.ts';
import { dialogue as opencode } from '../../src/adapters/opencode/events.ts';
import { dialogue as pi } from '../../src/adapters/pi/events.ts';
import { parseJsonObject } from '../../src/base/json.ts';
import { captured, hasCaptures, NO_CAPTURES } from '../support/captures.ts';
import { outline, planOf, told } from '../support/dialogue.ts';
import { needing } from '../support/needs.ts';

const DIALOGUES: Readonly<Record<string, (plan: SpawnPlan) => Dialogue>> = { pi, omp, opencode, openclaw };

function play(capture: string, plan: Partial<SpawnPlan> = {}) {
  const [agent = ''] = capture.split('.');
  return told(DIALOGUES[agent]!(planOf(agent, {}, plan)), captured(capture));
}

/** What the agent wrote in a capture of both directions. */
function fromAgent(capture: string): string[] {
  return captured(capture)
    .map(parseJsonObject)
    .flatMap((line) => (line?.dir === 'a2c' ? [JSON.stringify(line.msg)] : []));
}

describe.skipIf(!hasCaptures)(needing('what the real agents have printed', hasCaptures ? undefined : NO_CAPTURES), () => {
  it.each([
    'pi.hello',
    'pi.r1',
    'pi.r2',
    'pi.th',
    'omp.hello',
    'omp.th',
    'opencode.hello',
    'opencode.r1',
    'opencode.r2',
    'opencode.th',
    'openclaw.th',
  ])('%s is one answer, and every line of it is understood', (capture) => {
    const { events, outcome } = play(capture);
    expect(outcome).toEqual({ ok: true });
    expect(events.filter(({ type }) => type === 'log')).toEqual([]);
    expect(events.filter(({ type }) => type === 'message_stop')).toEqual([{ type: 'message_stop', text: 'hello from mock' }]);
    expect(events.filter(({ type }) => type === 'session_start')).toHaveLength(1);
    expect(events.some(({ type }) => type === 'token_usage')).toBe(true);
  });

  it.each(['pi.tool', 'omp.tool', 'opencode.tool'])('%s writes a file and then answers', (capture) => {
    const { events, outcome } = play(capture);
    expect(outcome).toEqual({ ok: true });
    expect(events.filter(({ type }) => type === 'log')).toEqual([]);
    expect(outline(events).filter((type) => type.startsWith('tool_') || type.startsWith('file_'))).toEqual([
      'tool_call_start',
      'tool_call_ready',
      capture === 'opencode.tool' ? 'file_create' : 'file_write',
      'tool_result',
    ]);
    expect(events.filter(({ type }) => type === 'turn_start')).toHaveLength(2);
    expect(events.findLast(({ type }) => type === 'message_stop')).toEqual({ type: 'message_stop', text: 'hello from mock' });
  });

  it('pi tells a refused key in a message and exits with 0', () => {
    const { events, outcome } = play('pi.err401');
    expect(outcome).toMatchObject({ ok: false, code: 'AUTH_ERROR' });
    expect(outline(events)).toContain('auth_error');
  });

  it('opencode tells a refused key in a line', () => {
    expect(play('opencode.err401').outcome).toEqual({ ok: false, code: 'AUTH_ERROR', message: 'mock error 401' });
  });

  it('pi over RPC says when it only waits for more', () => {
    const { done, outcome, events } = play('pi.rpc', { answerable: true });
    expect(done).toBe(true);
    expect(outcome).toEqual({ ok: true });
    expect(outline(events)).toContain('file_write');
  });

  it('openclaw prints its sums in two forms', () => {
    expect(play('openclaw.hello').events).toContainEqual({ type: 'message_stop', text: 'hello from mock' });
    const { events } = play('openclaw.tool');
    expect(events).toContainEqual({ type: 'debug', level: 'info', message: 'tools used: write (calls: 1, failed: 0)' });
    expect(events.findLast(({ type }) => type === 'session_end')).toMatchObject({ turnCount: 2, cost: { totalUsd: 0.000294 } });
  });

  it('opencode over ACP asks, writes and answers', () => {
    const { events, outcome, done } = told(
      opencode(planOf('opencode', { approvalMode: 'prompt' }, { answerable: true })),
      fromAgent('acp-opencode'),
    );
    expect(outcome).toEqual({ ok: true });
    expect(done).toBe(true);
    expect(outline(events)).toEqual([
      'session_start',
      'turn_start',
      'thinking_start',
      'thinking_stop',
      'tool_call_start',
      'tool_call_ready',
      'approval_request',
      'file_create',
      'tool_result',
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

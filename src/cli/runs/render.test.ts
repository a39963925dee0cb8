import { describe, expect, it } from 'vitest';
import { captureIo } from '../../../test/support/capture-io.ts';
import type { AgentEvent } from '../../contract/runs/event.ts';
import { createPaint } from '../output.ts';
import { RunRenderer } from './render.ts';

function shown(events: readonly object[], tty = false): { out: string; err: string } {
  const io = captureIo({ tty });
  const renderer = new RunRenderer(io, createPaint(false));
  for (const event of events) renderer.show({ runId: 'run_1', agent: 'claude', timestamp: 0, ...event } as unknown as AgentEvent); // as the engine makes them
  renderer.end({ exitReason: 'completed', runId: 'run_1', durationMs: 1200, tokenUsage: { total: 12 }, cost: { totalUsd: 0.5 } });
  return { out: io.out(), err: io.err() };
}

describe('the rendering of a run', () => {
  it('writes what is said once, whether it comes in pieces or whole', () => {
    const { out } = shown([
      { type: 'message_start' },
      { type: 'text_delta', delta: 'in ', accumulated: 'in ' },
      { type: 'text_delta', delta: 'pieces', accumulated: 'in pieces' },
      { type: 'message_stop', text: 'in pieces' },
      { type: 'message_start' },
      { type: 'message_stop', text: 'whole' },
    ]);
    expect(out).toBe('in pieces\nwhole\n');
  });

  it('keeps thoughts, tools and remarks off the standard output', () => {
    const { out, err } = shown([
      { type: 'thinking_delta', delta: 'hm', accumulated: 'hm' },
      { type: 'thinking_stop', thinking: 'hm' },
      { type: 'tool_call_ready', toolCallId: 't', toolName: 'write', input: { path: 'a' } },
      { type: 'tool_result', toolCallId: 't', toolName: 'write', output: 'done\nand more', durationMs: 3.4 },
      { type: 'tool_error', toolCallId: 't', toolName: 'write', error: 'disk full' },
      { type: 'debug', level: 'info', message: 'a detail' },
      { type: 'debug', level: 'warn', message: 'a warning' },
    ]);
    expect(out).toBe('');
    expect(err).toBe('hm\n▸ write a\n  done… (3 ms)\n  disk full\na warning\ncompleted · 12 tokens · $0.500000 · 1.2 s · run_1\n');
  });

  it('does not repeat in a question what the call above it says', () => {
    const call = { type: 'tool_call_ready', toolCallId: 't', toolName: 'Write', input: { path: 'a', content: 'b' } };
    const asked = {
      type: 'approval_request',
      interactionId: 'i',
      action: 'Write',
      detail: '{"path":"a","content":"b"}',
      riskLevel: 'medium',
    };
    expect(shown([call, asked]).err).toContain('▸ Write path: a · content: b\n? Write (medium risk)\n');
    const long = { command: `echo ${'a'.repeat(200)}; rm -rf /` };
    const both = shown([
      { ...call, input: long },
      { ...asked, detail: long.command, action: 'shell' },
    ]).err;
    expect(both).toContain(`? shell: ${long.command} (medium risk)\n`);
    expect(shown([{ ...asked, detail: 'rm -rf build', action: 'shell', riskLevel: 'high' }]).err).toContain(
      '? shell: rm -rf build (high risk)\n',
    );
  });

  it('names files as seen from the folder of the run, and says done of a tool that says nothing', () => {
    const io = captureIo({ tty: false });
    const renderer = new RunRenderer(io, createPaint(false), '/srv/app');
    const base = { runId: 'run_1', agent: 'claude', timestamp: 0, toolCallId: 't', toolName: 'read' };
    renderer.show({ ...base, type: 'tool_call_ready', input: { path: '/srv/app/src/a.ts', other: '/srv/b.ts' } });
    renderer.show({ ...base, type: 'tool_result', output: '', durationMs: 2 });
    expect(io.err()).toBe('▸ read path: src/a.ts · other: /srv/b.ts\n  done (2 ms)\n');
  });

  it('says what can be done about a run that failed, and nothing of tokens that were not used', () => {
    const io = captureIo({ tty: false });
    const error = { code: 'AGENT_NOT_INSTALLED', message: 'Cursor is not installed.' };
    new RunRenderer(io, createPaint(false)).end({ exitReason: 'failed', agent: 'cursor', runId: 'run_1', durationMs: 200, error });
    expect(io.err()).toBe('Cursor is not installed.\nhint: Install it with abp install cursor.\nfailed · 0.2 s · run_1\n');
  });

  it('says once why a run failed, and nothing about one that somebody ended', () => {
    const io = captureIo({ tty: false });
    const renderer = new RunRenderer(io, createPaint(false));
    renderer.show({ type: 'auth_error', message: 'no login', guidance: '', runId: 'run_1', agent: 'pi', timestamp: 0 });
    renderer.end({ exitReason: 'failed', agent: 'pi', runId: 'run_1', durationMs: 0, error: { code: 'UNHEARD_OF', message: 'no login' } });
    renderer.end({
      exitReason: 'aborted',
      agent: 'pi',
      runId: 'run_1',
      durationMs: 0,
      error: { code: 'ABORTED', message: 'It was aborted.' },
    });
    expect(io.err()).toBe('no login\nfailed · 0.0 s · run_1\naborted · 0.0 s · run_1\n');
  });

  it('says at once what is starting, to somebody who watches', () => {
    const io = captureIo({ tty: true });
    const renderer = new RunRenderer(io, createPaint(false));
    renderer.begin('claude', 'sim');
    renderer.begin('claude', undefined);
    expect(io.err()).toBe('claude on sim is starting\nclaude is starting\n');
  });

  it('does not let an agent steer the terminal', () => {
    const trick = { type: 'text_delta', delta: '\u001b[2Jgone', accumulated: '' };
    expect(shown([trick], true).out).toBe('gone\n');
    expect(shown([trick], false).out).toBe('\u001b[2Jgone\n');
  });
});

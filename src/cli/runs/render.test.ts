import { describe, expect, it } from 'vitest';
import { captureIo } from '../../../test/support/capture-io.ts';
import type { AgentEvent } from '../../contract/event.ts';
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
    expect(err).toBe(
      'hm\n▸ write {"path":"a"}\n  done… (3 ms)\n  disk full\na warning\ncompleted · 12 tokens · $0.500000 · 1.2 s · run_1\n',
    );
  });

  it('does not let an agent steer the terminal', () => {
    const trick = { type: 'text_delta', delta: '\u001b[2Jgone', accumulated: '' };
    expect(shown([trick], true).out).toBe('gone\n');
    expect(shown([trick], false).out).toBe('\u001b[2Jgone\n');
  });
});

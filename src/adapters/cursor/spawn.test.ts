import { expect, it } from 'vitest';
import { attached, GATEWAY, planOf } from '../../../test/support/dialogue.ts';
import { spawn } from './spawn.ts';

const BASE = ['--print', '--output-format', 'stream-json', '--stream-partial-output', '--trust'];
const NO_ANSWER = { option: 'approvalMode', reason: 'nobody can be asked in this run; the agent may only read' };

it('runs with the configuration of the user', () => {
  expect(spawn(planOf('cursor', { sessionId: 's' }, { modelId: 'gpt-x' }))).toEqual({
    args: [...BASE, '--mode', 'ask', '--model', 'gpt-x', '--resume=s', '--', 'say hello'],
    env: {},
    files: {},
    stdin: 'closed',
    pty: false,
    thinking: { by: 'none', detail: 'nothing was asked for' },
    unhonoured: [NO_ANSWER],
  });
});

it.each([
  ['yolo', ['--force']],
  ['prompt', ['--mode', 'ask']],
  ['deny', ['--mode', 'ask']],
] as const)('turns %s into flags', (approvalMode, args) => {
  expect(spawn(planOf('cursor', { approvalMode })).args).toEqual([...BASE, ...args, '--', 'say hello']);
});

it('leaves out what an older release does not know', () => {
  const { args } = spawn(planOf('cursor', { approvalMode: 'yolo' }, { version: '2025.12.01', answerable: true }));
  expect(args).not.toContain('--trust');
});

it('is held over ACP where somebody answers', () => {
  const spec = spawn(planOf('cursor', {}, { answerable: true, modelId: 'gpt-x' }));
  expect(spec.args).toEqual(['--model', 'gpt-x', 'acp']);
  expect(spec.stdin).toBe('open');
});

it('brings MCP servers as a plugin of the run, whose secrets stand in a file', () => {
  const mcpServers = [{ name: 'a', transport: 'stdio' as const, command: 'x', env: { SECRET: 's3' } }];
  const spec = spawn(planOf('cursor', { approvalMode: 'yolo', mcpServers }));
  expect(spec.args).toContain('--plugin-dir');
  expect(spec.args).toContain('--approve-mcps');
  expect(JSON.stringify(spec.args)).not.toContain('s3');
  expect(JSON.stringify(spec.files)).toContain('s3');
});

it('puts instructions and attached texts around the prompt', () => {
  const { args } = spawn(planOf('cursor', { systemPrompt: '-S', agentsDoc: 'D' }, { attachments: [attached('text', 'a', 'hi')] }));
  expect(args.slice(-2)).toEqual(['--', '-S\n\nD\n\nsay hello\n\n<attachment name="a">\nhi\n</attachment>']);
});

it('does not let a prompt of one word pass for a command', () => {
  expect(spawn(planOf('cursor', { prompt: 'update' })).args.at(-1)).toBe('update\n');
});

it('says what it cannot do', () => {
  const plan = planOf(
    'cursor',
    { systemPrompt: 'S', approvalMode: 'yolo', topP: 1 },
    { gateway: GATEWAY, thinking: { reasoning_effort: 'high' } },
  );
  const { unhonoured, thinking, env } = spawn(plan);
  expect(unhonoured.map(({ option }) => option)).toEqual(['engine', 'systemPrompt', 'topP']);
  expect(thinking.by).toBe('none');
  expect(env).toEqual({});
});

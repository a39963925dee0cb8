import { describe, expect, it } from 'vitest';
import { ValidationError } from './run-error.ts';
import { parseRunOptions, RunProfile, runTags } from './run-options.ts';

function faults(options: object): readonly string[] {
  try {
    parseRunOptions(options);
    return [];
  } catch (error) {
    if (!(error instanceof ValidationError)) throw error;
    return error.fields.map(({ field }) => field);
  }
}

const RUN = { agent: 'claude', prompt: 'hi' };

describe('options that are not well formed', () => {
  it('are told all at once: sessions, then fields, then attachments, then servers', () => {
    const wrong = {
      mcpServers: [{ name: 'a b', transport: 'stdio', command: 'x' }],
      attachments: [{}],
      temperature: 3,
      sessionId: 's',
      noSession: true,
    };
    expect(faults(wrong)).toEqual(['', 'agent', 'prompt', 'temperature', 'attachments[0]', 'mcpServers[0].name']);
  });

  it.each([
    [{ prompt: 'a\0--yolo' }, ['prompt']],
    [{ workspace: { mode: 'staged', include: ['a\0b'] } }, ['workspace.include[0]']],
    [{ mcpServers: [{ name: 'a', transport: 'stdio', command: 'x', args: ['a\0b'] }] }, ['mcpServers[0].args[0]']],
    [{ skills: ['a\0b'], check: 'a\0b', workspace: { mode: 'staged' } }, ['check', 'skills[0]']],
    [{ env: { 'A=B': '1' } }, ['env["A=B"]']],
  ])('name words that no process can get: %j', (wrong, named) => {
    expect(faults({ ...RUN, ...wrong })).toEqual(named);
  });

  it.each([
    [{ sessionId: 'a', forkSessionId: 'b' }, ['']],
    [{ sessionId: 'a', noSession: false }, []],
    [{ runId: 'run_1' }, ['runId']],
    [{ projectId: '' }, ['projectId']],
    [{ hooks: {} }, ['hooks']],
    [{ invocation: { mode: 'local', image: 'x' } }, ['invocation.image']],
    [{ invocation: { mode: 'ssh', host: 'x' } }, []],
    [{ unheardOf: 1 }, ['unheardOf']],
  ])('%j has faults at %j', (more, fields) => {
    expect(faults({ ...RUN, ...more })).toEqual(fields);
  });
});

it('a profile holds nothing that belongs to one run', () => {
  for (const own of [{ runId: '01JCQ4Z8N6T3V5X7Y9ZABCDEFG' }, { projectId: 'p' }, { hooks: {} }, { prompt: 'x' }])
    expect(RunProfile.safeParse(own).success).toBe(false);
  expect(RunProfile.safeParse({ invocation: { mode: 'local' } }).success).toBe(true);
});

it('the project is a tag beside the others', () => {
  expect(runTags({ tags: ['a'], projectId: 'apollo' })).toEqual(['a', 'project:apollo']);
  expect(runTags({})).toEqual([]);
});

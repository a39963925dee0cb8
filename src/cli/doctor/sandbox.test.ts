import { expect, it } from 'vitest';
import { judgePython, pythonSandbox } from './sandbox.ts';

it('says that agents can run Python where they can, and why not where they cannot', () => {
  expect(judgePython(undefined)).toEqual({ status: 'ok', message: 'agents can run Python code' });
  expect(judgePython('there is no bwrap')).toEqual({
    status: 'warn',
    message: 'agents cannot run Python code: there is no bwrap',
    fix: 'Install what it names if they should; JavaScript runs without it.',
  });
});

it('asks the sandbox itself, and is never a failure', async () => {
  const { message, status } = await pythonSandbox.run({ home: '', loaded: new Error('not read') });
  expect(['ok', 'warn']).toContain(status);
  expect(message).toMatch(/^agents can(?:not)? run Python code/);
});

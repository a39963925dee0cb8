import { type Check, type Finding, ok, warn } from './check.ts';

/** Agents run JavaScript everywhere; Python needs a sandbox of the system. */
export const pythonSandbox: Check = {
  name: 'python',
  async run() {
    const { PythonSandbox } = await import('../../platform/sandbox/python.ts');
    return judgePython(await new PythonSandbox().unavailable());
  },
};

export function judgePython(reason: string | undefined): Finding {
  if (reason === undefined) return ok('agents can run Python code');
  return warn(`agents cannot run Python code: ${reason}`, 'Install what it names if they should; JavaScript runs without it.');
}

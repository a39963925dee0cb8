import type { Equipment, Obstacle } from '../../confinement/equipment.ts';
import { type Check, type Finding, ok, warn } from './check.ts';

/** Coding agents under a policy need rooms of the operating system. */
export const sandbox: Check = {
  name: 'sandbox',
  async run() {
    const { confiner } = await import('../../confinement/confiner.ts');
    return judgeSandbox(await confiner.equipment());
  },
};

function judgeSandbox(found: Equipment | Obstacle): Finding {
  if ('reason' in found) return warn(`coding agents cannot be confined: ${found.reason}`, found.remedy);
  const { identity } = found;
  return ok(`coding agents can be confined (bubblewrap${identity === undefined ? '' : `, not as root but as user ${identity.uid}`})`);
}

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

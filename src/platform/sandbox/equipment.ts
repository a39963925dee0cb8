import { delimiter } from 'node:path';
import { findCommand } from '../../base/find-command.ts';
import { systemCallFilter } from '../../confinement/system-calls.ts';
import { type Equipment, runConfined } from './confined-process.ts';
import { DEFAULT_LIMITS } from './execution.ts';
import { askInterpreter } from './interpreter.ts';

/** Looking whether it works is no limit on code: a busy machine is not one without Python. */
const PROBE_MS = 30_000;
const SHOWN_CHARACTERS = 300;
/** Words of bubblewrap where the kernel, or the container around the server, does not let it make namespaces. */
const NAMESPACES_REFUSED = /namespace|[ug]id map|setgroups|loopback|clone|unshare/i;

/** Where the server runs, as far as it decides whether Python can be confined. */
export interface Machine {
  /** Variables by which programs are found. */
  readonly environment: NodeJS.ProcessEnv;
  readonly platform: NodeJS.Platform;
  readonly arch: string;
}

/** The equipment that confines Python here, tried out; a text says what is missing. */
export async function findEquipment({ environment, platform, arch }: Machine): Promise<Equipment | string> {
  if (platform !== 'linux') return 'Python needs bubblewrap, which exists on Linux only.';
  const filter = systemCallFilter(arch, 'code');
  if (filter === undefined) return `Python can be confined on x64 and arm64, not on ${arch}.`;
  const [bwrap, prlimit] = ['bwrap', 'prlimit'].map((name) => findCommand(name, environment, platform)?.path);
  if (bwrap === undefined) return 'Python needs bubblewrap (bwrap), which is not installed on this server.';
  if (prlimit === undefined) return 'Python needs prlimit (of util-linux), which is not installed on this server.';
  const commands = (environment.PATH ?? '').split(delimiter).flatMap((PATH) => findCommand('python3', { PATH }, platform)?.path ?? []);
  const faults: string[] = [];
  for (const command of new Set(commands)) {
    const found = await tryInterpreter(command, environment, { bwrap, prlimit, filter });
    if (typeof found !== 'string') return found;
    faults.push(found);
  }
  return faults.length === 0 ? 'Python needs python3, which is not installed on this server.' : faults.map(sentence).join(' ');
}

async function tryInterpreter(
  command: string,
  environment: NodeJS.ProcessEnv,
  rest: Omit<Equipment, 'interpreter'>,
): Promise<Equipment | string> {
  const interpreter = await askInterpreter(command, environment);
  if (typeof interpreter === 'string') return interpreter;
  const equipment = { ...rest, interpreter };
  const { status, stdout, error } = await runConfined({
    equipment,
    code: 'print(6 * 7)',
    limits: { ...DEFAULT_LIMITS, timeMs: PROBE_MS },
  });
  if (status === 'completed' && stdout === '42\n') return equipment;
  const said = (error ?? stdout).slice(0, SHOWN_CHARACTERS);
  if (NAMESPACES_REFUSED.test(said)) return `bubblewrap is installed, but this server may not make namespaces with it: ${said}`;
  const reader = process.getuid?.() === 0 ? ', where a server of root runs it as nobody' : '';
  return `${interpreter.executable} does not run behind bubblewrap on this server${reader}: ${said}`;
}

function sentence(text: string): string {
  return text.endsWith('.') ? text : `${text}.`;
}

import { runCommand } from '../../src/base/subprocess.ts';

const LONG_MS = 20 * 60_000;

interface Where {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/** Runs a command that must succeed, says how long it took, and gives what it printed. */
export async function step(what: string, [command = '', ...args]: readonly string[], { cwd, env = process.env }: Where): Promise<string> {
  const began = performance.now();
  const { code, signal, stdout, stderr } = await runCommand(command, args, { cwd, env, timeoutMs: LONG_MS });
  if (code !== 0) throw new Error(`${what} ended with ${code ?? signal}: ${stdout.slice(-4000)}${stderr.slice(-4000)}`);
  if (/^\(node:\d+\) \w*Warning/m.test(stderr)) throw new Error(`${what} warns: ${stderr.slice(-2000)}`);
  console.log(`${what.padEnd(28)} ${((performance.now() - began) / 1000).toFixed(1).padStart(6)} s`);
  return stdout;
}

import { homedir } from 'node:os';
import { join } from 'node:path';
import { findCommand } from '../../base/find-command.ts';
import type { Detection } from '../../runtime/coding-agents/detection.ts';
import type { InstallInstruction } from '../../runtime/coding-agents/install.ts';
import { type Command, defineCommand } from '../command.ts';
import { EXITS } from '../exit-codes.ts';
import type { Paint } from '../output.ts';
import { flag, optional, required } from '../parameter.ts';
import { openCodingAgents } from './open.ts';

/** `abp install` and `abp adapters install`: two names of one command. */
export function installCommand(name: string): Command {
  return defineCommand({
    arguments: { agent: required('<agent>', 'the coding agent, e.g. claude or codex') },
    options: {
      method: optional('--method <name>', 'npm, brew, pip and so on (default: the way that works today)'),
      dryRun: flag('--dry-run', 'show the command and do not run it'),
    },
    examples: [`abp ${name} claude`, `abp ${name} copilot --dry-run`, `abp ${name} hermes --method pip`],
    async run(context, { agent, method, dryRun }) {
      const { output, io } = context;
      const { adapters } = await openCodingAgents(context);
      const planned = adapters.installWay(agent, { method });
      if (dryRun) {
        output.print({ way: planned }, ({ way }) => renderWay(way, output.paint));
        return EXITS.ok.code;
      }
      if (!output.json) io.stderr.write(`${planned.command}\n`);
      const { way, detection } = await adapters.install(agent, { method });
      const { displayName, cliCommand } = adapters.get(agent);
      const elsewhere = detection.installed ? undefined : besidePath(cliCommand, io.env);
      output.print({ way, detection }, (done) => renderInstalled(done.detection, { displayName, elsewhere }, output.paint));
      return detection.installed ? EXITS.ok.code : EXITS.unavailable.code;
    },
  });
}

function renderWay({ command, notes, prerequisiteCheck }: InstallInstruction, paint: Paint): string {
  return [
    ...(prerequisiteCheck === undefined ? [] : [`${paint.faint('first')}  ${prerequisiteCheck}`]),
    `${paint.faint('then')}   ${command}`,
    ...(notes === undefined ? [] : [`${paint.faint('note')}   ${notes}`]),
  ].join('\n');
}

/** The folder for a user's own commands, which many shells do not look into, where it has this one. */
function besidePath(command: string, env: NodeJS.ProcessEnv): string | undefined {
  const folder = join(env.HOME ?? homedir(), '.local', 'bin');
  return findCommand(command, { PATH: folder }, process.platform) === undefined ? undefined : folder;
}

function renderInstalled(
  { installed, version, path, problem }: Detection,
  { displayName, elsewhere }: { readonly displayName: string; readonly elsewhere: string | undefined },
  paint: Paint,
): string {
  if (installed) return `${paint.good('installed')} ${displayName} ${version ?? ''} at ${path ?? ''}`;
  if (problem === undefined && elsewhere !== undefined)
    return `${paint.warn('not on the PATH')} ${displayName} is in ${elsewhere}: run export PATH="${elsewhere}:$PATH", or open a new shell that has it`;
  return `${paint.warn('not found')} the installer ended well, but ${problem ?? 'its command is not on the PATH'}`;
}

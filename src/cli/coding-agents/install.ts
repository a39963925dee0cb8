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
      output.print({ way, detection }, (done) => renderInstalled(done.detection, adapters.get(agent).displayName, output.paint));
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

function renderInstalled({ installed, version, path, problem }: Detection, name: string, paint: Paint): string {
  if (installed) return `${paint.good('installed')} ${name} ${version ?? ''} at ${path ?? ''}`;
  return `${paint.warn('not found')} the installer ended well, but ${problem ?? 'its command is not on the PATH'}`;
}

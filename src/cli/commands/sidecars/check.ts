import { allowedEnvironment } from '../../../runtime/runs/process/environment.ts';
import { checkSidecar, type SidecarFinding } from '../../../runtime/sidecars/check.ts';
import { wholeCommand } from '../../../runtime/sidecars/command.ts';
import { SIDECAR_TIMES } from '../../../runtime/sidecars/dialogue.ts';
import { defineCommand } from '../../command.ts';
import { EXITS } from '../../exit-codes.ts';
import type { Paint } from '../../output.ts';
import { count, list, optional, words } from '../../parameter.ts';
import { table } from '../../table.ts';

export const command = defineCommand({
  arguments: { command: words('<command...>', 'what starts the sidecar, after --') },
  options: {
    task: optional('--task <text>', 'what it is asked to do (default: say hello)'),
    env: list('--env <name>', 'a variable of this shell that it gets too; repeatable'),
    timeout: count('--timeout <seconds>', 'how long one run may take (default 60)'),
  },
  examples: ['abp sidecars check -- node my-sidecar.mjs', 'abp sidecars check --env MY_KEY --json -- python3 sidecar.py'],
  async run({ io, output }, { command: started, task, env, timeout }) {
    const findings = await checkSidecar({
      command: wholeCommand(started, process.cwd()),
      env: allowedEnvironment(io.env, env),
      handshakeMs: SIDECAR_TIMES.handshakeMs,
      runMs: (timeout ?? 60) * 1000,
      task: task ?? 'say hello',
    });
    const conforms = findings.every(({ result }) => result !== 'failed');
    output.print({ ok: conforms, findings }, () => render(findings, conforms, output.paint));
    return conforms ? EXITS.ok.code : EXITS.general.code;
  },
});

function render(findings: readonly SidecarFinding[], conforms: boolean, paint: Paint): string {
  const tints = { passed: paint.good, failed: paint.bad, warning: paint.strong } as const;
  const rows = findings.map(({ name, result, detail }) => [tints[result](result), name, paint.faint(detail)]);
  return `${table(rows)}\n\n${conforms ? paint.good('conforms') : paint.bad('does not conform')} to abp/v0.1`;
}

import { loadConfig } from '../../gateway/config.ts';
import { homePath as resolveHome } from '../../home/home.ts';
import { type Context, defineCommand } from '../command.ts';
import { type Check, examine, type Finding, type Subject } from '../doctor/check.ts';
import { clockTime, diskSpace, nodeVersion } from '../doctor/machine.ts';
import { pythonSandbox, sandbox } from '../doctor/sandbox.ts';
import { configuration, engineKeys, server } from '../doctor/service.ts';
import { database, homeFolder, journal, receiptChain } from '../doctor/state.ts';
import { EXITS } from '../exit-codes.ts';
import type { Paint } from '../output.ts';
import { table } from '../table.ts';

const CHECKS: readonly Check[] = [
  nodeVersion,
  homeFolder,
  configuration,
  database,
  journal,
  receiptChain,
  server,
  engineKeys,
  diskSpace,
  clockTime,
  sandbox,
  pythonSandbox,
];

export const command = defineCommand({
  arguments: {},
  options: {},
  examples: ['abp doctor', 'abp doctor --json'],
  async run(context) {
    const { output } = context;
    const subject = subjectOf(context);
    const checks = await Promise.all(CHECKS.map((check) => examine(check, subject)));
    output.print({ ok: checks.every((one) => one.status !== 'fail'), checks }, (data) => render(data.checks, output.paint));
    return checks.some((one) => one.status === 'fail') ? EXITS.general.code : EXITS.ok.code;
  },
});

function subjectOf({ io, configPath, homePath }: Context): Subject {
  const home = resolveHome(homePath);
  try {
    const loaded = loadConfig({ env: io.env, homePath, ...(configPath !== undefined && { path: configPath }) });
    return { home, loaded };
  } catch (thrown) {
    return { home, loaded: thrown instanceof Error ? thrown : new Error(String(thrown)) };
  }
}

function render(checks: readonly (Finding & { readonly check: string })[], paint: Paint): string {
  const tint = { ok: paint.good, warn: paint.warn, fail: paint.bad };
  const rows = checks.flatMap(({ status, check, message, fix }) => {
    const row = [tint[status](status), check, message];
    return fix === undefined ? [row] : [row, ['', '', paint.faint(fix)]];
  });
  return table(rows);
}

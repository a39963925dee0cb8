import { mkdirSync, realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { toolchainsOf } from '../../confinement/programs.ts';
import { seatbeltProfile } from '../../confinement/seatbelt.ts';
import { PolicyProfile } from '../../contract/work-orders/work-order.ts';
import { openHome } from '../../home/home.ts';
import { pathRules } from '../../runtime/policy/path-rules.ts';
import type { PolicyWish } from '../../runtime/policy/rules.ts';
import { defineCommand } from '../command.ts';
import { EXITS } from '../exit-codes.ts';
import { CliError } from '../failure.ts';
import { count, flag, list, optional } from '../parameter.ts';
import { policyIn } from '../runs/options.ts';

const GATEWAY_PORT = 8088;

export const command = defineCommand({
  arguments: {},
  options: {
    cwd: optional('--cwd <dir>', 'the folder that the agent works in (default: this one)'),
    policy: optional('--policy <file>', 'a TOML file with deny_read and deny_write'),
    readOnly: flag('--read-only', 'let the agent change nothing in the folder'),
    show: list('--show <path>', 'a folder that it reads beside it, such as its installation; repeatable'),
    port: count('--port <number>', 'the port of the gateway (default: that of the server of this home, else 8088)'),
  },
  examples: ['abp seatbelt > room.sb', 'abp seatbelt --read-only --show ~/.local/share/claude'],
  async run({ output, homePath }, { cwd, policy, readOnly, show, port }) {
    const home = openHome({ path: homePath });
    const workspace = realpathSync(cwd ?? process.cwd());
    const { deny_read = [], deny_write = [] } = policyFrom(policy);
    const inside = (patterns: readonly string[]): readonly string[] => pathRules(patterns, workspace).inside;
    const served = home.readAddress()?.url;
    const room = join(home.path, 'rooms', 'seatbelt');
    mkdirSync(room, { recursive: true, mode: 0o700 });
    const profile = seatbeltProfile({
      workspace,
      writable: !readOnly,
      home: realpathSync(room),
      shown: [...toolchainsOf(homedir()).places.map(({ source }) => source), ...show.map((path) => realpathSync(path))],
      ports: [port ?? (served === undefined ? GATEWAY_PORT : Number(new URL(served).port))],
      denyRead: inside(deny_read),
      denyWrite: inside(deny_write),
    });
    output.print({ profile, home: room }, (found) => `${head(found.home)}\n${found.profile}`);
    return EXITS.ok.code;
  },
});

function policyFrom(file: string | undefined): PolicyWish {
  const checked = PolicyProfile.partial().safeParse(policyIn(file) ?? {});
  if (checked.success) return checked.data;
  throw new CliError('usage', `the policy in ${file} is not valid`, { hint: 'docs/sandbox.md has examples.' });
}

/** A comment of the profile's language. */
const head = (home: string): string =>
  [
    '; A room for a coding agent on macOS. It is written from what is documented and was not run: try what it must deny before you trust it.',
    `; HOME=${home} sandbox-exec -f this-file <agent>, with the variables of abp env <agent>`,
  ].join('\n');

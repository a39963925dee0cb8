import type { AuthState } from '../../../runtime/coding-agents/auth.ts';
import type { AdapterRegistry } from '../../../runtime/coding-agents/coding-agents.ts';
import type { Detection } from '../../../runtime/coding-agents/detection.ts';
import { openCodingAgents } from '../../coding-agents/open.ts';
import { defineCommand } from '../../command.ts';
import { type Finding, fail, ok, warn } from '../../doctor/check.ts';
import { EXITS } from '../../exit-codes.ts';
import type { Paint } from '../../output.ts';
import { optional } from '../../parameter.ts';
import { table } from '../../table.ts';

export const command = defineCommand({
  arguments: { agent: optional('[agent]', 'one coding agent; without it, every one') },
  options: {},
  examples: ['abp adapters doctor', 'abp adapters doctor claude'],
  async run(context, { agent }) {
    const { output } = context;
    const { adapters } = await openCodingAgents(context);
    const names = agent === undefined ? adapters.list().map((one) => one.agent) : [adapters.get(agent).agent];
    const checks = await Promise.all(names.map((name) => examine(adapters, name, agent !== undefined)));
    const good = checks.every(({ status }) => status !== 'fail');
    output.print({ ok: good, checks }, (data) => render(data.checks, output.paint));
    return good ? EXITS.ok.code : EXITS.general.code;
  },
});

async function examine(adapters: AdapterRegistry, name: string, named: boolean): Promise<Finding & { readonly check: string }> {
  return { check: name, ...finding(await adapters.detect(name), adapters.auth(name), named) };
}

/** An agent that nobody asked about may well be missing. */
function finding({ installed, version, untested, problem, agent }: Detection, auth: AuthState, named: boolean): Finding {
  if (!installed) return (named ? fail : warn)(problem ?? 'not installed', `abp install ${agent}`);
  if (untested !== undefined) return warn(untested, `abp install ${agent}`);
  if (auth.status === 'unauthenticated') return warn(`${version ?? ''}, no credential found`, auth.guidance.join(' '));
  const set = auth.variables.filter((variable) => variable.set).map((variable) => variable.name);
  return ok(`${version ?? ''}, ${set.length > 0 ? set.join(', ') : 'a login is stored'}`);
}

function render(checks: readonly (Finding & { readonly check: string })[], paint: Paint): string {
  const tint = { ok: paint.good, warn: paint.warn, fail: paint.bad };
  return table(checks.map(({ status, check, message, fix }) => [tint[status](status), check, message, paint.faint(fix ?? '')]));
}

import { ownFile } from '../../base/own-files.ts';
import { AbpError } from '../../contract/errors.ts';
import type { CodingAgents } from '../coding-agents/coding-agents.ts';
import { HOSTS } from '../hosts.ts';
import type { SidecarProgram } from '../sidecars/adapter.ts';
import { SIDECAR_TIMES } from '../sidecars/dialogue.ts';
import { ownCache, ownPackage } from './programs.ts';

/** One of the five hosts as the run engine starts it: the same program that `abp host <id>` is. */
export function hostProgram(name: string, agents: CodingAgents): SidecarProgram & { readonly engine: string } {
  const host = HOSTS.find(({ id }) => id === `host:${name}`);
  if (host === undefined) throw new AbpError('not_found', `There is no host "${name}".`, { backend: `host:${name}` });
  const inner = agents.adapters.list().find(({ agent }) => agent === host.agent);
  return {
    backend: host.id,
    name: host.name,
    command: [process.execPath, '--disable-warning=ExperimentalWarning', ownFile('bin/abp.js'), 'host', name],
    env: { ...ownCache() },
    shows: ownPackage(),
    times: SIDECAR_TIMES,
    manifest: host.manifest,
    version: null,
    asksFirst: true,
    takesToolRules: inner === undefined || inner.takesToolRules === true,
    engine: host.engine,
    ...(inner !== undefined && { traffic: inner.traffic, wants: inner.cliCommand }),
  };
}

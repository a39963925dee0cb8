import { realpathSync } from 'node:fs';
import { isAbsolute, relative } from 'node:path';
import { opensPrivateAddress, withinHosts } from '../../confinement/host-patterns.ts';
import { AbpError } from '../../contract/errors.ts';
import type { RunOptions } from '../../contract/runs/run-options.ts';
import type { Config } from '../config.ts';
import { may } from './access.ts';
import type { Principal } from './principal.ts';

/** Variables that change how an agent writes, and not what it is or what it may reach. */
const HARMLESS = new Set(['LANG', 'LANGUAGE', 'TZ', 'TERM', 'COLORTERM', 'NO_COLOR', 'FORCE_COLOR', 'CI', 'COLUMNS', 'LINES']);

/**
 * A key for the plane `run` starts agents; it does not own the machine. Everything that would let its holder choose a program, a file or a
 * folder of the server's user is for administrators, unless the operator has named it in the configuration.
 */
export function assertRunRights(principal: Principal, options: RunOptions, config: Pick<Config, 'runs' | 'policy'>): void {
  if (may(principal, 'programs')) return;
  const fault = ASKS.map((ask) => ask(options, config.runs, config.policy)).find((found) => found !== undefined);
  if (fault === undefined) return;
  throw new AbpError('forbidden', `${fault.message} Ask an administrator, or use an admin key.`, { scope: 'admin', field: fault.field });
}

interface Fault {
  readonly field: string;
  readonly message: string;
}

type Ask = (options: RunOptions, runs: Config['runs'], policy: Config['policy']) => Fault | undefined;

const ASKS: readonly Ask[] = [
  ({ env = {} }, runs) => {
    const named = Object.keys(env).find((name) => !HARMLESS.has(name) && !/^LC_[A-Z]+$/.test(name) && !runs.env.includes(name));
    if (named === undefined) return undefined;
    return {
      field: `env.${named}`,
      message: `This key may not set the variable ${named}; runs.env of the configuration names those it may.`,
    };
  },
  ({ mcpServers = [] }) => {
    const server = mcpServers.find(({ transport }) => transport === 'stdio');
    if (server === undefined) return undefined;
    return { field: 'mcpServers', message: `This key may not start the MCP server ${server.name}, which is a program of this machine.` };
  },
  ({ check }) => {
    if (check === undefined) return undefined;
    return { field: 'check', message: 'This key may not run a check, which is a command of this machine.' };
  },
  ({ attachments = [] }) => {
    if (attachments.every(({ filePath }) => filePath === undefined)) return undefined;
    return { field: 'attachments', message: 'This key may not attach files of this machine by their path; send them as base64.' };
  },
  ({ skills = [] }) => {
    if (!skills.some((skill) => /[/\\]|^[.~]/.test(skill))) return undefined;
    return { field: 'skills', message: 'This key may not load skills by their path; name skills that the agent has.' };
  },
  // A room that the operator asks for is the border of such a key: it opens no way to what listens on the operator's own machines.
  ({ policy: { allow_network = [] } = {} }, _, policy) => {
    const named = allow_network.find((host) => opensPrivateAddress(host));
    const isNamed = policy.allow_network?.some((host) => named !== undefined && withinHosts(host, named) !== undefined) === true;
    if (named === undefined || isNamed || !confines(policy)) return undefined;
    return {
      field: 'policy.allow_network',
      message: `This key may not open ${named} to an agent: it is not on the public internet, and policy.allow_network of the configuration does not name it.`,
    };
  },
  ({ sessionId, forkSessionId }) => {
    const [field] = Object.entries({ sessionId, forkSessionId }).find(([, id]) => id !== undefined && /[/\\]/.test(id)) ?? [];
    return field === undefined ? undefined : { field, message: 'This key may name sessions by their id, not by a path.' };
  },
  ({ cwd }, runs) => {
    if (cwd !== undefined && runs.roots.some((root) => liesIn(root, cwd))) return undefined;
    const where =
      runs.roots.length === 0 ? 'runs.roots of the configuration names no folders for it' : `it may run below ${runs.roots.join(', ')}`;
    return { field: 'cwd', message: `This key may not run an agent in ${cwd ?? 'the folder of the server'}: ${where}.` };
  },
];

/** Whether the operator has every run confined. */
function confines({ sandbox, deny_read = [], deny_write = [], allow_network = [], deny_network = [] }: Config['policy']): boolean {
  return sandbox || [deny_read, deny_write, allow_network, deny_network].some((list) => list.length > 0);
}

/** By the real paths: a link must not lead out. */
function liesIn(root: string, folder: string): boolean {
  const [top, place] = [root, folder].map(realPath);
  if (top === undefined || place === undefined) return false;
  const way = relative(top, place);
  return way !== '..' && !way.startsWith('../') && !way.startsWith('..\\') && !isAbsolute(way);
}

function realPath(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    // It is not there, or not for us to see.
    return undefined;
  }
}

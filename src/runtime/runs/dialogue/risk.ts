import { homedir } from 'node:os';
import { isAbsolute, relative, resolve, sep } from 'node:path';
import { isJsonObject, type Json } from '../../../base/json.ts';
import { parseShallow } from '../../../base/json-limits.ts';
import type { EventOf } from '../../../contract/runs/event.ts';

/** A fact of a tool call that matters to the person who is asked to approve it. */
type RiskFact = 'writes_outside' | 'reads_outside' | 'secrets' | 'network' | 'runs_command' | 'writes';

export interface Risk {
  readonly level: 'low' | 'medium' | 'high';
  readonly facts: readonly RiskFact[];
}

const HIGH: ReadonlySet<RiskFact> = new Set<RiskFact>(['writes_outside', 'secrets']);
const MEDIUM: ReadonlySet<RiskFact> = new Set<RiskFact>(['reads_outside', 'network', 'runs_command']);

/** Tools and commands that change files. */
const WRITING_TOOL = /write|edit|patch|create|delete|remove|move|rename|notebook/i;
const WRITING_COMMAND = /(?:^|[;&|]\s*|\s)(?:rm|mv|cp|tee|dd|chmod|chown|ln|mkdir|rmdir|touch|truncate|install|sed\s+-i)\b|>/;
const NETWORK_COMMAND = /(?:^|[;&|]\s*)(?:curl|wget|ssh|scp|sftp|rsync|nc|ncat|telnet|ftp)\b|\bgit\s+(?:push|pull|fetch|clone)\b/;
const ADDRESS = /\b(?:https?|wss?|ftp|ssh):\/\//;
/** Names of files and folders under which keys and passwords lie. */
const SECRET_NAMES: ReadonlySet<string> = new Set([
  ...['.ssh', '.aws', '.gnupg', '.netrc', '.npmrc', '.pypirc', '.kube', '.docker', 'credentials', 'credentials.json', '.env'],
  ...['id_rsa', 'id_dsa', 'id_ecdsa', 'id_ed25519'],
]);
const SECRET_ENDINGS = ['.pem', '.p12', '.pfx', '.keystore'];
const PATH_MEMBER = /path|file|dir|folder|cwd|notebook/i;
const ADDRESS_MEMBER = /^(?:url|uri|endpoint|host|domain)$/i;
/** Paths that a command may name without touching anything of somebody. */
const HARMLESS = ['/dev/null', '/dev/stdout', '/dev/stderr', '/usr/', '/bin/', '/proc/self/'];

/** Reads the risk of a call from what the call says; of what it does not say nothing is guessed. */
export function riskOf(toolName: string, input: Json, cwd: string): Risk {
  const facts = new Set<RiskFact>();
  const members = isJsonObject(input) ? Object.entries(input) : [['command', input] as const];
  for (const [name, value] of members) for (const fact of factsOf({ toolName, name, value, cwd })) facts.add(fact);
  if (WRITING_TOOL.test(toolName)) facts.add('writes');
  const level = [...facts].some((fact) => HIGH.has(fact)) ? 'high' : [...facts].some((fact) => MEDIUM.has(fact)) ? 'medium' : 'low';
  return { level, facts: [...facts].sort() };
}

/** Tools whose whole wish is a command, also where the agent tells it as plain text. */
const COMMAND_TOOL = /^(?:shell|bash|sh|exec|exec_command|run_shell_command|terminal)$/i;

/** A question of an agent about a tool. */
export type Asked = Pick<EventOf<'approval_request'>, 'action' | 'detail' | 'riskLevel'> & { readonly toolName?: string | undefined };

/** The risk of what an agent asks for. Where it does not say what it wants to do, its own word for the risk stays. */
export function riskAsked({ toolName, action, detail, riskLevel }: Asked, cwd: string): Risk {
  const tool = toolName ?? action;
  const input = parseShallow(detail);
  if (input.ok && isJsonObject(input.value)) return riskOf(tool, input.value, cwd);
  return COMMAND_TOOL.test(tool) ? riskOf(tool, detail, cwd) : { level: riskLevel, facts: riskOf(tool, {}, cwd).facts };
}

interface Member {
  readonly toolName: string;
  readonly name: string;
  readonly value: Json;
  readonly cwd: string;
}

function factsOf({ toolName, name, value, cwd }: Member): RiskFact[] {
  const text = Array.isArray(value) ? value.map(String).join(' ') : value;
  if (typeof text !== 'string') return [];
  if (/^(?:command|cmd|script)$/i.test(name)) return commandFacts(text, cwd);
  if (ADDRESS_MEMBER.test(name)) return ['network'];
  if (!PATH_MEMBER.test(name)) return [];
  const away = isOutside(text, cwd);
  const writes = WRITING_TOOL.test(toolName);
  return [
    ...(namesSecret(text) ? (['secrets'] as const) : []),
    ...(away ? [writes ? ('writes_outside' as const) : ('reads_outside' as const)] : []),
  ];
}

function commandFacts(command: string, cwd: string): RiskFact[] {
  const named = command.match(/(?:^|[\s"'=>])((?:~|\/|\.\.\/)[^\s"';|&<>]*)/g) ?? [];
  const away = named.map((word) => word.replace(/^[\s"'=>]+/, '')).filter((path) => isOutside(path, cwd));
  return [
    'runs_command',
    ...(namesSecret(command) ? (['secrets'] as const) : []),
    ...(ADDRESS.test(command) || NETWORK_COMMAND.test(command) ? (['network'] as const) : []),
    ...(away.length === 0 ? [] : [WRITING_COMMAND.test(command) ? ('writes_outside' as const) : ('reads_outside' as const)]),
  ];
}

/** Whether a path or a command names a file of secrets. */
function namesSecret(text: string): boolean {
  const words = text.split(/[\s/"'=;|&<>()]/);
  return words.some((word) => SECRET_NAMES.has(word) || word.startsWith('.env.') || SECRET_ENDINGS.some((ending) => word.endsWith(ending)));
}

function isOutside(path: string, cwd: string): boolean {
  const whole = path.startsWith('~') ? resolve(homedir(), path.replace(/^~\/?/, '')) : resolve(cwd, path);
  if (HARMLESS.some((harmless) => whole === harmless || whole.startsWith(harmless))) return false;
  const way = relative(cwd, whole);
  return way === '..' || way.startsWith(`..${sep}`) || isAbsolute(way);
}

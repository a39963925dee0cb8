import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { isSecretName } from '../base/redact.ts';
import { AbpError } from '../contract/errors.ts';
import { type MasterKey, masterKeyOf, SealedSecrets } from '../home/sealed-secrets.ts';
import { noteSecretFile } from '../home/secret-files.ts';

/** Members of the configuration that may name where their value is, instead of being it. */
const SECRET_MEMBERS = new Set(['key', 'client_secret', 'search_key', 'key_secret', 'access_key', 'secret_key', 'url']);
const COMMAND_MS = 30_000;

type Env = Readonly<Record<string, string | undefined>>;
type Table = Readonly<Record<string, unknown>>;

/** Where the master key comes from: a file, or a program that prints it. ABP_MASTER_KEY speaks first. */
interface MasterKeySource {
  readonly file?: string | undefined;
  readonly command?: readonly string[] | undefined;
}

/** The master key; undefined where nothing names one. */
export function readMasterKey({ file, command }: MasterKeySource, env: Env): MasterKey | undefined {
  if (env.ABP_MASTER_KEY) return masterKeyOf(env.ABP_MASTER_KEY);
  if (file !== undefined) return masterKeyOf(textOf(file, 'the master key'));
  return command === undefined ? undefined : masterKeyOf(printed(command));
}

/** Runs the operator's program and takes the key from its output. No error repeats what it printed: that may be the key. */
function printed([program = '', ...rest]: readonly string[]): string {
  try {
    return execFileSync(program, rest, { encoding: 'utf8', timeout: COMMAND_MS, stdio: ['ignore', 'pipe', 'ignore'] });
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : undefined;
    const status = error instanceof Error && 'status' in error ? `it ended with ${String(error.status)}` : 'it could not be started';
    throw new AbpError('invalid_request', `master_key.command: ${program} gave no master key: ${code ?? status}.`);
  }
}

function textOf(file: string, what: string): string {
  noteSecretFile(file);
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'it cannot be read';
    throw new AbpError('invalid_request', `${what} is said to be in the file ${file}: ${code}.`, { file });
  }
}

/**
 * The configuration with the values of secrets that it names: `key = { env = "NAME" }`, `{ file = "/run/secrets/x" }` or
 * `{ sealed = "name" }` for one that `abp secrets set` has sealed in the home.
 */
export function withSecrets(tree: unknown, { env, homePath }: { readonly env: Env; readonly homePath: string }): unknown {
  const source = isTable(tree) && isTable(tree.master_key) ? (tree.master_key as MasterKeySource) : {}; // its schema is looked at right after
  let sealed: SealedSecrets | undefined;
  const open = (): SealedSecrets => {
    if (sealed !== undefined) return sealed;
    const master = readMasterKey(source, env);
    if (master === undefined) {
      throw new AbpError(
        'invalid_request',
        'The configuration names sealed secrets, and there is no master key to open them.',
        {},
        NO_MASTER,
      );
    }
    sealed = SealedSecrets.open(homePath, master);
    return sealed;
  };
  return resolved(tree, '', { env, open });
}

/** Whether a configuration, as it is written, holds a secret itself instead of naming where that is. */
export function holdsSecret(tree: unknown, around = ''): boolean {
  if (Array.isArray(tree)) return tree.some((item) => holdsSecret(item, around));
  if (!isTable(tree)) return false;
  return Object.entries(tree).some(([name, member]) =>
    typeof member === 'string' ? isSecretIn(name, member, around) : holdsSecret(member, name),
  );
}

/** Addresses hold passwords, and those of webhooks are secrets as a whole, as values of headers may be. */
function isSecretIn(name: string, value: string, around: string): boolean {
  // A budget names a key by its id.
  if (value === '' || around === 'on') return false;
  if (['headers', 'webhooks'].includes(around) || name === 'head_webhook') return true;
  if (URL.parse(value)?.password) return true;
  return name !== 'url' && (SECRET_MEMBERS.has(name) || isSecretName(name));
}

export const NO_MASTER = 'Set ABP_MASTER_KEY, or [master_key] file or command in the configuration.';

interface Places {
  readonly env: Env;
  open(): SealedSecrets;
}

function resolved(value: unknown, path: string, places: Places): unknown {
  if (Array.isArray(value)) return value.map((item, at) => resolved(item, `${path}[${at}]`, places));
  if (!isTable(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => {
      const where = path === '' ? name : `${path}.${name}`;
      const secret = SECRET_MEMBERS.has(name) && isTable(member) ? secretAt(member, where, places) : undefined;
      return [name, secret ?? resolved(member, where, places)];
    }),
  );
}

/** The value that a reference leads to; undefined for any other table. */
function secretAt(reference: Table, where: string, { env, open }: Places): string | undefined {
  const [first, ...more] = Object.entries(reference);
  if (first === undefined || more.length > 0) return undefined;
  const [kind, name] = first;
  if (typeof name !== 'string') return undefined;
  if (kind === 'file') return textOf(name, where);
  if (kind === 'env') return env[name] || missing(where, `the variable ${name}, which is not set`);
  if (kind === 'sealed')
    return open().read(name) ?? missing(where, `the sealed secret "${name}", which there is not: abp secrets set ${name}`);
  return undefined;
}

function missing(where: string, what: string): never {
  throw new AbpError('invalid_request', `${where} names ${what}.`);
}

/** A table of TOML; its dates are objects, too, of a class of their own. */
function isTable(value: unknown): value is Table {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);
}

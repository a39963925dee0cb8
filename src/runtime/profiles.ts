import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { isJsonObject, parseJson } from '../base/json.ts';
import { checkAt } from '../contract/border.ts';
import { AgentMuxError, ValidationError } from '../contract/runs/run-error.ts';
import { ProfileName, RunProfile } from '../contract/runs/run-options.ts';
import { replaceFile } from '../home/private-file.ts';

/** `user`: of the home. `project`: of a folder that is worked in. */
type ProfileScope = 'user' | 'project';

interface ProfileEntry {
  readonly name: string;
  readonly scope: ProfileScope;
  /** Why it cannot be used. */
  readonly problem?: string;
}

/** Run options under names. A project's profile counts where the user has none of that name: a folder cannot change what the user meant. */
export interface RunProfiles {
  list(): readonly ProfileEntry[];
  /** Throws PROFILE_NOT_FOUND, and CONFIG_ERROR for a file that cannot be read as one. */
  show(name: string): RunProfile;
  set(name: string, profile: RunProfile, scope?: ProfileScope): void;
  delete(name: string, scope?: ProfileScope): void;
  /** The options over those of the profile that they name, if they name one. */
  apply<T extends { readonly profile?: string | undefined; readonly cwd?: string | undefined }>(options: T): T;
}

export interface ProfilesOptions {
  /** The home of the user's own profiles. */
  readonly homePath: string;
  /** The folder whose profiles count beside them; the one of the run, where options name one. Absent: none do. */
  readonly projectPath?: string | undefined;
}

export function createProfiles({ homePath, projectPath }: ProfilesOptions): RunProfiles {
  const folders = (project = projectPath): readonly [ProfileScope, string][] => [
    ['user', join(homePath, 'profiles')],
    ...(project === undefined || projectPath === undefined
      ? []
      : [['project', join(project, '.abp', 'profiles')] as [ProfileScope, string]]),
  ];
  const folderOf = (scope: ProfileScope): string => {
    const found = folders().find(([one]) => one === scope);
    if (found === undefined) throw new AgentMuxError('CONFIG_ERROR', 'Profiles of a project are not kept here.');
    return found[1];
  };
  const show = (name: string, project?: string): RunProfile => {
    const file = `${named(name)}.json`;
    for (const [, folder] of folders(project)) {
      const text = textOf(join(folder, file));
      if (text !== undefined) return profileOf(text, join(folder, file));
    }
    throw new AgentMuxError('PROFILE_NOT_FOUND', `There is no profile '${name}'.`, { profile: name });
  };
  return {
    list: () => folders().flatMap(([scope, folder]) => namesIn(folder).map((name) => entryOf(scope, folder, name))),
    show: (name) => show(name),
    set(name, profile, scope = 'user') {
      const text = JSON.stringify(checked(profile), null, 2);
      const folder = folderOf(scope);
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      // It may hold what MCP servers are given, so it is its owner's alone.
      replaceFile(join(folder, `${named(name)}.json`), text);
    },
    delete(name, scope = 'user') {
      const file = join(folderOf(scope), `${named(name)}.json`);
      if (textOf(file) === undefined) throw new AgentMuxError('PROFILE_NOT_FOUND', `There is no profile '${name}'.`, { profile: name });
      rmSync(file);
    },
    apply: (options) => (options.profile === undefined ? options : merged(show(options.profile, options.cwd), options)),
  };
}

/** Given options win over the profile's. Lists are replaced, objects are merged one level deep, and an option that is not given overrides nothing. */
function merged<T extends object>(profile: RunProfile, options: T): T {
  const given = Object.entries(options).filter(([, value]) => value !== undefined);
  const both = given.map(([key, value]) => {
    const under: unknown = Object.entries(profile).find(([name]) => name === key)?.[1];
    return [key, isPlain(under) && isPlain(value) ? { ...under, ...value } : value];
  });
  // The members of a profile are options of a run, each with the type it has there.
  return { ...profile, ...Object.fromEntries(both) } as T;
}

function isPlain(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function named(name: string): string {
  if (ProfileName.safeParse(name).success) return name;
  throw new ValidationError([{ field: 'profile', message: 'must be 1 to 64 letters, digits, _ or -', received: name }]);
}

function checked(value: unknown): RunProfile {
  const result = checkAt(RunProfile, value);
  if (result.ok) return result.value;
  throw new ValidationError(result.complaints.map(({ path, message }) => ({ field: path, message })));
}

function profileOf(text: string, file: string): RunProfile {
  const parsed = parseJson(text);
  const problem = parsed.ok ? (isJsonObject(parsed.value) ? undefined : 'it is no object') : parsed.message;
  const result = parsed.ok && problem === undefined ? checkAt(RunProfile, parsed.value) : undefined;
  if (result?.ok === true) return result.value;
  const words = problem ?? result?.complaints.map(({ path, message }) => `${path}: ${message}`).join('; ') ?? '';
  throw new AgentMuxError('CONFIG_ERROR', `The profile ${file} cannot be used: ${words}.`, { file });
}

function entryOf(scope: ProfileScope, folder: string, name: string): ProfileEntry {
  const file = join(folder, `${name}.json`);
  try {
    profileOf(textOf(file) ?? '', file);
    return { name, scope };
  } catch (error) {
    if (!(error instanceof AgentMuxError)) throw error;
    return { name, scope, problem: error.message };
  }
}

function namesIn(folder: string): readonly string[] {
  const names = found(() => readdirSync(folder)) ?? [];
  return names.flatMap((file) => (file.endsWith('.json') ? [file.slice(0, -'.json'.length)] : [])).toSorted();
}

function textOf(file: string): string | undefined {
  return found(() => readFileSync(file, 'utf8'));
}

/** Undefined for what is not there; any other trouble is told. */
function found<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

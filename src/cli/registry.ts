import type { Command } from './command.ts';

/** One line of `abp --help`. The implementation is loaded only when its command runs or its own help is asked for. */
export interface CommandRow {
  /** The words after `abp`; also the path of the file under `commands/`. */
  readonly name: string;
  readonly group: string;
  readonly summary: string;
  load(): Promise<{ readonly command: Command }>;
}

const RUN = 'Run the backplane:';
const KNOW = 'Know before you call:';
const CONTRACT = 'Use the contract:';

export const COMMANDS: readonly CommandRow[] = [
  { name: 'serve', group: RUN, summary: 'Start the server', load: () => import('./commands/serve.ts') },
  {
    name: 'config check',
    group: RUN,
    summary: 'Check a configuration and show the values in effect',
    load: () => import('./commands/config/check.ts'),
  },
  {
    name: 'doctor',
    group: RUN,
    summary: 'Find out what keeps the backplane from working here',
    load: () => import('./commands/doctor.ts'),
  },
  { name: 'keys create', group: RUN, summary: 'Make a key; its secret is shown once', load: () => import('./commands/keys/create.ts') },
  { name: 'keys list', group: RUN, summary: 'List keys, without their secrets', load: () => import('./commands/keys/list.ts') },
  { name: 'keys revoke', group: RUN, summary: 'End a key', load: () => import('./commands/keys/revoke.ts') },
  { name: 'capabilities', group: KNOW, summary: 'Show what each backend can do', load: () => import('./commands/capabilities.ts') },
  { name: 'negotiate', group: KNOW, summary: 'Check requirements against a backend', load: () => import('./commands/negotiate.ts') },
  {
    name: 'explain',
    group: KNOW,
    summary: 'Show what would happen to a request on an engine',
    load: () => import('./commands/explain.ts'),
  },
  {
    name: 'conformance',
    group: CONTRACT,
    summary: 'Check that a gateway serves SDKs as the vendors do',
    load: () => import('./commands/conformance.ts'),
  },
  { name: 'schema', group: CONTRACT, summary: 'List, print or write the JSON Schemas', load: () => import('./commands/schema.ts') },
];

/** The first words of commands that have two. */
export const FAMILIES: Readonly<Record<string, { readonly group: string; readonly summary: string }>> = {
  config: { group: RUN, summary: 'Work with the configuration' },
  keys: { group: RUN, summary: 'Give out keys and take them back' },
};

/** Options that every command takes, before or after its name. */
export const GLOBAL_OPTIONS = [
  { syntax: '--json', description: 'write JSON instead of text' },
  { syntax: '--no-color', description: 'write without colours' },
  { syntax: '--config <file>', description: 'configuration file (ABP_CONFIG, else abp.toml)' },
  { syntax: '--home <dir>', description: 'where state is kept (ABP_HOME, else ~/.abp)' },
] as const;

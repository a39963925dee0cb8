import type { CommandRow, Registry } from './command.ts';

const RUN = 'Run the backplane:';
const KNOW = 'Know before you call:';
const AGENTS = 'Coding agents:';
const OWN = 'Agents of your own:';
const RECEIPTS = 'Receipts:';
const RECORD = 'Record and replay:';
const CONTRACT = 'Use the contract:';

export const COMMANDS: readonly CommandRow[] = [
  { name: 'serve', group: RUN, summary: 'Start the server', load: () => import('./commands/serve.ts') },
  { name: 'console', group: RUN, summary: 'Print a link that opens the web console', load: () => import('./commands/console.ts') },
  { name: 'worker', group: RUN, summary: 'Work on turns of a shared database', load: () => import('./commands/worker.ts') },
  {
    name: 'config check',
    group: RUN,
    summary: 'Check a configuration and show the values in effect',
    load: () => import('./commands/config/check.ts'),
  },
  {
    name: 'config diff',
    group: RUN,
    summary: 'Show where the configuration file and the running server differ',
    load: () => import('./commands/config/diff.ts'),
  },
  {
    name: 'config reload',
    group: RUN,
    summary: 'Have the running server read its configuration again',
    load: () => import('./commands/config/reload.ts'),
  },
  {
    name: 'backup',
    group: RUN,
    summary: 'Write the home and its database to a file, also while a server runs',
    load: () => import('./commands/backup.ts'),
  },
  { name: 'restore', group: RUN, summary: 'Make a home and its database of a backup', load: () => import('./commands/restore.ts') },
  {
    name: 'import litellm',
    group: RUN,
    summary: 'Translate a configuration of LiteLLM into abp.toml',
    load: () => import('./commands/import/litellm.ts'),
  },
  {
    name: 'import ccr',
    group: RUN,
    summary: 'Translate a configuration of claude-code-router into abp.toml',
    load: () => import('./commands/import/ccr.ts'),
  },
  {
    name: 'doctor',
    group: RUN,
    summary: 'Find out what keeps the backplane from working here',
    load: () => import('./commands/doctor.ts'),
  },
  {
    name: 'budgets create',
    group: RUN,
    summary: 'Say how much may be spent on somebody’s behalf',
    load: () => import('./commands/budgets/create.ts'),
  },
  { name: 'budgets list', group: RUN, summary: 'List budgets and what is spent of them', load: () => import('./commands/budgets/list.ts') },
  { name: 'budgets set', group: RUN, summary: 'Change a budget', load: () => import('./commands/budgets/set.ts') },
  { name: 'budgets delete', group: RUN, summary: 'Delete a budget', load: () => import('./commands/budgets/delete.ts') },
  { name: 'users create', group: RUN, summary: 'Make a user', load: () => import('./commands/users/create.ts') },
  { name: 'users list', group: RUN, summary: 'List users and their teams', load: () => import('./commands/users/list.ts') },
  { name: 'users set', group: RUN, summary: 'Change a user', load: () => import('./commands/users/set.ts') },
  { name: 'users delete', group: RUN, summary: 'Delete a user and revoke the keys', load: () => import('./commands/users/delete.ts') },
  { name: 'teams create', group: RUN, summary: 'Make a team', load: () => import('./commands/teams/create.ts') },
  { name: 'teams list', group: RUN, summary: 'List teams, their users and limits', load: () => import('./commands/teams/list.ts') },
  { name: 'teams set', group: RUN, summary: 'Change a team or its limits', load: () => import('./commands/teams/set.ts') },
  { name: 'teams delete', group: RUN, summary: 'Delete a team', load: () => import('./commands/teams/delete.ts') },
  { name: 'keys create', group: RUN, summary: 'Make a key; its secret is shown once', load: () => import('./commands/keys/create.ts') },
  { name: 'keys list', group: RUN, summary: 'List keys, without their secrets', load: () => import('./commands/keys/list.ts') },
  {
    name: 'keys rotate',
    group: RUN,
    summary: 'Give a key a new secret while the old one still works',
    load: () => import('./commands/keys/rotate.ts'),
  },
  { name: 'keys set', group: RUN, summary: 'Change the limits of a key, or whose it is', load: () => import('./commands/keys/set.ts') },
  { name: 'keys revoke', group: RUN, summary: 'End a key', load: () => import('./commands/keys/revoke.ts') },
  { name: 'audit', group: RUN, summary: 'Show who changed what, and who read what', load: () => import('./commands/audit.ts') },
  { name: 'secrets set', group: RUN, summary: 'Seal a secret in the home', load: () => import('./commands/secrets/set.ts') },
  { name: 'secrets list', group: RUN, summary: 'List names of sealed secrets', load: () => import('./commands/secrets/list.ts') },
  { name: 'secrets remove', group: RUN, summary: 'Remove a sealed secret', load: () => import('./commands/secrets/remove.ts') },
  {
    name: 'secrets rotate',
    group: RUN,
    summary: 'Change to another master key while servers go on',
    load: () => import('./commands/secrets/rotate.ts'),
  },
  { name: 'login', group: RUN, summary: 'Sign in to a server with its issuer', load: () => import('./commands/sign-ins/login.ts') },
  { name: 'logout', group: RUN, summary: 'End the sign-in of this home', load: () => import('./commands/sign-ins/logout.ts') },
  {
    name: 'whoami',
    group: RUN,
    summary: 'Show who you are to the server, and what you may do',
    load: () => import('./commands/sign-ins/whoami.ts'),
  },
  { name: 'sign-ins list', group: RUN, summary: 'List who is signed in where', load: () => import('./commands/sign-ins/list.ts') },
  { name: 'sign-ins end', group: RUN, summary: 'End a sign-in, wherever it is', load: () => import('./commands/sign-ins/end.ts') },
  { name: 'capabilities', group: KNOW, summary: 'Show what each backend can do', load: () => import('./commands/capabilities.ts') },
  { name: 'negotiate', group: KNOW, summary: 'Check requirements against a backend', load: () => import('./commands/negotiate.ts') },
  {
    name: 'explain',
    group: KNOW,
    summary: 'Show what would happen to a request on an engine',
    load: () => import('./commands/explain.ts'),
  },
  { name: 'run', group: AGENTS, summary: 'Run a coding agent on a prompt', load: () => import('./commands/run.ts') },
  { name: 'race', group: AGENTS, summary: 'Give one task to several backends, and compare', load: () => import('./commands/race.ts') },
  { name: 'launch', group: AGENTS, summary: 'Show a coding agent’s own screen, through us', load: () => import('./commands/launch.ts') },
  {
    name: 'apply',
    group: AGENTS,
    summary: 'Bring what a staged run changed into its workspace',
    load: () => import('./commands/apply.ts'),
  },
  {
    name: 'env',
    group: AGENTS,
    summary: 'Print the variables that send a coding agent through us',
    load: () => import('./commands/env.ts'),
  },
  {
    name: 'conversations list',
    group: AGENTS,
    summary: 'List the conversations that coding agents have kept',
    load: () => import('./commands/conversations/list.ts'),
  },
  { name: 'conversations show', group: AGENTS, summary: 'Read a conversation', load: () => import('./commands/conversations/show.ts') },
  {
    name: 'conversations resume',
    group: AGENTS,
    summary: 'Go on with a conversation',
    load: () => import('./commands/conversations/resume.ts'),
  },
  {
    name: 'conversations export',
    group: AGENTS,
    summary: 'Write a conversation to a file',
    load: () => import('./commands/conversations/export.ts'),
  },
  {
    name: 'adapters list',
    group: AGENTS,
    summary: 'Show the coding agents and what they can do',
    load: () => import('./commands/adapters/list.ts'),
  },
  {
    name: 'adapters detect',
    group: AGENTS,
    summary: 'Find out which coding agents are installed, and their versions',
    load: () => import('./commands/adapters/detect.ts'),
  },
  {
    name: 'adapters show',
    group: AGENTS,
    summary: 'Show one coding agent: profile, version, ways to install it',
    load: () => import('./commands/adapters/show.ts'),
  },
  {
    name: 'adapters doctor',
    group: AGENTS,
    summary: 'Find out what keeps a coding agent from working here',
    load: () => import('./commands/adapters/doctor.ts'),
  },
  { name: 'adapters install', group: AGENTS, summary: 'Install a coding agent', load: () => import('./commands/adapters/install.ts') },
  { name: 'install', group: AGENTS, summary: 'Install a coding agent', load: () => import('./commands/install.ts') },
  { name: 'models list', group: AGENTS, summary: 'List the models of a coding agent', load: () => import('./commands/models/list.ts') },
  {
    name: 'models show',
    group: AGENTS,
    summary: 'Show what a model can do and what it costs',
    load: () => import('./commands/models/show.ts'),
  },
  { name: 'models validate', group: AGENTS, summary: 'Check a model name', load: () => import('./commands/models/validate.ts') },
  { name: 'models cost', group: AGENTS, summary: 'Work out what a use of a model costs', load: () => import('./commands/models/cost.ts') },
  {
    name: 'models refresh',
    group: AGENTS,
    summary: 'Ask a coding agent for its models',
    load: () => import('./commands/models/refresh.ts'),
  },
  { name: 'plugins list', group: AGENTS, summary: 'List the plugins of a coding agent', load: () => import('./commands/plugins/list.ts') },
  {
    name: 'plugins install',
    group: AGENTS,
    summary: 'Install a plugin of a coding agent',
    load: () => import('./commands/plugins/install.ts'),
  },
  {
    name: 'plugins uninstall',
    group: AGENTS,
    summary: 'Remove a plugin of a coding agent',
    load: () => import('./commands/plugins/uninstall.ts'),
  },
  {
    name: 'plugins search',
    group: AGENTS,
    summary: 'Search for plugins of a coding agent',
    load: () => import('./commands/plugins/search.ts'),
  },
  { name: 'chat', group: OWN, summary: 'Talk with an agent', load: () => import('./commands/chat.ts') },
  { name: 'agents create', group: OWN, summary: 'Make an agent', load: () => import('./commands/agents/create.ts') },
  { name: 'agents list', group: OWN, summary: 'List agents', load: () => import('./commands/agents/list.ts') },
  {
    name: 'agents show',
    group: OWN,
    summary: 'Show an agent, its prompt and its tools as a turn has them',
    load: () => import('./commands/agents/show.ts'),
  },
  { name: 'agents edit', group: OWN, summary: 'Change an agent', load: () => import('./commands/agents/edit.ts') },
  { name: 'agents export', group: OWN, summary: 'Write an agent as Markdown', load: () => import('./commands/agents/export.ts') },
  { name: 'agents import', group: OWN, summary: 'Make an agent from Markdown', load: () => import('./commands/agents/import.ts') },
  { name: 'agents archive', group: OWN, summary: 'Archive or delete an agent', load: () => import('./commands/agents/archive.ts') },
  {
    name: 'agents capabilities',
    group: OWN,
    summary: 'Show or set the capabilities of an agent',
    load: () => import('./commands/agents/capabilities.ts'),
  },
  { name: 'agents sessions', group: OWN, summary: 'List the sessions of agents', load: () => import('./commands/agents/sessions.ts') },
  {
    name: 'usage',
    group: RECEIPTS,
    summary: 'Show what calls came to, by engine, model, key, tag and time',
    load: () => import('./commands/usage.ts'),
  },
  {
    name: 'receipts list',
    group: RECEIPTS,
    summary: 'List receipts, newest first',
    load: () => import('./commands/receipts/list.ts'),
  },
  { name: 'receipts show', group: RECEIPTS, summary: 'Show one receipt', load: () => import('./commands/receipts/show.ts') },
  {
    name: 'receipts diff',
    group: RECEIPTS,
    summary: 'Show what two runs did differently',
    load: () => import('./commands/receipts/diff.ts'),
  },
  {
    name: 'receipts verify',
    group: RECEIPTS,
    summary: 'Find receipts that were changed, removed, repeated or reordered',
    load: () => import('./commands/receipts/verify.ts'),
  },
  {
    name: 'receipts head',
    group: RECEIPTS,
    summary: 'Show where the chain of receipts ends, to keep it elsewhere',
    load: () => import('./commands/receipts/head.ts'),
  },
  {
    name: 'receipts export',
    group: RECEIPTS,
    summary: 'Write receipts with their signatures as JSON lines',
    load: () => import('./commands/receipts/export.ts'),
  },
  {
    name: 'receipts archive',
    group: RECEIPTS,
    summary: 'Remove the content of old receipts and leave stubs',
    load: () => import('./commands/receipts/archive.ts'),
  },
  {
    name: 'receipts erase',
    group: RECEIPTS,
    summary: 'Remove all that is kept of the runs of a key or tag',
    load: () => import('./commands/receipts/erase.ts'),
  },
  {
    name: 'receipts keys',
    group: RECEIPTS,
    summary: 'Show the keys that sign receipts, or change to a new one',
    load: () => import('./commands/receipts/keys.ts'),
  },
  {
    name: 'recordings list',
    group: RECORD,
    summary: 'List recorded runs',
    load: () => import('./commands/recordings/list.ts'),
  },
  {
    name: 'recordings export',
    group: RECORD,
    summary: 'Write recorded runs to a file that can be replayed',
    load: () => import('./commands/recordings/export.ts'),
  },
  {
    name: 'recordings erase',
    group: RECORD,
    summary: 'Erase recorded bodies; receipts stay',
    load: () => import('./commands/recordings/erase.ts'),
  },
  {
    name: 'exec',
    group: RECORD,
    summary: 'Run a command whose SDKs call through us, from recordings where there are some',
    load: () => import('./commands/exec.ts'),
  },
  { name: 'replay', group: RECORD, summary: 'Run a recorded request again and compare', load: () => import('./commands/replay.ts') },
  {
    name: 'conformance',
    group: CONTRACT,
    summary: 'Check that a gateway serves SDKs as the vendors do',
    load: () => import('./commands/conformance.ts'),
  },
  {
    name: 'host',
    group: CONTRACT,
    summary: 'Be a sidecar that drives a coding agent, on the standard input and output',
    load: () => import('./commands/host.ts'),
  },
  {
    name: 'sidecars check',
    group: CONTRACT,
    summary: 'Try a sidecar on everything that the protocol asks of it',
    load: () => import('./commands/sidecars/check.ts'),
  },
  {
    name: 'seatbelt',
    group: CONTRACT,
    summary: 'Print a profile that confines a coding agent on macOS (not run yet)',
    load: () => import('./commands/seatbelt.ts'),
  },
  {
    name: 'completion',
    group: CONTRACT,
    summary: 'Print a script that lets bash, zsh or fish complete abp',
    load: () => import('./commands/completion.ts'),
  },
  { name: 'schema', group: CONTRACT, summary: 'List, print or write the JSON Schemas', load: () => import('./commands/schema.ts') },
];

/** The first words of commands that have two. */
export const FAMILIES: Readonly<Record<string, { readonly group: string; readonly summary: string }>> = {
  agents: { group: OWN, summary: 'Work with agents made of capabilities' },
  receipts: { group: RECEIPTS, summary: 'Read, verify and keep receipts' },
  config: { group: RUN, summary: 'Work with the configuration' },
  import: { group: RUN, summary: 'Take over the configuration of another gateway' },
  recordings: { group: RECORD, summary: 'Work with recorded bodies' },
  conversations: { group: AGENTS, summary: 'Read and resume conversations that coding agents have kept' },
  adapters: { group: AGENTS, summary: 'Know and install coding agents' },
  models: { group: AGENTS, summary: 'Know the models of coding agents' },
  plugins: { group: AGENTS, summary: 'Work with plugins of coding agents' },
  sidecars: { group: CONTRACT, summary: 'Work with programs that speak the sidecar protocol' },
  users: { group: RUN, summary: 'Know whose keys are whose' },
  teams: { group: RUN, summary: 'Put users and keys together, with limits' },
  budgets: { group: RUN, summary: 'Say how much may be spent, and see what is' },
  keys: { group: RUN, summary: 'Give out keys and take them back' },
  secrets: { group: RUN, summary: 'Keep secrets encrypted at rest' },
  'sign-ins': { group: RUN, summary: 'See who is signed in, and end that' },
};

/** Families that had another name in the version before: scripts may go on using it until the next one. No help shows them. */
export const FORMER_FAMILIES: Readonly<Record<string, string>> = { receipt: 'receipts', sessions: 'conversations', sidecar: 'sidecars' };

/** Options that had another name in the version before, by command. No help shows them. */
export const FORMER_OPTIONS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'agents export': { '--file': '--output' },
  'recordings export': { '--file': '--output' },
  'conversations export': { '--out': '--output' },
};

/** Options that every command takes, before or after its name. */
export const GLOBAL_OPTIONS = [
  { syntax: '--json', description: 'write JSON instead of text' },
  { syntax: '--no-color', description: 'write without colours' },
  { syntax: '--config <file>', description: 'configuration file (ABP_CONFIG, else abp.toml)' },
  { syntax: '--home <dir>', description: 'where state is kept (ABP_HOME, else ~/.abp)' },
] as const;

/** All of it, for the commands that show other commands. */
export const REGISTRY: Registry = { commands: COMMANDS, families: FAMILIES, globals: GLOBAL_OPTIONS };

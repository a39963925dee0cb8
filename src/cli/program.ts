import { CommanderError, Command as Program } from 'commander';
import { packageVersion } from '../base/own-files.ts';
import type { Command, CommandRow, Parameters, RawValues } from './command.ts';
import { CliError } from './failure.ts';
import type { Io } from './io.ts';
import { COMMANDS, FAMILIES, FORMER_FAMILIES, FORMER_OPTIONS, GLOBAL_OPTIONS } from './registry.ts';

/** The command that the arguments name, with its values. */
export interface Invocation {
  readonly command: Command;
  readonly raw: RawValues;
  readonly globals: { readonly json: boolean; readonly color: boolean; readonly config?: string; readonly home?: string };
}

const VALUED_GLOBALS = new Set<string>(GLOBAL_OPTIONS.filter((o) => o.syntax.includes('<')).map((o) => o.syntax.split(' ')[0] ?? ''));

/** The command line with the names that its family and its options have now. */
function renamed(argv: readonly string[]): readonly string[] {
  const at = argv.findIndex((word, index) => !word.startsWith('-') && !VALUED_GLOBALS.has(argv[index - 1] ?? ''));
  const family = FORMER_FAMILIES[argv[at] ?? ''];
  const named = family === undefined ? argv : argv.with(at, family);
  const options = FORMER_OPTIONS[rowOf(named)?.name ?? ''] ?? {};
  return named.map((word) => {
    const [flag = '', ...value] = word.split('=');
    return Object.hasOwn(options, flag) ? [options[flag], ...value].join('=') : word;
  });
}

/** The row whose name begins the words of the command line, without parsing the rest. */
export function rowOf(argv: readonly string[]): CommandRow | undefined {
  const words = argv.filter((word, at) => !word.startsWith('-') && !VALUED_GLOBALS.has(argv[at - 1] ?? ''));
  return COMMANDS.find((row) => row.name.split(' ').every((part, at) => words[at] === part));
}

/** Parses a command line. Help, the version and every fault leave it as a throw. */
export async function parse(written: readonly string[], io: Io): Promise<Invocation> {
  const argv = renamed(written);
  const chosen = rowOf(argv);
  const loaded = chosen === undefined ? undefined : (await chosen.load()).command;
  let invocation: Invocation | undefined;
  const program = frame(io);
  for (const row of COMMANDS) {
    const node = addRow(program, row);
    if (row !== chosen || loaded === undefined) continue;
    describe(node, loaded);
    node.action(() => {
      const names = Object.keys(loaded.arguments);
      const raw = { ...node.opts(), ...Object.fromEntries(names.map((name, at) => [name, node.processedArgs[at]])) };
      invocation = { command: loaded, raw, globals: program.opts() };
    });
  }
  await program.parseAsync(argv, { from: 'user' }).catch((error: unknown) => {
    throw error instanceof CommanderError && !isAnswered(error) ? usageError(error, helpOf(program, chosen, argv)) : error;
  });
  if (invocation === undefined)
    throw new CliError('usage', 'the command is not clear', { hint: 'Put its name first: abp <command> [options].' });
  return invocation;
}

/** Commander reports help and version as errors after it has written them. */
export function isAnswered({ code }: CommanderError): boolean {
  return code === 'commander.helpDisplayed' || code === 'commander.version' || code === 'commander.help';
}

/** Commander writes `error: what` and, on a second line, `(Did you mean x?)`; both become one line of ours. */
function usageError(thrown: CommanderError, hint: string): CliError {
  const [what = '', near] = thrown.message.replace(/^error: /, '').split('\n');
  const nearest = near === undefined ? '' : `, d${near.slice(2, -1)}`;
  return new CliError('usage', `${what.replace(/\.$/, '')}${nearest}`, { hint, cause: thrown });
}

/** How the command is written, or which commands there are where the words name none. */
function helpOf(program: Program, chosen: CommandRow | undefined, argv: readonly string[]): string {
  const [first = '', second] = chosen?.name.split(' ') ?? argv.filter((word) => Object.hasOwn(FAMILIES, word));
  const family = program.commands.find((node) => node.name() === first);
  if (family === undefined) return 'abp --help lists the commands, abp <command> --help its options.';
  const node = family.commands.find((one) => one.name() === second) ?? family;
  if (chosen === undefined) return `The commands of abp ${first} are ${family.commands.map((one) => one.name()).join(', ')}.`;
  return `Write it as abp ${chosen.name} ${node.usage()}; abp ${chosen.name} --help lists the options.`;
}

function frame(io: Io): Program {
  const program = new Program('abp')
    .description('One process between agent code and every model and coding agent.')
    .usage('<command> [options]')
    .version(packageVersion(), '-V, --version', 'show the version')
    .helpOption('-h, --help', 'show help')
    .helpCommand(false)
    .configureHelp({ showGlobalOptions: true })
    .exitOverride()
    .configureOutput({
      writeOut: (text) => io.stdout.write(text),
      // Errors are thrown and written once, by main; only help for a missing word comes this way.
      writeErr: (text) => io.stderr.write(text),
      outputError: () => undefined,
      getOutHelpWidth: () => io.stdout.columns ?? 100,
      getErrHelpWidth: () => io.stderr.columns ?? 100,
    });
  for (const option of GLOBAL_OPTIONS) program.option(option.syntax, option.description);
  return program;
}

function addRow(program: Program, row: CommandRow): Program {
  const [first = '', second] = row.name.split(' ');
  if (second === undefined) return program.command(first).summary(row.summary).description(`${row.summary}.`).helpGroup(row.group);
  const family = program.commands.find((node) => node.name() === first) ?? addFamily(program, first);
  return family.command(second).summary(row.summary).description(`${row.summary}.`);
}

function addFamily(program: Program, name: string): Program {
  const { summary = name, group = '' } = FAMILIES[name] ?? {};
  return program.command(name).usage('<command> [options]').summary(summary).description(`${summary}.`).helpCommand(false).helpGroup(group);
}

function describe(node: Program, command: Command): void {
  for (const { syntax, description } of Object.values(command.arguments)) node.argument(syntax, description);
  addOptions(node, command.options);
  if (command.examples.length > 0) node.addHelpText('after', `\nExamples:\n${command.examples.map((line) => `  ${line}`).join('\n')}`);
}

function addOptions(node: Program, options: Parameters): void {
  for (const { syntax, description, repeated } of Object.values(options)) {
    if (repeated) node.option(syntax, description, (value: string, before: readonly string[] = []) => [...before, value]);
    else node.option(syntax, description);
  }
}

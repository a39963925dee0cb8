import { CliError } from './failure.ts';
import type { Io } from './io.ts';
import type { Output } from './output.ts';
import type { Parameter } from './parameter.ts';

/** Given to every command besides its own arguments and options. */
export interface Context {
  readonly io: Io;
  readonly output: Output;
  readonly configPath?: string;
  readonly homePath?: string;
  /** For commands that show other commands. */
  readonly registry: Registry;
}

export type Parameters = Readonly<Record<string, Parameter<unknown>>>;
type Values<P extends Parameters> = { readonly [K in keyof P]: P[K] extends Parameter<infer T> ? T : never };

/** Arguments and options as the parser found them, by name. */
export type RawValues = Readonly<Record<string, unknown>>;

/** One command as the program and the docs see it. The names of `options` are the camelCase of their flags. */
export interface Command {
  readonly arguments: Parameters;
  readonly options: Parameters;
  readonly examples: readonly string[];
  run(context: Context, raw: RawValues): Promise<number>;
}

/** One line of `abp --help`. The implementation is loaded only when its command runs or its own help is asked for. */
export interface CommandRow {
  /** The words after `abp`; also the path of the file under `commands/`. */
  readonly name: string;
  readonly group: string;
  readonly summary: string;
  load(): Promise<{ readonly command: Command }>;
}

/** Every command, as help and shells show them. */
export interface Registry {
  readonly commands: readonly CommandRow[];
  /** The first words of commands that have two. */
  readonly families: Readonly<Record<string, { readonly group: string; readonly summary: string }>>;
  /** Options that every command takes. */
  readonly globals: readonly { readonly syntax: string; readonly description: string }[];
}

/** How a command is written: `run` gets its arguments and options typed by their parameters. */
export interface CommandSpec<A extends Parameters, O extends Parameters> {
  readonly arguments: A;
  readonly options: O;
  readonly examples: readonly string[];
  run(context: Context, values: Values<A> & Values<O>): Promise<number>;
}

export function defineCommand<A extends Parameters, O extends Parameters>(spec: CommandSpec<A, O>): Command {
  const parameters: Parameters = { ...spec.arguments, ...spec.options };
  return {
    ...spec,
    run(context, raw) {
      const values = Object.fromEntries(Object.entries(parameters).map(([name, parameter]) => [name, readAt(parameter, raw[name])]));
      // True by construction: every name of A and O is read by its own parameter.
      return spec.run(context, values as Values<A> & Values<O>);
    },
  };
}

/** A value that cannot be read is told with the option that it was given to. */
function readAt({ syntax, read }: Parameter<unknown>, raw: unknown): unknown {
  try {
    return read(raw);
  } catch (error) {
    if (!(error instanceof CliError) || error.code !== 'usage') throw error;
    const { hint, details } = error;
    throw new CliError('usage', `${syntax.split(' ')[0]}: ${error.message}`, { hint, details, cause: error });
  }
}

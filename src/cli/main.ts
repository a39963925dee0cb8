import { CommanderError } from 'commander';
import type { Context } from './command.ts';
import { EXITS } from './exit-codes.ts';
import { toFailure } from './failure.ts';
import { colourWanted, type Io, processIo } from './io.ts';
import { createOutput } from './output.ts';
import { type Invocation, isAnswered, parse } from './program.ts';
import { REGISTRY } from './registry.ts';

/** Runs one command line and returns its exit code; nothing it does ends the process. */
export async function main(argv: readonly string[], io: Io = processIo): Promise<number> {
  if (io === processIo) surviveClosedPipe();
  try {
    const invocation = await parse(normalise(argv), io);
    return await invocation.command.run(contextOf(invocation, io), invocation.raw);
  } catch (thrown) {
    if (thrown instanceof CommanderError && isAnswered(thrown)) return thrown.exitCode === 0 ? EXITS.ok.code : EXITS.usage.code;
    return report(thrown, io, argv.includes('--json'));
  }
}

/** `abp` alone is `abp --help`, and `abp help x` is `abp x --help`. */
function normalise(argv: readonly string[]): readonly string[] {
  if (argv.length === 0) return ['--help'];
  return argv[0] === 'help' ? [...argv.slice(1), '--help'] : argv;
}

function contextOf({ globals }: Invocation, io: Io): Context {
  const homePath = globals.home ?? (io.env.ABP_HOME || undefined);
  return {
    io,
    registry: REGISTRY,
    output: createOutput({ io, json: globals.json === true, colour: colourWanted(io, globals.color) }),
    ...(globals.config !== undefined && { configPath: globals.config }),
    ...(homePath !== undefined && { homePath }),
  };
}

function report(thrown: unknown, io: Io, json: boolean): number {
  const { error, exit } = toFailure(thrown, io.env);
  if (json) io.stdout.write(`${JSON.stringify({ error }, null, 2)}\n`);
  else io.stderr.write(`abp: ${error.message}\nhint: ${error.hint}\n`);
  if (io.env.ABP_DEBUG === '1' && thrown instanceof Error) io.stderr.write(`${thrown.stack}\n`);
  return EXITS[exit].code;
}

/** `abp … | head` closes our output early. That is no fault of the command, and a server goes on serving without its reader. */
function surviveClosedPipe(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
}

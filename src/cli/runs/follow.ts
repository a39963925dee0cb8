import type { JsonObject } from '../../base/json.ts';
import { isErrorCode } from '../../contract/errors.ts';
import type { Context } from '../command.ts';
import { EXITS, exitOfError } from '../exit-codes.ts';
import { canAsk, Person } from './person.ts';
import { RunRenderer } from './render.ts';
import type { RunSource } from './source.ts';

/** A refusal comes within this time; a start that takes longer is announced. */
const REFUSAL_MS = 300;

/** The names for the first line. */
export interface Started {
  readonly agent: string;
  readonly engine?: string | undefined;
  readonly cwd?: string | undefined;
}

/** Starts a run, shows it until its end and returns its exit code. The first Ctrl-C ends the run, the second one the command. */
export async function follow({ io, output }: Context, started: Started, open: () => Promise<RunSource>): Promise<number> {
  const renderer = output.json ? undefined : new RunRenderer(io, output.paint, started.cwd);
  const waiting = setTimeout(() => renderer?.begin(started.agent, started.engine), REFUSAL_MS);
  const run = await open().finally(() => clearTimeout(waiting));
  const leave = cancelOnSignal(run);
  const person = renderer !== undefined && canAsk(io) ? new Person(run, (text) => io.stderr.write(text)) : undefined;
  try {
    for await (const event of run.events) {
      const show = (): void => renderer?.show(event);
      if (renderer === undefined) io.stdout.write(`${JSON.stringify(event)}\n`);
      else if (person === undefined) show();
      else person.hear(event, show);
    }
    await person?.end();
    const result = await run.result();
    if (renderer === undefined) io.stdout.write(`${JSON.stringify({ type: 'run_result', ...result })}\n`);
    else renderer.end(result);
    return exitOfRun(result);
  } finally {
    leave();
    await person?.end();
    await run.close();
  }
}

function cancelOnSignal(run: RunSource): () => void {
  let asked = false;
  const onSignal = (signal: NodeJS.Signals): void => {
    if (asked) process.exit(signal === 'SIGINT' ? 130 : 143);
    asked = true;
    run.cancel().catch(() => process.exit(1));
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  return () => {
    process.off('SIGINT', onSignal);
    process.off('SIGTERM', onSignal);
  };
}

/** The exit code of a run that was started. */
function exitOfRun(result: JsonObject): number {
  const { exitReason, error } = result;
  if (exitReason === 'completed') return EXITS.ok.code;
  if (exitReason === 'aborted' || exitReason === 'interrupted') return EXITS.interrupted.code;
  const code = typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : '';
  if (exitReason === 'failed' && isErrorCode(code)) return EXITS[exitOfError(code)].code;
  return EXITS.agentFailed.code;
}

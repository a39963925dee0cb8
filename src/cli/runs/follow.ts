import type { AgentEvent } from '../../contract/runs/event.ts';
import type { Context } from '../command.ts';
import { askPerson, canAsk } from './answers.ts';
import { exitOfRun } from './exit.ts';
import { RunRenderer } from './render.ts';
import type { RunSource } from './source.ts';

/** What is refused is refused within this time; what takes longer is said to be starting. */
const REFUSAL_MS = 300;

/** What is started, for the first line. */
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
  try {
    for await (const event of run.events) {
      if (renderer === undefined) io.stdout.write(`${JSON.stringify(event)}\n`);
      else renderer.show(event);
      if (renderer !== undefined && canAsk(io)) await answered(run, event);
    }
    const result = await run.result();
    if (renderer === undefined) io.stdout.write(`${JSON.stringify({ type: 'run_result', ...result })}\n`);
    else renderer.end(result);
    return exitOfRun(result);
  } finally {
    leave();
    await run.close();
  }
}

async function answered(run: RunSource, event: AgentEvent): Promise<void> {
  if (event.type === 'approval_request' || event.type === 'input_required') await run.answer(event.interactionId, await askPerson(event));
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

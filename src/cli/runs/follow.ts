import type { AgentEvent } from '../../contract/event.ts';
import type { Context } from '../command.ts';
import { askPerson, canAsk } from './answers.ts';
import { exitOfRun } from './exit.ts';
import { RunRenderer } from './render.ts';
import type { RunSource } from './source.ts';

/** Shows a run until its end and returns its exit code. The first Ctrl-C ends the run, the second one the command. */
export async function follow({ io, output }: Context, run: RunSource): Promise<number> {
  const renderer = output.json ? undefined : new RunRenderer(io, output.paint);
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

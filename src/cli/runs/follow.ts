import { createInterface } from 'node:readline/promises';
import type { JsonObject } from '../../base/json.ts';
import { isErrorCode } from '../../contract/errors.ts';
import type { AgentEvent, EventOf } from '../../contract/runs/event.ts';
import type { InteractionAnswer } from '../../runtime/runs/handle.ts';
import type { Context } from '../command.ts';
import { EXITS, exitOfError } from '../exit-codes.ts';
import type { Io } from '../io.ts';
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

/** The exit code of a run that was started. */
function exitOfRun(result: JsonObject): number {
  const { exitReason, error } = result;
  if (exitReason === 'completed') return EXITS.ok.code;
  if (exitReason === 'aborted' || exitReason === 'interrupted') return EXITS.interrupted.code;
  const code = typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : '';
  if (exitReason === 'failed' && isErrorCode(code)) return EXITS[exitOfError(code)].code;
  return EXITS.agentFailed.code;
}

/** Whether somebody sits at the terminal and can be asked. */
export function canAsk(io: Io): boolean {
  return io.stderr.isTTY === true && process.stdin.isTTY === true;
}

/** Asks the person at the terminal what the agent asks. */
async function askPerson(event: EventOf<'approval_request'> | EventOf<'input_required'>): Promise<InteractionAnswer> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    if (event.type === 'input_required') return { text: await lines.question('> ') };
    const said = await lines.question('  allow? [y/N] ');
    return /^y(es)?$/i.test(said.trim()) ? { approve: true } : { approve: false, reason: 'the person at the terminal said no' };
  } finally {
    lines.close();
  }
}

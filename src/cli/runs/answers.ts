import { createInterface } from 'node:readline/promises';
import type { EventOf } from '../../contract/runs/event.ts';
import type { InteractionAnswer } from '../../runtime/runs/handle.ts';
import type { Io } from '../io.ts';

/** Whether somebody sits at the terminal and can be asked. */
export function canAsk(io: Io): boolean {
  return io.stderr.isTTY === true && process.stdin.isTTY === true;
}

/** Asks the person at the terminal what the agent asks. */
export async function askPerson(event: EventOf<'approval_request'> | EventOf<'input_required'>): Promise<InteractionAnswer> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    if (event.type === 'input_required') return { text: await lines.question('> ') };
    const said = await lines.question('  allow? [y/N] ');
    return /^y(es)?$/i.test(said.trim()) ? { approve: true } : { approve: false, reason: 'the person at the terminal said no' };
  } finally {
    lines.close();
  }
}

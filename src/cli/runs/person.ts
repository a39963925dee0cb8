import { createInterface } from 'node:readline/promises';
import type { AgentEvent, EventOf } from '../../contract/runs/event.ts';
import type { InteractionAnswer } from '../../runtime/runs/handle.ts';
import type { Io } from '../io.ts';
import type { RunSource } from './source.ts';

type Question = EventOf<'approval_request'> | EventOf<'input_required'>;

/** Whether somebody sits at the terminal and can be asked. */
export function canAsk(io: Io): boolean {
  return io.stderr.isTTY === true && process.stdin.isTTY === true;
}

/**
 * The person at the terminal, who is shown what happens and asked what the agent asks, one question at a time. What happens meanwhile is
 * shown after the answer. A question that somebody else has answered, or whose run has ended, is taken back.
 */
export class Person {
  readonly #run: Pick<RunSource, 'answer'>;
  readonly #say: (text: string) => void;
  readonly #open = new Map<string, AbortController>();
  #shown: Promise<void> = Promise.resolve();

  constructor(run: Pick<RunSource, 'answer'>, say: (text: string) => void) {
    this.#run = run;
    this.#say = say;
  }

  hear(event: AgentEvent, show: () => void): void {
    if (event.type === 'approval_granted' || event.type === 'approval_denied') this.#open.get(event.interactionId)?.abort();
    this.#next(show);
    if (event.type !== 'approval_request' && event.type !== 'input_required') return;
    const withdrawn = new AbortController();
    this.#open.set(event.interactionId, withdrawn);
    this.#next(() => this.#ask(event, withdrawn.signal));
  }

  /** The run is over: nobody waits for an answer any more. Resolves when everything has been shown. */
  async end(): Promise<void> {
    for (const withdrawn of this.#open.values()) withdrawn.abort();
    await this.#shown;
  }

  #next(step: () => void | Promise<void>): void {
    this.#shown = this.#shown.then(step);
  }

  async #ask(question: Question, withdrawn: AbortSignal): Promise<void> {
    const answer = withdrawn.aborted ? undefined : await this.#answerTo(question, withdrawn);
    this.#open.delete(question.interactionId);
    if (answer === undefined) return;
    // Somebody may have answered in the same moment: then theirs counts, and the run goes on.
    await this.#run.answer(question.interactionId, answer).catch((error: unknown) => {
      this.#say(`  your answer came too late: ${error instanceof Error ? error.message : String(error)}\n`);
    });
  }

  async #answerTo(question: Question, withdrawn: AbortSignal): Promise<InteractionAnswer | undefined> {
    const lines = createInterface({ input: process.stdin, output: process.stderr });
    // A terminal that is read by line tells of Ctrl-C here and nowhere else.
    lines.once('SIGINT', () => process.kill(process.pid, 'SIGINT'));
    const closed = new Promise<undefined>((resolve) => lines.once('close', () => resolve(undefined)));
    const asked = lines.question(question.type === 'input_required' ? '> ' : '  allow? [y/N] ', { signal: withdrawn });
    try {
      const said = await Promise.race([asked.catch(() => undefined), closed]);
      if (withdrawn.aborted) this.#say('\n  nobody has to answer this any more\n');
      return withdrawn.aborted ? undefined : answerIn(question, said);
    } finally {
      lines.close();
    }
  }
}

/** An empty line is a no, and so is the end of the input. */
function answerIn({ type }: Question, said: string | undefined): InteractionAnswer {
  if (type === 'input_required') return { text: said ?? '' };
  if (said === undefined) return { approve: false, reason: 'the input of the terminal has ended' };
  return /^y(es)?$/i.test(said.trim()) ? { approve: true } : { approve: false, reason: 'the person at the terminal said no' };
}

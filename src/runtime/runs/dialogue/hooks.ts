import type { EventDraft, WaitingTool } from '../../../adapters/adapter.ts';
import type { AgentEvent } from '../../../contract/runs/event.ts';
import type { HookData } from '../../../contract/runs/run-hooks.ts';
import type { Ending } from '../books/outcome.ts';
import type { Tally } from '../books/tally.ts';
import type { LocalRunOptions } from '../handle.ts';
import type { Preparing } from '../prepare.ts';
import { failed, HookCalls, type HookContext } from './hook-calls.ts';
import { ToolWatch, type Verdict, type WatchContext } from './tool-watch.ts';

export type HooksContext = HookContext & Omit<WatchContext, 'calls'>;

/** The two ways on after an answer of an agent that listens. */
export interface NextStep {
  end(): void;
  goOn(text: string): void;
}

/** The hooks of one run: each is called at its point, and what it decides is carried out where it can be. */
export class Hooks {
  readonly #calls: HookCalls;
  readonly #watch: ToolWatch;
  readonly #context: HooksContext;
  #stopTold = false;
  #continued = false;

  constructor(context: HooksContext) {
    this.#context = context;
    this.#calls = new HookCalls(context);
    this.#watch = new ToolWatch({ ...context, calls: this.#calls });
  }

  /** Who wants to see tools before they run. */
  consulted({ onApprovalRequest }: LocalRunOptions): Pick<Preparing, 'consulted'> {
    const callback = onApprovalRequest !== undefined;
    const hook = this.#calls.has('preToolUse');
    return callback || hook ? { consulted: { callback, hook } } : {};
  }

  /** The options with the prompt that the hook leaves; throws where it leaves none. */
  prompted(options: LocalRunOptions, stopped: AbortSignal): Promise<LocalRunOptions> {
    return this.#calls.prompted(options, stopped);
  }

  /** The agent is about to start, as one that waits for answers or as one that does not. */
  starting({ waits }: { readonly waits: boolean }): void {
    this.#watch.blocks = waits;
  }

  /** Whether an event of the agent is kept back until a hook has decided. */
  holds(draft: EventDraft): boolean {
    return this.#watch.holds(draft);
  }

  waits(tools: readonly WaitingTool[]): void {
    for (const tool of tools) this.#watch.waits(tool);
  }

  verdictOn(interactionId: string): Verdict | undefined {
    return this.#watch.verdictOn(interactionId);
  }

  heard(event: AgentEvent): void {
    this.#calls.heard(event);
    this.#watch.heard(event);
  }

  /**
   * The agent has answered. Whether it is kept until the hook has decided: it goes on where the hook denies, and ends otherwise. A hook
   * that fails keeps nobody from ending.
   */
  answered({ text, turnCount }: Tally, next?: NextStep): boolean {
    this.#stopTold = true;
    const data = { text, turnCount, continued: this.#continued };
    const keeps = next !== undefined && this.#calls.has('stop');
    if (!keeps) this.#calls.tell('stop', data);
    else void this.#stopped(data, next);
    return keeps;
  }

  async #stopped(data: HookData['stop'], { end, goOn }: NextStep): Promise<void> {
    const { deadlines, remark } = this.#context;
    deadlines.hold();
    try {
      const answer = await this.#calls.ask('stop', data);
      if (answer?.decision !== 'deny') {
        if (answer?.decision === 'modify') remark('warn', 'the hook stop said modify, which is not honoured: there is nothing to change');
        end();
        return;
      }
      goOn(answer.message ?? 'Continue.');
      this.#continued = true;
      remark('info', 'the hook stop made the agent go on');
    } catch (error) {
      remark('warn', failed('stop', error));
      end();
    } finally {
      deadlines.release();
    }
  }

  /** The agent is gone. Not every agent says that it has answered before it ends. */
  async ended({ exitReason }: Ending, tally: Tally): Promise<void> {
    if (exitReason === 'completed' && !this.#stopTold) this.answered(tally);
    if (tally.sessionId !== null) this.#calls.tell('sessionEnd', { turnCount: tally.turnCount, exitReason });
    await this.#calls.settled();
  }
}

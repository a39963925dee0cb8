import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../../../base/clock.ts';
import type { RunId } from '../../../contract/run-id.ts';
import type { AgentEvent } from '../../../contract/runs/event.ts';
import { AgentMuxError } from '../../../contract/runs/run-error.ts';
import type { HookAnswer, HookCall, HookData, HookType, RunHooks } from '../../../contract/runs/run-hooks.ts';
import type { LocalRunOptions } from '../handle.ts';

/** How long the end of a run waits for hooks that were only told. */
const LAST_HOOKS_MS = 5000;

export interface HookContext {
  readonly hooks: RunHooks;
  readonly agent: string;
  readonly runId: RunId;
  readonly clock: Clock;
  sessionId(): string | null;
  /** Tells the listeners of the run something about it. */
  remark(level: 'info' | 'warn', message: string): void;
}

/** Calls the hooks of one run. */
export class HookCalls {
  readonly #context: HookContext;
  readonly #told = new Set<Promise<void>>();

  constructor(context: HookContext) {
    this.#context = context;
  }

  has(type: HookType): boolean {
    return this.#context.hooks[type] !== undefined;
  }

  /** The answer of the hook; throws what the hook throws, and where its answer is none. */
  async ask<T extends HookType>(hookType: T, data: HookData[T]): Promise<HookAnswer | undefined> {
    const { hooks, agent, runId, clock, sessionId } = this.#context;
    const session = sessionId();
    const call: HookCall<T> = {
      agent,
      hookType,
      runId,
      ...(session !== null && { sessionId: session }),
      timestamp: clock.now(),
      data,
    };
    const answer: unknown = await hooks[hookType]?.(call);
    return answerOf(answer);
  }

  /** A hook that decides nothing here. An answer that wants something done is told to be without effect. */
  tell<T extends HookType>(hookType: T, data: HookData[T]): void {
    if (!this.has(hookType)) return;
    const told = this.ask(hookType, data).then(
      (answer) => this.#unheeded(hookType, answer),
      (error: unknown) => this.#context.remark('warn', failed(hookType, error)),
    );
    this.#told.add(told);
    void told.finally(() => this.#told.delete(told));
  }

  /** Calls the hooks that an event is for. */
  heard(event: AgentEvent): void {
    switch (event.type) {
      case 'session_start': {
        const { sessionId, resumed, forkedFrom } = event;
        this.tell('sessionStart', { sessionId, resumed, ...(forkedFrom !== undefined && { forkedFrom }) });
        break;
      }
      case 'tool_result': {
        const { toolCallId, toolName, output, durationMs } = event;
        this.tell('postToolUse', { toolCallId, toolName, output, durationMs });
        break;
      }
      case 'tool_error':
        this.tell('postToolUse', { toolCallId: event.toolCallId, toolName: event.toolName, error: event.error });
        break;
    }
  }

  /** The options with the prompt that the hook leaves; throws where it leaves none, or when the run is stopped meanwhile. */
  async prompted(options: LocalRunOptions, stopped: AbortSignal): Promise<LocalRunOptions> {
    if (!this.has('userPromptSubmit')) return options;
    const prompt = [options.prompt].flat().join('\n\n');
    const asked = this.ask('userPromptSubmit', { prompt });
    const answer = await Promise.race([asked, aborted(stopped)]).catch((error: unknown) => {
      throw new AgentMuxError('ABORTED', `The prompt was not submitted: ${failed('userPromptSubmit', error)}.`);
    });
    if (answer === undefined || answer.decision === 'allow') return options;
    if (answer.decision === 'deny') {
      throw new AgentMuxError('ABORTED', `The hook userPromptSubmit denied the prompt${answer.message ? `: ${answer.message}` : '.'}`);
    }
    if (typeof answer.modifiedInput !== 'string' || answer.modifiedInput === '') {
      throw new AgentMuxError('ABORTED', 'The hook userPromptSubmit must give another prompt as a text that is not empty.');
    }
    this.#context.remark('info', 'the hook userPromptSubmit changed the prompt');
    return { ...options, prompt: answer.modifiedInput };
  }

  /** Resolves when every hook that was told has answered, or has taken too long. */
  async settled(): Promise<void> {
    if (this.#told.size === 0) return;
    const late = new AbortController();
    const timer = sleep(LAST_HOOKS_MS, 'late', { signal: late.signal }).catch(() => undefined);
    const first = await Promise.race([Promise.all(this.#told), timer]);
    late.abort();
    if (first === 'late') this.#context.remark('warn', 'a hook had not answered when the run ended');
  }

  #unheeded(hookType: HookType, answer: HookAnswer | undefined): void {
    if (answer === undefined || answer.decision === 'allow') return;
    const words = answer.message === undefined ? '' : ` (${answer.message})`;
    this.#context.remark('warn', `the hook ${hookType} said ${answer.decision}${words}, which is not honoured: it is only told`);
  }
}

/** Rejects when the signal aborts. */
function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const onAbort = (): void => reject(new Error('the run was stopped'));
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
  });
}

export function failed(hookType: HookType, error: unknown): string {
  return `the hook ${hookType} failed: ${error instanceof Error ? error.message : String(error)}`;
}

/** Hooks are the caller's own code, and not all of it was checked by a compiler. */
function answerOf(value: unknown): HookAnswer | undefined {
  if (value === undefined || value === null) return undefined;
  if (isAnswer(value)) return value;
  throw new Error(`its answer has no decision: ${JSON.stringify(value)}`);
}

function isAnswer(value: unknown): value is HookAnswer {
  if (typeof value !== 'object' || value === null || !('decision' in value)) return false;
  const { decision } = value;
  return decision === 'allow' || decision === 'deny' || (decision === 'modify' && 'modifiedInput' in value);
}

import { stripVTControlCharacters } from 'node:util';
import type { Json, JsonObject } from '../../base/json.ts';
import type { AgentEvent, EventOf } from '../../contract/event.ts';
import { dollars } from '../coding-agents/facts.ts';
import type { Io } from '../io.ts';
import type { Paint } from '../output.ts';

const SHORT = 120;

/**
 * Shows a run as it happens. What the agent says goes to the standard output; everything about it (thinking, tools, remarks, cost) to
 * the standard error, so that the output can be piped.
 */
export class RunRenderer {
  readonly #io: Io;
  readonly #paint: Paint;
  /** Whether the last thing written ended its line. */
  #lineOpen = false;
  #thinking = false;
  /** Text of the message under way; a message that comes whole is only written once. */
  #streamed = false;

  constructor(io: Io, paint: Paint) {
    this.#io = io;
    this.#paint = paint;
  }

  show(event: AgentEvent): void {
    switch (event.type) {
      case 'text_delta':
        this.#streamed = true;
        this.#say(event.delta);
        break;
      case 'message_stop':
        if (!this.#streamed) this.#say(event.text);
        this.#streamed = false;
        this.#endLine();
        break;
      case 'thinking_delta':
        this.#think(event.delta);
        break;
      case 'thinking_stop':
        if (!this.#thinking) this.#think(event.thinking);
        this.#endLine();
        break;
      default:
        this.#showWork(event);
    }
  }

  /** The last line: how it ended, what it used, what it cost. */
  end(result: JsonObject): void {
    const paint = this.#paint;
    const usage = objectOf(result.tokenUsage);
    const cost = objectOf(result.cost);
    const ok = result.exitReason === 'completed';
    const error = objectOf(result.error);
    const facts = [
      `${String(usage.total ?? 0)} tokens`,
      typeof cost.totalUsd === 'number' ? dollars(cost.totalUsd) : 'no price',
      `${(Number(result.durationMs ?? 0) / 1000).toFixed(1)} s`,
      String(result.runId ?? ''),
    ];
    if (!ok && typeof error.message === 'string') this.#remark(paint.bad(error.message));
    this.#remark(`${ok ? paint.good('completed') : paint.bad(String(result.exitReason))} ${paint.faint(`· ${facts.join(' · ')}`)}`);
  }

  #showWork(event: AgentEvent): void {
    const paint = this.#paint;
    switch (event.type) {
      case 'tool_call_ready':
        this.#remark(`${paint.strong(`▸ ${event.toolName}`)} ${paint.faint(short(event.input))}`);
        break;
      case 'tool_result':
        this.#remark(paint.faint(`  ${short(event.output)} (${Math.round(event.durationMs)} ms)`));
        break;
      case 'tool_error':
        this.#remark(`  ${paint.bad(short(event.error))}`);
        break;
      case 'approval_request':
        this.#remark(paint.warn(`? ${event.action}: ${short(event.detail)} (${event.riskLevel} risk)`));
        break;
      case 'input_required':
        this.#remark(paint.warn(`? ${event.question}`));
        break;
      case 'approval_denied':
        this.#remark(paint.warn(`  denied${event.reason === undefined ? '' : `: ${event.reason}`}`));
        break;
      default:
        this.#showRemark(event);
    }
  }

  #showRemark(event: AgentEvent): void {
    const words = remarkOf(event);
    if (words !== undefined)
      this.#remark(event.type === 'debug' && event.level !== 'warn' ? this.#paint.faint(words) : this.#paint.warn(words));
  }

  #say(text: string): void {
    if (text === '') return;
    this.#closeThinking();
    // What an agent prints must not steer the terminal.
    const plain = this.#io.stdout.isTTY === true ? stripVTControlCharacters(text) : text;
    this.#io.stdout.write(plain);
    this.#lineOpen = !plain.endsWith('\n');
  }

  #think(text: string): void {
    if (text === '') return;
    if (!this.#thinking) this.#endLine();
    this.#thinking = true;
    this.#io.stderr.write(this.#paint.faint(stripVTControlCharacters(text)));
    this.#lineOpen = !text.endsWith('\n');
  }

  #closeThinking(): void {
    if (!this.#thinking) return;
    this.#endLine();
  }

  /** Ends the open line where it was written: the message on the standard output, thoughts on the standard error. */
  #endLine(): void {
    if (this.#lineOpen) (this.#thinking ? this.#io.stderr : this.#io.stdout).write('\n');
    this.#lineOpen = false;
    this.#thinking = false;
  }

  #remark(line: string): void {
    this.#endLine();
    this.#io.stderr.write(`${line}\n`);
  }
}

const REMARKS: { readonly [N in AgentEvent['type']]?: (event: EventOf<N>) => string } = {
  debug: ({ message, level }) => (level === 'warn' ? message : ''),
  stream_fallback: ({ reason }) => reason,
  retry: ({ attempt, maxAttempts, reason }) => `trying again (${attempt} of ${maxAttempts}): ${reason}`,
  rate_limited: ({ retryAfterMs }) =>
    `slowed down by a rate limit${retryAfterMs === undefined ? '' : ` for ${Math.round(retryAfterMs / 1000)} s`}`,
  timeout: ({ kind }) => (kind === 'run' ? 'out of time' : 'silent for too long'),
  turn_limit: ({ maxTurns }) => `out of turns (${maxTurns})`,
  auth_error: ({ message, guidance }) => `${message}${guidance === '' ? '' : ` (${guidance})`}`,
  rate_limit_error: ({ message }) => message,
  crash: ({ exitCode, stderr }) => `the agent crashed${exitCode === null ? '' : ` with exit code ${exitCode}`}\n${stderr.trimEnd()}`,
  context_compacted: () => 'the context was shortened',
};

function remarkOf(event: AgentEvent): string | undefined {
  // The row of a type takes events of that type.
  const words = (REMARKS[event.type] as ((event: AgentEvent) => string) | undefined)?.(event);
  return words === undefined || words === '' ? undefined : stripVTControlCharacters(words);
}

/** One line of a value, cut where it gets long. */
function short(value: Json): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const [line = '', ...more] = stripVTControlCharacters(text).trim().split('\n');
  return line.length > SHORT || more.length > 0 ? `${line.slice(0, SHORT)}…` : line;
}

function objectOf(value: Json | undefined): JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : {}; // neither a list nor null
}

import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts';
import { ERRORS, isErrorCode } from '../../contract/errors.ts';
import type { AgentEvent, EventOf } from '../../contract/runs/event.ts';
import { dollars } from '../coding-agents/facts.ts';
import { unseen } from '../hints.ts';
import type { Io } from '../io.ts';
import type { Paint } from '../output.ts';
import { askedWords, harmless, inputWords, short } from './words.ts';

/** Of a line about a tool, where nothing says how wide the terminal is. */
const WIDTH = 120;

/**
 * Shows a run as it happens. What the agent says goes to the standard output; everything about it (thinking, tools, remarks, cost) to
 * the standard error, so that the output can be piped.
 */
export class RunRenderer {
  readonly #io: Io;
  readonly #paint: Paint;
  /** Files below the folder of the run are named as seen from there. */
  readonly #folder: string;
  /** Whether the last thing written ended its line. */
  #lineOpen = false;
  #thinking = false;
  /** Text of the message under way; a message that comes whole is only written once. */
  #streamed = false;
  /** The last remark of the agent; an error that it was need not be said again. */
  #remarked = '';
  /** The last call, where its line showed all of it; an approval of it need not say it again. */
  #called = '';

  constructor(io: Io, paint: Paint, cwd = process.cwd()) {
    this.#io = io;
    this.#paint = paint;
    this.#folder = `${cwd}/`;
  }

  /** The first line, before anything has happened: agents take seconds to start. Only for somebody who watches. */
  begin(agent: string, engine: string | undefined): void {
    if (this.#io.stderr.isTTY !== true) return;
    this.#remark(this.#paint.faint(`${agent}${engine === undefined ? '' : ` on ${engine}`} is starting`));
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
    const failed = !ok && result.exitReason !== 'aborted';
    const error = objectOf(result.error);
    const total = Number(usage.total ?? 0);
    const runId = String(result.runId ?? '');
    const facts = [
      ...(total === 0 ? [] : [`${total.toLocaleString('en-US')} tokens`, costWords(cost.totalUsd)]),
      `${(Number(result.durationMs ?? 0) / 1000).toFixed(1)} s`,
      runId,
    ];
    const message = failed && typeof error.message === 'string' ? harmless(error.message) : '';
    if (!this.#remarked.includes(message)) this.#remark(paint.bad(message));
    const step = !failed ? undefined : nextStep({ code: String(error.code), message, agent: String(result.agent), runId }, this.#io.env);
    if (step !== undefined) this.#remark(`hint: ${step}`);
    this.#remark(`${ok ? paint.good('completed') : paint.bad(String(result.exitReason))} ${paint.faint(`· ${facts.join(' · ')}`)}`);
  }

  #showWork(event: AgentEvent): void {
    const paint = this.#paint;
    switch (event.type) {
      case 'tool_call_ready':
        this.#showCall(harmless(event.toolName), inputWords(event.input));
        break;
      case 'tool_result':
        this.#remark(paint.faint(`  ${this.#short(textOf(event.output), 16) || 'done'} (${Math.round(event.durationMs)} ms)`));
        break;
      case 'tool_error':
        this.#remark(`  ${paint.bad(this.#short(textOf(event.error), 2))}`);
        break;
      case 'approval_request':
        this.#remark(paint.warn(`? ${harmless(event.action)}${this.#asked(event.detail)} (${event.riskLevel} risk)`));
        break;
      case 'input_required':
        this.#remark(paint.warn(`? ${harmless(event.question)}`));
        break;
      case 'approval_denied':
        this.#remark(paint.warn(`  denied${event.reason === undefined ? '' : `: ${event.reason}`}`));
        break;
      default:
        this.#showRemark(event);
    }
  }

  #showCall(tool: string, words: string): void {
    const shown = this.#short(words, tool.length + 3);
    this.#called = shown === words ? words : '';
    this.#remark(`${this.#paint.strong(`▸ ${tool}`)} ${this.#paint.faint(shown)}`);
  }

  /** Nobody allows what they cannot see: all of it, unless the line above is all of it. */
  #asked(detail: string): string {
    const words = inputWords(detail);
    return words === '' || words === this.#called ? '' : `: ${askedWords(words)}`;
  }

  /** A line that has room for this much beside the text. */
  #short(text: string, beside: number): string {
    const columns = this.#io.stderr.isTTY === true ? this.#io.stderr.columns : undefined;
    return short(text.replaceAll(this.#folder, ''), Math.max(20, (columns ?? WIDTH) - beside - 1));
  }

  #showRemark(event: AgentEvent): void {
    const words = remarkOf(event);
    if (words === undefined) return;
    this.#remarked = words;
    this.#remark(event.type === 'debug' && event.level !== 'warn' ? this.#paint.faint(words) : this.#paint.warn(words));
  }

  #say(text: string): void {
    if (text === '') return;
    this.#closeThinking();
    // The agent's output must not steer the terminal.
    const plain = this.#io.stdout.isTTY === true ? harmless(text) : text;
    this.#io.stdout.write(plain);
    this.#lineOpen = !plain.endsWith('\n');
  }

  #think(text: string): void {
    if (text === '') return;
    if (!this.#thinking) this.#endLine();
    this.#thinking = true;
    this.#io.stderr.write(this.#paint.faint(harmless(text)));
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
  return words === undefined || words === '' ? undefined : harmless(words);
}

function textOf(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function costWords(usd: Json | undefined): string {
  return typeof usd === 'number' ? dollars(usd) : 'no price';
}

function objectOf(value: Json | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

/** Advice on a run that did not complete; undefined where there is none. */
function nextStep(ended: Ended, env: NodeJS.ProcessEnv): string | undefined {
  const own = STEPS[ended.code]?.(ended, env);
  if (own !== undefined) return own;
  return isErrorCode(ended.code) ? ERRORS[ended.code].remedy : undefined;
}

/** How a run ended that did not complete. */
interface Ended {
  readonly code: string;
  readonly message: string;
  readonly agent: string;
  readonly runId: string;
}

/** An engine without a key, or one that cannot be reached. */
function engineStep({ message }: Ended, env: NodeJS.ProcessEnv): string {
  if (message.includes('cannot be reached'))
    return 'Look whether the engine runs at that address; it is url in its part of abp.toml, [engines.<id>].';
  const [, variable = ''] = /\bset ([A-Z][A-Z0-9_]+)/.exec(message) ?? [];
  const usual = 'Set the engine’s key (ABP_ENGINE_<ID>_KEY), or try --engine sim, which needs none; abp doctor says what is set.';
  return unseen(variable, env) ?? usual;
}

/** Where the command line knows more than the table of errors. */
const STEPS: Readonly<Record<string, (ended: Ended, env: NodeJS.ProcessEnv) => string>> = {
  AGENT_NOT_INSTALLED: ({ agent }) => `Install it with abp install ${agent}.`,
  E007: engineStep,
  AUTH_ERROR: ({ agent }) => `abp adapters doctor ${agent} says how it is logged in; with --engine it runs on a key of the gateway.`,
  // The agent's own words stand above; what it did stands in the receipt.
  INTERNAL: ({ runId }) => `abp receipts show ${runId} says what was recorded.`,
  AGENT_CRASH: ({ runId }) => `abp receipts show ${runId} says what was recorded.`,
};

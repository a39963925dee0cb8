import { stripVTControlCharacters } from 'node:util';
import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts';
import type { Io } from '../io.ts';
import type { Paint } from '../output.ts';
import type { SessionEvent } from './session-events.ts';

const SHORT = 160;

/** Why an answer may be less than the model had to say. */
const CUT: ReadonlySet<string> = new Set(['length', 'context-window', 'content-filter', 'refusal', 'pause']);

/**
 * Shows a turn as it happens. What the agent says goes to the standard output; everything about it (tools, questions, faults) to the
 * standard error, so that the output can be piped.
 */
export class ChatScreen {
  readonly #io: Io;
  readonly #paint: Paint;
  /** The part of the answer under way that has been written. */
  #written = 0;
  #lineOpen = false;

  constructor(io: Io, paint: Paint) {
    this.#io = io;
    this.#paint = paint;
  }

  show({ type, data }: SessionEvent): void {
    switch (type) {
      case 'output.message.delta':
        this.#delta(String(data.delta), Number(data.offset));
        break;
      case 'output.message.reset':
        if (this.#written > 0) this.#remark('the answer begins again');
        this.#written = 0;
        break;
      case 'output.message.completed':
        this.#whole(textOf(data));
        break;
      case 'tool.started':
        this.#remark(`→ ${callText(data.tool_call)}`);
        break;
      case 'tool.completed':
        this.#remark(`← ${short(data.error ?? data.result ?? null)} ${String(data.duration_ms)} ms`);
        break;
      case 'reason.retrying':
        this.#remark(`${String(data.error)}; trying again in ${String(data.delay_ms)} ms`);
        break;
      case 'turn.completed':
        if (CUT.has(String(data.finish_reason))) this.#remark(`the answer ends early (${String(data.finish_reason)})`);
        break;
      case 'turn.failed':
        this.#fault(String(data.error));
        break;
      case 'turn.cancelled':
        this.#fault(String(data.reason));
        break;
      default:
    }
  }

  /** A call that waits for a yes. */
  question(data: JsonObject): string {
    this.#endLine();
    const why = data.reason === 'interrupted' ? 'was interrupted and may have had an effect; make it again?' : 'needs your approval.';
    return `${this.#paint.warn('?')} ${callText(data.tool_call)} ${why} [y/N] `;
  }

  /** Something to know about the conversation. */
  note(text: string): void {
    this.#remark(text);
  }

  #delta(text: string, offset: number): void {
    // Pieces that were missed come with the whole answer.
    if (offset !== this.#written) return;
    this.#written += text.length;
    this.#say(text);
  }

  #whole(text: string): void {
    this.#say(text.slice(this.#written));
    this.#written = 0;
    this.#endLine();
  }

  #say(text: string): void {
    const clean = stripVTControlCharacters(text);
    if (clean === '') return;
    this.#io.stdout.write(clean);
    this.#lineOpen = !clean.endsWith('\n');
  }

  #remark(text: string): void {
    this.#endLine();
    this.#io.stderr.write(`${this.#paint.faint(stripVTControlCharacters(text))}\n`);
  }

  #fault(text: string): void {
    this.#endLine();
    this.#io.stderr.write(`${this.#paint.bad(stripVTControlCharacters(text))}\n`);
    this.#written = 0;
  }

  #endLine(): void {
    if (this.#lineOpen) this.#io.stdout.write('\n');
    this.#lineOpen = false;
  }
}

function textOf({ message }: JsonObject): string {
  const content = isJsonObject(message) && Array.isArray(message.content) ? message.content : [];
  return content.map((part) => (isJsonObject(part) && part.type === 'text' ? String(part.text) : '')).join('');
}

function callText(call: Json | undefined): string {
  return isJsonObject(call) ? stripVTControlCharacters(`${String(call.name)} ${short(call.arguments ?? null)}`) : '';
}

function short(value: Json): string {
  const text = (typeof value === 'string' ? value : JSON.stringify(value)).replaceAll(/\s+/g, ' ');
  return text.length > SHORT ? `${text.slice(0, SHORT)}…` : text;
}

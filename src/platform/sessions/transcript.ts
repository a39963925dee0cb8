import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts';
import type { IrMessage } from '../../ir/conversation.ts';
import type { IrPart, ToolResultPart } from '../../ir/part.ts';
import { resultText } from '../../loop/signal.ts';
import type { StoredEvent } from '../../store/agent-plane/session-events.ts';
import { storedParts } from './content.ts';

/** Events that change what the model sees. */
export const TRANSCRIPT_EVENTS: readonly string[] = ['input.message', 'output.message.completed', 'tool.completed'];

/**
 * The conversation as the model sees it, rebuilt from a session's events and kept up to date with them. Results stand right after the
 * calls they answer; what users write in between comes after them, and what they write while the model answers comes after the answer,
 * so that a request never ends with the words of the model itself.
 */
export class Transcript {
  readonly #messages: IrMessage[] = [];
  /** Ids of calls without a result, in the order of the calls. */
  #open: string[] = [];
  #results = new Map<string, ToolResultPart>();
  #order: string[] = [];
  #held: IrMessage[] = [];
  /** Numbers of the messages of users that the conversation ends with. */
  #latest: number[] = [];
  #sequence = 0;

  /** Of the last event taken in. */
  get sequence(): number {
    return this.#sequence;
  }

  get messages(): readonly IrMessage[] {
    return this.#messages;
  }

  apply(event: Pick<StoredEvent, 'type' | 'data' | 'sequence'>): void {
    this.#sequence = event.sequence;
    if (event.type === 'input.message') this.#input({ role: 'user', parts: partsOf(event.data) });
    else if (event.type === 'output.message.completed') this.#output(partsOf(event.data), event.data.read_up_to);
    else if (event.type === 'tool.completed') this.#result(event.data);
  }

  /** Everything up to here has been looked at, whatever it was. */
  advanceTo(sequence: number): void {
    this.#sequence = Math.max(this.#sequence, sequence);
  }

  #input(message: IrMessage): void {
    if (this.#open.length > 0) {
      this.#held.push(message);
      return;
    }
    this.#messages.push(message);
    this.#latest.push(this.#sequence);
  }

  #output(parts: readonly IrPart[], readUpTo: Json | undefined): void {
    const unread = typeof readUpTo === 'number' ? this.#latest.filter((sequence) => sequence > readUpTo).length : 0;
    const late = this.#messages.splice(this.#messages.length - unread);
    // No vendor takes a message without content.
    if (parts.length > 0) this.#messages.push({ role: 'assistant', parts });
    this.#order = parts.flatMap((part) => (part.kind === 'tool-call' ? [part.id] : []));
    this.#open = this.#order;
    this.#results = new Map();
    this.#latest = [];
    if (this.#open.length > 0) this.#held = late;
    else this.#messages.push(...late);
  }

  #result(data: JsonObject): void {
    const callId = String(data.tool_call_id);
    this.#results.set(callId, resultPart(callId, data));
    this.#open = this.#open.filter((id) => id !== callId);
    if (this.#open.length > 0) return;
    const parts = this.#order.flatMap((id) => this.#results.get(id) ?? []);
    this.#messages.push({ role: 'user', parts }, ...this.#held);
    this.#held = [];
    this.#order = [];
  }
}

function partsOf({ message }: JsonObject): readonly IrPart[] {
  return isJsonObject(message) ? storedParts(message.parts) : [];
}

function resultPart(callId: string, { tool_name, result, error }: JsonObject): ToolResultPart {
  const value = error ?? result ?? null;
  return {
    kind: 'tool-result',
    callId,
    name: String(tool_name),
    parts: [{ kind: 'text', text: resultText(value) }],
    isError: error !== undefined,
  };
}

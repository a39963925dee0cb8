import type { IrPart, VendorMeta } from './part.ts';

/** Tool results are parts of user messages, whatever a dialect calls their role. */
type IrRole = 'system' | 'user' | 'assistant';

export interface IrMessage {
  readonly role: IrRole;
  readonly parts: readonly IrPart[];
  readonly at?: string;
  readonly name?: string;
  readonly meta?: VendorMeta;
}

/** A leading run of system messages is the system prompt; a later one is an instruction in place. */
export interface IrConversation {
  readonly messages: readonly IrMessage[];
}

/** All text of a message, parts joined without a separator. */
export function messageText(message: IrMessage): string {
  return message.parts.map((part) => (part.kind === 'text' ? part.text : '')).join('');
}

/** The messages that form the system prompt, and the rest. */
export function splitSystem(messages: readonly IrMessage[]): {
  readonly system: readonly IrMessage[];
  readonly rest: readonly IrMessage[];
} {
  const first = messages.findIndex((message) => message.role !== 'system');
  const cut = first === -1 ? messages.length : first;
  return { system: messages.slice(0, cut), rest: messages.slice(cut) };
}

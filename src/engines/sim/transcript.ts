import type { IrMessage } from '../../ir/conversation.ts';
import type { IrPart, ToolResultPart } from '../../ir/part.ts';
import type { IrRequest } from '../../ir/request.ts';
import { readSentences, type Sentence } from './instructions.ts';
import { ownWords } from './surroundings.ts';

/** The part of a tool's result that came back to the model. */
export interface ToolReport {
  readonly name: string;
  readonly text: string;
  readonly isError: boolean;
}

/** Where the conversation stands: what was asked last and what happened since. */
export interface Transcript {
  readonly ask: string;
  readonly sentences: readonly Sentence[];
  /** Tool calls made since the ask. */
  readonly callsDone: number;
  /** Results that came in since the last answer. */
  readonly results: readonly ToolReport[];
}

/** Reads the conversation from its end. */
export function readTranscript(request: IrRequest): Transcript {
  const { messages } = request;
  const at = messages.findLastIndex(isAsk);
  const ask = at === -1 ? '' : wordsOf(messages[at]);
  const since = messages.slice(at + 1);
  const names = callNames(messages);
  const lastCall = since.findLastIndex((message) => callsOf(message).length > 0);
  return {
    ask,
    sentences: readSentences(ask),
    callsDone: since.reduce((count, message) => count + callsOf(message).length, 0),
    results: since.slice(lastCall + 1).flatMap((message) => reportsOf(message, names)),
  };
}

/** Text beside tool results is usually a reminder the agent added; it is an ask only if it holds an instruction. */
function isAsk(message: IrMessage): boolean {
  if (message.role !== 'user') return false;
  const words = wordsOf(message);
  if (words === '') return false;
  return !message.parts.some((part) => part.kind === 'tool-result') || readSentences(words).length > 0;
}

/** How the mapping marks a system message that the engine's dialect cannot hold in its place; the user did not say it. */
const SYSTEM_LABEL = '[system instruction]';

/** Parts join with a line feed, so that each can begin a sentence. */
function wordsOf(message: IrMessage | undefined): string {
  const texts = (message?.parts ?? []).flatMap((part) => (part.kind === 'text' ? [part.text] : []));
  const labelled = texts.findIndex((text) => text.startsWith(SYSTEM_LABEL));
  return ownWords((labelled === -1 ? texts : texts.slice(0, labelled)).join('\n'));
}

function callsOf(message: IrMessage): readonly IrPart[] {
  return message.role === 'assistant' ? message.parts.filter((part) => part.kind === 'tool-call') : [];
}

function callNames(messages: readonly IrMessage[]): ReadonlyMap<string, string> {
  const calls = messages.flatMap((message) => message.parts).filter((part) => part.kind === 'tool-call');
  return new Map(calls.map((call) => [call.id, call.name]));
}

function reportsOf(message: IrMessage, names: ReadonlyMap<string, string>): ToolReport[] {
  return message.parts
    .filter((part) => part.kind === 'tool-result')
    .map((result) => ({
      name: result.name ?? names.get(result.callId) ?? result.callId,
      text: resultText(result),
      isError: result.isError,
    }));
}

/** Media in a result are named, not shown: an answer of the sim is text. */
function resultText(result: ToolResultPart): string {
  return result.parts.map((part) => ('text' in part ? part.text : `[${part.kind}]`)).join('\n');
}

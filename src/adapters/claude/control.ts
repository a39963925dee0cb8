import type { JsonObject } from '../../base/json.ts';
import type { Command, EventDraft, Heard } from '../adapter.ts';
import { type LineHandlers, nothing } from '../families/jsonl/reader.ts';
import { listAt, objectAt, textAt } from '../families/lines/fields.ts';
import { userLine } from './prompt.ts';
import type { ClaudeReader } from './reader.ts';

/** The agent asks its user something through a tool, and the answer is part of that tool's input. */
const QUESTION_TOOL = 'AskUserQuestion';
const RISKY_TOOLS = new Set(['Bash', 'PowerShell']);

interface OpenRequest {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly input: JsonObject;
}

/** The control protocol: requests of the agent that wait for an answer, and ours to it. */
export class Control {
  readonly #open = new Map<string, OpenRequest>();
  readonly #reader: ClaudeReader;
  #sent = 0;

  constructor(reader: ClaudeReader) {
    this.#reader = reader;
  }

  readonly handlers: LineHandlers<unknown> = {
    control_request: (_, line) => this.#asked(textAt(line.request_id) ?? '', objectAt(line.request)),
    control_cancel_request: (_, line) => this.#withdrawn(textAt(line.request_id) ?? ''),
    control_response: nothing,
  };

  #asked(id: string, request: JsonObject): Heard {
    if (request.subtype !== 'can_use_tool') {
      const error = `${textAt(request.subtype) ?? 'the request'} is not served here`;
      return { events: [], send: [JSON.stringify({ type: 'control_response', response: { subtype: 'error', request_id: id, error } })] };
    }
    const toolName = textAt(request.tool_name) ?? '';
    const input = objectAt(request.input);
    this.#open.set(id, { toolCallId: textAt(request.tool_use_id) ?? '', toolName, input });
    return { events: [toolName === QUESTION_TOOL ? question(id, input) : approval(id, toolName, input)] };
  }

  /** The agent no longer waits: it was interrupted, or a hook has answered. */
  #withdrawn(id: string): readonly EventDraft[] {
    return this.#open.delete(id) ? [{ type: 'approval_denied', interactionId: id, reason: 'the agent took its question back' }] : [];
  }

  say(command: Command): readonly string[] | undefined {
    if (command.kind === 'interrupt') {
      this.#sent += 1;
      this.#reader.interrupted = true;
      return [JSON.stringify({ type: 'control_request', request_id: `abp-${this.#sent}`, request: { subtype: 'interrupt' } })];
    }
    if (command.kind === 'message' || command.kind === 'steer') return [this.#message(command.text)];
    const request = this.#open.get(command.interactionId);
    if (request === undefined) return undefined;
    this.#open.delete(command.interactionId);
    if (command.kind === 'approve') return [answer(command.interactionId, allowed(request.input))];
    this.#reader.refuse(request.toolCallId);
    return [answer(command.interactionId, { behavior: 'deny', message: command.reason ?? 'The user denied this tool call.' })];
  }

  /** A text answers the oldest open question, if there is one; else it is the next message of the user. */
  #message(text: string): string {
    const open = [...this.#open].find(([, { toolName }]) => toolName === QUESTION_TOOL);
    if (open === undefined) {
      this.#reader.unread += 1;
      return userLine([{ type: 'text', text }]);
    }
    const [id, { input }] = open;
    this.#open.delete(id);
    const answers = Object.fromEntries(questionsIn(input).map(({ question }) => [textAt(question) ?? '', text]));
    return answer(id, allowed({ ...input, answers }));
  }
}

function allowed(updatedInput: JsonObject): JsonObject {
  return { behavior: 'allow', updatedInput };
}

function answer(id: string, response: JsonObject): string {
  return JSON.stringify({ type: 'control_response', response: { subtype: 'success', request_id: id, response } });
}

function approval(interactionId: string, toolName: string, input: JsonObject): EventDraft {
  const riskLevel = RISKY_TOOLS.has(toolName) ? 'high' : 'medium';
  return { type: 'approval_request', interactionId, action: toolName, detail: JSON.stringify(input), toolName, riskLevel };
}

function question(interactionId: string, input: JsonObject): EventDraft {
  const questions = questionsIn(input);
  const text = questions.map((row) => textAt(row.question) ?? '').join('\n');
  const context = questions.flatMap((row) => listAt(row.options).map((option) => textAt(objectAt(option).label) ?? '')).join(', ');
  return { type: 'input_required', interactionId, question: text, source: 'agent', ...(context !== '' && { context }) };
}

function questionsIn(input: JsonObject): readonly JsonObject[] {
  return listAt(input.questions).map(objectAt);
}

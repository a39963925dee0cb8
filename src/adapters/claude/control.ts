import type { JsonObject } from '../../base/json.ts';
import type { Command, EventDraft, Heard } from '../adapter.ts';
import { type LineHandlers, nothing } from '../families/jsonl/reader.ts';
import { listAt, objectAt, textAt } from '../families/lines/fields.ts';
import { userLine } from './prompt.ts';
import type { ClaudeReader } from './reader.ts';

/** The name under which the agent calls the hook of the run. */
const HOOK = 'abp-pre-tool-use';

/** The agent goes on without a hook that has not answered in time, so it gets a day. */
const LONGEST_S = 86_400;

/** The agent asks its user something through a tool, and the answer is part of that tool's input. */
const QUESTION_TOOL = 'AskUserQuestion';
const RISKY_TOOLS = new Set(['Bash', 'PowerShell']);

/** Registers the hook of the run; the agent then waits for it before every tool, in every permission mode. */
export function registerHook(): string {
  const hooks = { PreToolUse: [{ matcher: null, hookCallbackIds: [HOOK], timeout: LONGEST_S }] };
  return JSON.stringify({ type: 'control_request', request_id: 'abp-hooks', request: { subtype: 'initialize', hooks } });
}

interface OpenRequest {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly input: JsonObject;
}

/** The control protocol: requests of the agent that wait for an answer, and ours to it. */
export class Control {
  readonly #open = new Map<string, OpenRequest>();
  /** Calls of the hook that wait for an answer. */
  readonly #waiting = new Map<string, OpenRequest>();
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
    if (request.subtype === 'hook_callback' && request.callback_id === HOOK) return this.#waits(id, request);
    if (request.subtype !== 'can_use_tool') {
      const error = `${textAt(request.subtype) ?? 'the request'} is not served here`;
      return { events: [], send: [JSON.stringify({ type: 'control_response', response: { subtype: 'error', request_id: id, error } })] };
    }
    const toolName = textAt(request.tool_name) ?? '';
    const input = objectAt(request.input);
    this.#open.set(id, { toolCallId: textAt(request.tool_use_id) ?? '', toolName, input });
    return {
      events: [
        toolName === QUESTION_TOOL ? question(id, input) : approval(id, { toolName, input, toolCallId: textAt(request.tool_use_id) }),
      ],
    };
  }

  #waits(waitId: string, request: JsonObject): Heard {
    const { tool_name, tool_input } = objectAt(request.input);
    const tool = { toolName: textAt(tool_name) ?? '', input: objectAt(tool_input), toolCallId: textAt(request.tool_use_id) ?? '' };
    this.#waiting.set(waitId, tool);
    return { events: [], waiting: [{ waitId, ...tool }] };
  }

  /** The agent no longer waits: it was interrupted, or a hook has answered. */
  #withdrawn(id: string): readonly EventDraft[] {
    this.#waiting.delete(id);
    return this.#open.delete(id) ? [{ type: 'approval_denied', interactionId: id, reason: 'the agent took its question back' }] : [];
  }

  say(command: Command): readonly string[] | undefined {
    if (command.kind === 'interrupt') {
      this.#sent += 1;
      this.#reader.interrupted = true;
      return [JSON.stringify({ type: 'control_request', request_id: `abp-${this.#sent}`, request: { subtype: 'interrupt' } })];
    }
    if (command.kind === 'message' || command.kind === 'steer') return [this.#message(command.text)];
    if (command.kind === 'let' || command.kind === 'stop') return this.#decided(command);
    const request = this.#open.get(command.interactionId);
    if (request === undefined) return undefined;
    this.#open.delete(command.interactionId);
    if (command.kind === 'approve') return [answer(command.interactionId, allowed(command.input ?? request.input))];
    this.#reader.refuse(request.toolCallId);
    return [answer(command.interactionId, { behavior: 'deny', message: command.reason ?? 'The user denied this tool call.' })];
  }

  /** A hook that allows would also approve, so one that objects to nothing says nothing. */
  #decided(command: Extract<Command, { kind: 'let' | 'stop' }>): readonly string[] | undefined {
    const tool = this.#waiting.get(command.waitId);
    if (tool === undefined) return undefined;
    this.#waiting.delete(command.waitId);
    if (command.kind === 'stop') this.#reader.refuse(tool.toolCallId);
    return [answer(command.waitId, hookOutput(command))];
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

function hookOutput(command: Extract<Command, { kind: 'let' | 'stop' }>): JsonObject {
  const hookEventName = 'PreToolUse';
  if (command.kind === 'stop') {
    return { hookSpecificOutput: { hookEventName, permissionDecision: 'deny', permissionDecisionReason: command.reason } };
  }
  return command.input === undefined ? {} : { hookSpecificOutput: { hookEventName, updatedInput: command.input } };
}

function allowed(updatedInput: JsonObject): JsonObject {
  return { behavior: 'allow', updatedInput };
}

function answer(id: string, response: JsonObject): string {
  return JSON.stringify({ type: 'control_response', response: { subtype: 'success', request_id: id, response } });
}

function approval(interactionId: string, asked: { toolName: string; input: JsonObject; toolCallId: string | undefined }): EventDraft {
  const { toolName, input, toolCallId } = asked;
  const riskLevel = RISKY_TOOLS.has(toolName) ? 'high' : 'medium';
  const call = toolCallId === undefined ? {} : { toolCallId };
  return { type: 'approval_request', interactionId, action: toolName, detail: JSON.stringify(input), toolName, ...call, riskLevel };
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

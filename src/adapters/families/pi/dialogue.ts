import { type Clock, systemClock } from '../../../base/clock.ts';
import type { Json, JsonObject } from '../../../base/json.ts';
import { parseShallowObject } from '../../../base/json-limits.ts';
import type { Command, Dialogue, EventDraft, Heard, ProcessExit, SpawnPlan, WaitingTool } from '../../adapter.ts';
import { attachedFiles } from '../../attachments.ts';
import { RunAccount, type Voice } from '../jsonl/account.ts';
import { type LineHandlers, readLine } from '../jsonl/reader.ts';
import { promptWithTexts } from '../launch/prompt.ts';
import { listAt, objectAt, textAt } from '../lines/fields.ts';
import { GATE_TITLE, HOOK_LETS, HOOK_TITLE } from './extension.ts';
import { type PiRun, SESSION_LINES } from './reader.ts';
import { speaksRpc } from './spawn.ts';

/** How an agent of the family is understood. */
export interface PiVoice extends Voice {
  /** The line after which the agent does nothing more by itself. */
  readonly lastLine: (version: string | undefined) => 'agent_end' | 'agent_settled';
}

/** A run over standard input, with the questions that wait for an answer. */
interface PiTalk extends PiRun {
  readonly questions: Map<string, 'approval' | 'input'>;
}

/** Listens to an agent of the family, and speaks its RPC where the run is held over standard input. */
export function piDialogue(voice: PiVoice, plan: SpawnPlan, clock: Clock = systemClock): Dialogue {
  const account = new RunAccount(plan, voice, clock);
  const talk: PiTalk = { account, places: new Map(), streamed: false, toldWholeCalls: false, run: 'none', questions: new Map() };
  const rpc = speaksRpc(plan);
  const lines = rpc ? rpcLines(voice.lastLine(plan.version)) : SESSION_LINES;
  return {
    begin: () => (rpc ? [JSON.stringify({ id: 'state', type: 'get_state' }), promptCommand(plan)] : []),
    line: (line) => readLine(talk, lines, line),
    say: (command) => (rpc ? say(talk, command) : undefined),
    end: (exit) => ends(talk, exit),
  };
}

function rpcLines(lastLine: string): LineHandlers<PiTalk> {
  const last = SESSION_LINES[lastLine];
  return {
    ...SESSION_LINES,
    response,
    extension_ui_request: ask,
    command_output: (_, { text }) => notice(text),
    [lastLine]: (talk, line) => {
      const heard = last?.(talk, line) ?? [];
      const events = 'events' in heard ? heard.events : heard;
      return line.willRetry === true || line.isTerminal === false ? { events } : { events, done: true };
    },
  };
}

/** In its one-shot mode the agent says nothing of a command that was all the prompt was, and ends well after the line of its session. */
function ends({ account, run }: PiTalk, exit: ProcessExit): ReturnType<Dialogue['end']> {
  if (run === 'none' && exit.code === 0 && account.sessionId !== undefined) account.answered = true;
  return account.close(exit);
}

/** An answer to one of our commands. A refused prompt is the end of the run; any other refusal is told. */
function response(talk: PiTalk, line: JsonObject): Heard {
  const { account } = talk;
  const command = textAt(line.command) ?? '';
  const data = objectAt(line.data);
  if (line.success === true && line.id === 'prompt') return promptTaken(talk, data);
  if (line.success === true) return { events: command === 'get_state' ? account.begun(textAt(data.sessionId)) : [] };
  const message = `${command}: ${textAt(line.error) ?? 'refused'}`;
  if (line.id !== 'prompt') return { events: [{ type: 'error', code: 'INTERNAL', message, recoverable: true }] };
  account.fail({ message });
  return { events: [], done: true };
}

/**
 * A command of the agent or of an extension may be all that the prompt was: then no run follows, unless the command has begun one.
 * pi says that it was handled, omp that no agent was invoked; older versions say nothing.
 */
function promptTaken({ account, run }: PiTalk, data: JsonObject): Heard {
  const handled = data.disposition === 'handled' || data.agentInvoked === false;
  if (!handled || run === 'begun') return { events: [] };
  account.answered = true;
  return { events: [], done: true };
}

/** A dialog of an extension: ours ask hooks and for approvals, others may ask anything. What wants no answer is no question. */
function ask({ questions }: PiTalk, line: JsonObject): readonly EventDraft[] | Heard {
  const interactionId = textAt(line.id) ?? '';
  const title = textAt(line.title) ?? '';
  if (line.method === 'notify') return notice(line.message);
  if (line.method === 'input' && title === HOOK_TITLE) return { events: [], waiting: [waitingTool(interactionId, line)] };
  if (line.method === 'confirm') {
    questions.set(interactionId, 'approval');
    return [approval(interactionId, title, textAt(line.message) ?? '')];
  }
  if (line.method !== 'select' && line.method !== 'input' && line.method !== 'editor') return [];
  questions.set(interactionId, 'input');
  const context = line.method === 'select' ? listAt(line.options).join(', ') : textAt(line.placeholder);
  return [{ type: 'input_required', interactionId, question: title, source: 'tool', ...(context !== undefined && { context }) }];
}

/** What the agent shows its user beside the conversation: what a command answers, a server that does not start. */
function notice(text: Json | undefined): readonly EventDraft[] {
  const line = textAt(text) ?? '';
  return line.trim() === '' ? [] : [{ type: 'log', source: 'stdout', line }];
}

function waitingTool(waitId: string, line: JsonObject): WaitingTool {
  const { toolCallId, toolName, input } = parseShallowObject(textAt(line.placeholder) ?? '') ?? {};
  const id = textAt(toolCallId);
  return { waitId, toolName: textAt(toolName) ?? '', input: input ?? {}, ...(id !== undefined && { toolCallId: id }) };
}

function approval(interactionId: string, title: string, message: string): EventDraft {
  const call = title === GATE_TITLE ? parseShallowObject(message) : undefined;
  if (call === undefined) return { type: 'approval_request', interactionId, action: title, detail: message, riskLevel: 'medium' };
  const toolName = textAt(call.toolName) ?? '';
  const riskLevel = toolName === 'bash' ? 'high' : 'medium';
  const toolCallId = textAt(call.toolCallId);
  const asked = { action: toolName, detail: JSON.stringify(call.input ?? {}), toolName, riskLevel } as const;
  return { type: 'approval_request', interactionId, ...asked, ...(toolCallId !== undefined && { toolCallId }) };
}

function say({ questions }: PiTalk, command: Command): readonly string[] | undefined {
  if (command.kind === 'interrupt') return [JSON.stringify({ type: 'abort' })];
  if (command.kind === 'message' || command.kind === 'steer') return [message(questions, command.text)];
  if (command.kind === 'let' || command.kind === 'stop') {
    // An input that the extension would have to put into the call has no way there.
    if (command.kind === 'let' && command.input !== undefined) return undefined;
    const value = command.kind === 'let' ? HOOK_LETS : command.reason;
    return [JSON.stringify({ type: 'extension_ui_response', id: command.waitId, value })];
  }
  const question = questions.get(command.interactionId);
  if (question === undefined) return undefined;
  questions.delete(command.interactionId);
  const answer = question === 'approval' ? { confirmed: command.kind === 'approve' } : { cancelled: true };
  return [JSON.stringify({ type: 'extension_ui_response', id: command.interactionId, ...answer })];
}

/** A text answers the oldest open question, if there is one; else it steers the agent. */
function message(questions: PiTalk['questions'], text: string): string {
  const open = [...questions].find(([, question]) => question === 'input');
  if (open === undefined) return JSON.stringify({ id: 'message', type: 'prompt', message: text, streamingBehavior: 'steer' });
  questions.delete(open[0]);
  return JSON.stringify({ type: 'extension_ui_response', id: open[0], value: text });
}

function promptCommand(plan: SpawnPlan): string {
  const images = attachedFiles(plan.attachments).map(({ bytes, mimeType }) => ({
    type: 'image',
    data: bytes.toString('base64'),
    mimeType,
  }));
  const message = promptWithTexts(plan);
  return JSON.stringify({ id: 'prompt', type: 'prompt', message, ...(images.length > 0 && { images }) });
}

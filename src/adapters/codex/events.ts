import { type Clock, systemClock } from '../../base/clock.ts';
import type { JsonObject } from '../../base/json.ts';
import type { Command, Dialogue, Heard, SpawnPlan } from '../adapter.ts';
import { RunAccount } from '../families/jsonl/account.ts';
import { type LineHandlers, nothing, readLine } from '../families/jsonl/reader.ts';
import { countAt, objectAt, textAt } from '../families/lines/fields.ts';
import { Approvals } from './approvals.ts';
import { CodexReader } from './reader.ts';
import { initialize, nextTurn, openThread, REQUEST, request, startTurn, textInput } from './requests.ts';
import { asks } from './spawn.ts';
import { VOICE } from './voice.ts';

/** Holds a run with Codex over its app server: JSON-RPC, one message on a line. */
export function dialogue(plan: SpawnPlan, clock: Clock = systemClock): Dialogue {
  const run = new RunAccount(plan, VOICE, clock);
  const reader = new CodexReader(run, !asks(plan));
  const approvals = new Approvals();
  const handlers: LineHandlers<CodexReader> = {
    ...NOTICES,
    request: (_, line) =>
      approvals.ask(line.id ?? null, textAt(line.method) ?? '', {
        ...objectAt(line.params),
        changes: reader.changesOf(objectAt(line.params)),
      }),
    response: (_, line) => answered(reader, plan, line),
  };
  return {
    begin: () => (plan.interactive ? [] : [initialize()]),
    line: (line) => readLine(reader, handlers, line, kindOf),
    say: (command) => say(reader, approvals, command),
    end: (exit) => run.close(exit),
  };
}

/** A message with an id and a method asks us; with an id alone it answers us; with a method alone it tells. */
function kindOf(line: JsonObject): string | undefined {
  const method = textAt(line.method);
  if (line.id === undefined) return method;
  return method === undefined ? 'response' : 'request';
}

/** Each answer lets the next of our requests go out: the handshake, the thread, the turn. */
function answered(reader: CodexReader, plan: SpawnPlan, line: JsonObject): Heard {
  const error = textAt(objectAt(line.error).message);
  if (error !== undefined) return refused(reader, line, error);
  if (line.id === REQUEST.initialize) return { events: [], send: [JSON.stringify({ method: 'initialized' }), openThread(plan)] };
  if (line.id !== REQUEST.thread) return { events: [] };
  const threadId = textAt(objectAt(objectAt(line.result).thread).id) ?? '';
  reader.threadId = threadId;
  return { events: reader.run.begun(threadId), send: [startTurn(threadId, plan)] };
}

/** Codex may refuse a message to a running agent and go on; when it refuses the thread or the turn, the run has failed. */
function refused(reader: CodexReader, line: JsonObject, message: string): Heard {
  if (line.id === REQUEST.message || line.id === REQUEST.interrupt) {
    return { events: [{ type: 'error', code: 'INTERNAL', message, recoverable: true }] };
  }
  reader.run.fail({ message });
  return { events: [], done: true };
}

function say(reader: CodexReader, approvals: Approvals, command: Command): readonly string[] | undefined {
  const { threadId, turnId } = reader;
  if (command.kind === 'let' || command.kind === 'stop') return undefined;
  if (command.kind === 'approve' || command.kind === 'deny') {
    const answer = approvals.answer(command);
    return answer === undefined ? undefined : [answer];
  }
  const answer = command.kind === 'interrupt' ? undefined : approvals.tell(command.text);
  if (answer !== undefined) return [answer];
  if (threadId === undefined) return undefined;
  if (turnId === undefined) return command.kind === 'message' ? [nextTurn(threadId, command.text)] : undefined;
  if (command.kind === 'interrupt') return [request(REQUEST.interrupt, 'turn/interrupt', { threadId, turnId })];
  return [request(REQUEST.message, 'turn/steer', { threadId, expectedTurnId: turnId, input: [textInput(command.text)] })];
}

const NOTICES: LineHandlers<CodexReader> = {
  'turn/started': (reader, { params }) => reader.turnStarts(objectAt(objectAt(params).turn)),
  'item/started': (reader, { params }) => reader.itemStarts(objectAt(objectAt(params).item)),
  'item/completed': (reader, { params }) => reader.itemEnds(objectAt(objectAt(params).item)),
  'item/agentMessage/delta': (reader, { params }) => reader.text(...pieceOf(params)),
  'item/reasoning/summaryTextDelta': (reader, { params }) => reader.thinking(...pieceOf(params)),
  'item/reasoning/textDelta': (reader, { params }) => reader.thinking(...pieceOf(params)),
  'item/reasoning/summaryPartAdded': (reader, { params }) =>
    (countAt(objectAt(params).summaryIndex) ?? 0) > 0 ? reader.thinkingPart(pieceOf(params)[0]) : [],
  'item/commandExecution/outputDelta': (reader, { params }) => reader.prints(...pieceOf(params)),
  'rawResponseItem/completed': (reader, { params }) => reader.raw(objectAt(objectAt(params).item)),
  'thread/tokenUsage/updated': (reader, { params }) => reader.used(objectAt(objectAt(params).tokenUsage)),
  'turn/completed': (reader, { params }) => ({ events: reader.turnEnds(objectAt(objectAt(params).turn)), done: true }),
  error: (reader, { params }) => reader.erred(objectAt(params)),
  warning: (_, { params }) => warn(objectAt(params).message),
  guardianWarning: (_, { params }) => warn(objectAt(params).message),
  deprecationNotice: (_, { params }) => warn(objectAt(params).summary),
  configWarning: (_, { params }) => warn(objectAt(params).summary),
  'model/rerouted': (_, { params }) => warn(`the model was changed to ${textAt(objectAt(params).toModel) ?? 'another one'}`),
  'mcpServer/startupStatus/updated': (_, { params }) => serverState(objectAt(params)),
  'thread/started': nothing,
  'thread/readState/changed': nothing,
  'thread/status/changed': nothing,
  'thread/name/updated': nothing,
  'thread/settings/updated': nothing,
  'thread/compacted': nothing,
  'turn/diff/updated': nothing,
  'turn/plan/updated': nothing,
  'item/plan/delta': nothing,
  'item/fileChange/outputDelta': nothing,
  'item/fileChange/patchUpdated': nothing,
  'item/mcpToolCall/progress': nothing,
  'item/commandExecution/terminalInteraction': nothing,
  'serverRequest/resolved': nothing,
  'rawResponse/completed': nothing,
  'account/updated': nothing,
  'account/rateLimits/updated': nothing,
  'remoteControl/status/changed': nothing,
  'skills/changed': nothing,
  'hook/started': nothing,
  'hook/completed': nothing,
};

function pieceOf(params: JsonObject[string] | undefined): [id: string, delta: string] {
  const { itemId, delta } = objectAt(params);
  return [textAt(itemId) ?? '', textAt(delta) ?? ''];
}

function warn(message: JsonObject[string] | undefined): Heard {
  return { events: [{ type: 'debug', level: 'warn', message: textAt(message) ?? '' }] };
}

function serverState({ name, status, error }: JsonObject): Heard {
  if (status !== 'failed') return { events: [] };
  const message = `the MCP server ${textAt(name) ?? ''} did not start: ${textAt(error) ?? ''}`;
  return { events: [{ type: 'error', code: 'INTERNAL', message, recoverable: true }] };
}

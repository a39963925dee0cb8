import { pathToFileURL } from 'node:url';
import { type Clock, systemClock } from '../../../base/clock.ts';
import type { Json, JsonObject } from '../../../base/json.ts';
import { parseShallowObject } from '../../../base/json-limits.ts';
import { packageVersion } from '../../../base/own-files.ts';
import type { AgentLimit, Command, Dialogue, EventDraft, Heard, SpawnPlan } from '../../adapter.ts';
import { type AttachedFile, attachedFiles } from '../../attachments.ts';
import { RunAccount } from '../jsonl/account.ts';
import { promptWithTexts } from '../launch/prompt.ts';
import { countAt, objectAt, textAt } from '../lines/fields.ts';
import type { AcpKind } from './kind.ts';
import { answerPermission, askPermission, type Permissions } from './permission.ts';
import { type AcpRun, readUpdate } from './updates.ts';

type Step = 'initialize' | 'authenticate' | 'session' | 'configure' | 'prompt';

/** A conversation over ACP: newline JSON-RPC in both directions. */
interface AcpTalk extends AcpRun {
  readonly plan: SpawnPlan;
  readonly permissions: Permissions;
  /** The step of the dialogue that each of our requests belongs to, by its id. */
  readonly asked: Map<number, Step>;
  /** Messages of the caller that wait until the agent has answered. */
  readonly waiting: string[];
  /** The agent has answered the last prompt. */
  idle: boolean;
  /** The agent has answered our greeting. */
  greeted: boolean;
  /** The session is open and its history is behind us. */
  open: boolean;
  agent: JsonObject;
}

/** Holds a run with an agent that speaks the Agent Client Protocol. */
export function acpDialogue(kind: AcpKind, plan: SpawnPlan, clock: Clock = systemClock): Dialogue {
  const effects = {};
  const account = new RunAccount(plan, { ...kind.voice, tools: { ...kind.voice.tools, effects } }, clock);
  const run = { account, kind, effects, calls: new Map<string, JsonObject>(), toolReturned: false, refused: false, usd: 0 };
  const talk: AcpTalk = {
    ...run,
    plan,
    permissions: new Map(),
    asked: new Map(),
    waiting: [],
    idle: false,
    greeted: false,
    open: false,
    agent: {},
  };
  return {
    begin: () => [ask(talk, 'initialize', 'initialize', hello())],
    line: (line) => hear(talk, line),
    say: (command) => say(talk, command),
    end: (exit) => {
      if (!talk.greeted && kind.silence !== undefined) account.fail({ message: kind.silence });
      return account.close(exit);
    },
  };
}

/** Files and terminals stay with the agent: it works in the same folder as we do. */
function hello(): JsonObject {
  return {
    protocolVersion: 1,
    clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false },
    clientInfo: { name: 'agent-backplane', version: packageVersion() },
  };
}

function ask(talk: AcpTalk, step: Step, method: string, params: JsonObject): string {
  const id = talk.asked.size;
  talk.asked.set(id, step);
  return JSON.stringify({ jsonrpc: '2.0', id, method, params });
}

function hear(talk: AcpTalk, text: string): Heard {
  const message = parseShallowObject(text);
  if (message === undefined) return { events: text.trim() === '' ? [] : [{ type: 'log', source: 'stdout', line: text }] };
  if (message.method === undefined) return answered(talk, message);
  const params = objectAt(message.params);
  if (message.method === 'session/update') return { events: updated(talk, objectAt(params.update), text) };
  if (message.id === undefined) return { events: [] };
  if (message.method === 'session/request_permission') return askPermission(talk, talk.permissions, message.id, params);
  return { events: [], send: [JSON.stringify({ jsonrpc: '2.0', id: message.id, ...replyTo(message.method) })] };
}

/** The history of a loaded session comes as updates before the session is open; it is not this run. */
function updated(talk: AcpTalk, update: JsonObject, line: string): readonly EventDraft[] {
  if (!talk.open) return [];
  return readUpdate(talk, update) ?? [{ type: 'log', source: 'stdout', line }];
}

/** An agent that tells its editor of a file it has written itself wants no more than to be heard; nothing else is offered. */
function replyTo(method: Json): JsonObject {
  if (method === 'fs/write_text_file') return { result: {} };
  return { error: { code: -32601, message: `this client has no ${String(method)}` } };
}

function answered(talk: AcpTalk, message: JsonObject): Heard {
  const step = talk.asked.get(countAt(message.id) ?? -1);
  const error = message.error === undefined ? undefined : objectAt(message.error);
  if (step === undefined) return { events: [] };
  if (error !== undefined) return refused(talk, step, error);
  const result = objectAt(message.result);
  switch (step) {
    case 'initialize':
      talk.greeted = true;
      talk.agent = objectAt(result.agentCapabilities);
      return { events: [], send: [talk.kind.authMethod === undefined ? openSession(talk) : authenticate(talk, talk.kind.authMethod)] };
    case 'authenticate':
      return { events: [], send: [openSession(talk)] };
    case 'session':
      return sessionOpened(talk, result);
    case 'configure':
      return { events: [] };
    case 'prompt':
      return promptAnswered(talk, result);
  }
}

/** A setting that is refused is told and the run goes on; any other refusal ends it. */
function refused(talk: AcpTalk, step: Step, error: JsonObject): Heard {
  const detail = textAt(objectAt(error.data).message) ?? textAt(objectAt(error.data).details) ?? textAt(error.data);
  const message = [textAt(error.message), detail].filter((part) => part !== undefined).join(': ');
  if (step === 'configure') return { events: [{ type: 'error', code: 'INTERNAL', message, recoverable: true }] };
  talk.account.fail({ message });
  return { events: [], done: true };
}

function authenticate(talk: AcpTalk, methodId: string): string {
  return ask(talk, 'authenticate', 'authenticate', { methodId });
}

function openSession(talk: AcpTalk): string {
  const { options, cwd } = talk.plan;
  const place = { cwd, mcpServers: talk.kind.mcpServers?.(talk.plan) ?? [] };
  const can = objectAt(talk.agent.sessionCapabilities);
  if (options.forkSessionId !== undefined) return ask(talk, 'session', 'session/fork', { sessionId: options.forkSessionId, ...place });
  if (options.sessionId === undefined) return ask(talk, 'session', 'session/new', place);
  const method = can.resume === undefined ? 'session/load' : 'session/resume';
  return ask(talk, 'session', method, { sessionId: options.sessionId, ...place });
}

/** Settings and the prompt go out together: the agent takes them in order. */
function sessionOpened(talk: AcpTalk, result: JsonObject): Heard {
  const sessionId = textAt(result.sessionId) ?? talk.plan.options.sessionId ?? '';
  talk.open = true;
  const settings = (talk.kind.configure?.(talk.plan, sessionId) ?? []).map(({ method, params }) => ask(talk, 'configure', method, params));
  return { events: talk.account.begun(sessionId), send: [...settings, firstPrompt(talk, sessionId)] };
}

function firstPrompt(talk: AcpTalk, sessionId: string): string {
  const text = talk.kind.prompt?.(talk.plan) ?? promptWithTexts(talk.plan);
  const content = attachedFiles(talk.plan.attachments).map(blockOf);
  return ask(talk, 'prompt', 'session/prompt', { sessionId, prompt: [{ type: 'text', text }, ...content] });
}

/** The protocol has a block for images, and one for files of any other kind. */
function blockOf({ kind, mimeType, path, bytes }: AttachedFile): JsonObject {
  const data = bytes.toString('base64');
  if (kind === 'image') return { type: 'image', data, mimeType };
  return { type: 'resource', resource: { uri: pathToFileURL(path).href, mimeType, blob: data } };
}

const STOPS: Readonly<Record<string, string>> = {
  refusal: 'the model refused to answer',
  max_tokens: 'the answer was cut at its length limit',
};

/** Stops that are a limit of the run and no failure of the agent. */
const LIMITS: Readonly<Record<string, AgentLimit>> = { cancelled: 'interrupted', max_turn_requests: 'turn_limit' };

function promptAnswered(talk: AcpTalk, result: JsonObject): Heard {
  const closing = talk.account.spoken.end();
  const stop = textAt(result.stopReason) ?? '';
  const failure = STOPS[stop] ?? failureTold(talk, closing);
  talk.account.limit = LIMITS[stop];
  if (failure === undefined) talk.account.answered = true;
  else talk.account.fail({ message: failure });
  const events = [...closing, ...used(talk, result), ...talk.account.turnEnds(), ...limitTold(talk.account)];
  const next = talk.waiting.shift();
  talk.idle = next === undefined;
  if (next === undefined) return { events, done: true };
  return { events, send: [promptOf(talk, next)] };
}

function limitTold({ limit, turns }: RunAccount): readonly EventDraft[] {
  if (limit === 'interrupted') return [{ type: 'interrupted' }];
  return limit === 'turn_limit' ? [{ type: 'turn_limit', maxTurns: turns }] : [];
}

function failureTold(talk: AcpTalk, closing: readonly EventDraft[]): string | undefined {
  const said = closing.find((event) => event.type === 'message_stop');
  return said === undefined ? undefined : talk.kind.failureIn?.(said.text);
}

function promptOf(talk: AcpTalk, text: string): string {
  talk.idle = false;
  return ask(talk, 'prompt', 'session/prompt', { sessionId: talk.account.sessionId ?? '', prompt: [{ type: 'text', text }] });
}

/** Usage of the answer; Gemini keeps it under `_meta`. */
function used(talk: AcpTalk, result: JsonObject): readonly EventDraft[] {
  const usage = objectAt(result.usage);
  const quota = objectAt(objectAt(objectAt(result._meta).quota).token_count);
  const inputTokens = countAt(usage.inputTokens) ?? countAt(quota.input_tokens);
  const outputTokens = countAt(usage.outputTokens) ?? countAt(quota.output_tokens);
  if (inputTokens === undefined || outputTokens === undefined) return [];
  const thinkingTokens = countAt(usage.thoughtTokens);
  const cacheReadTokens = countAt(usage.cachedReadTokens);
  const usd = talk.usd - (talk.account.spending.cost()?.totalUsd ?? 0);
  return talk.account.spending.add({
    inputTokens,
    outputTokens,
    ...(thinkingTokens !== undefined && { thinkingTokens }),
    ...(cacheReadTokens !== undefined && { cacheReadTokens }),
    ...(usd > 0 && { usd }),
  });
}

function say(talk: AcpTalk, command: Command): readonly string[] | undefined {
  switch (command.kind) {
    case 'interrupt':
      return [JSON.stringify({ jsonrpc: '2.0', method: 'session/cancel', params: { sessionId: talk.account.sessionId ?? '' } })];
    case 'message':
      if (talk.idle) return [promptOf(talk, command.text)];
      talk.waiting.push(command.text);
      return [];
    case 'steer':
      // The protocol has one prompt at a time.
      return undefined;
    case 'approve':
    case 'deny':
      return answerPermission(talk, talk.permissions, command);
    default:
      // The protocol knows approvals, and no hooks.
      return undefined;
  }
}

/** MCP servers in the form that the protocol has for them. */
export function acpMcpServers(plan: SpawnPlan): readonly JsonObject[] {
  return (plan.options.mcpServers ?? []).map((server) =>
    server.transport === 'stdio'
      ? { name: server.name, command: server.command, args: server.args ?? [], env: pairs(server.env) }
      : { type: server.transport === 'sse' ? 'sse' : 'http', name: server.name, url: server.url, headers: pairs(server.headers) },
  );
}

function pairs(record: Readonly<Record<string, string>> | undefined): readonly JsonObject[] {
  return Object.entries(record ?? {}).map(([name, value]) => ({ name, value }));
}

import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts';
import { parseShallowObject } from '../../base/json-limits.ts';
import { countAt, firstText, listAt, numberAt, objectAt, textAt } from '../families/lines/fields.ts';
import type { CallEnd } from '../families/tools/calls.ts';
import { PLUGIN } from './plugin.ts';

/** A tool call as a line tells it: the tool is the name of a member. */
export interface CursorCall {
  readonly name: string;
  readonly input: JsonObject;
  readonly result: JsonObject;
}

const ENDING = 'ToolCall';

/** The call in a line. Beside the call stand members of bookkeeping, and newer tools come as a function of a name. */
export function callIn(line: JsonObject): CursorCall {
  const members = Object.entries(objectAt(line.tool_call));
  const [key, body] = members.find(([name, value]) => name.endsWith(ENDING) && isJsonObject(value)) ?? ['', {}];
  const { args, result } = objectAt(body);
  const { toolCallId: _, ...input } = objectAt(args);
  if (key === '') return functionIn(objectAt(objectAt(line.tool_call).function));
  if (key === `mcp${ENDING}`) return { ...mcpCall(input), result: objectAt(result) };
  const name = key.slice(0, -ENDING.length);
  return { name, input: name === 'shell' ? inFolder(input) : input, result: objectAt(result) };
}

/** The input of a function is an object, or the text of one. */
function functionIn(body: JsonObject): CursorCall {
  const input = isJsonObject(body.arguments) ? body.arguments : parseShallowObject(textAt(body.arguments) ?? '');
  return { name: textAt(body.name) ?? '', input: input ?? {}, result: objectAt(body.result) };
}

/** The folder of a command is empty where it is that of the run. */
function inFolder({ workingDirectory, ...input }: JsonObject): JsonObject {
  return workingDirectory === undefined || workingDirectory === '' ? input : { ...input, cwd: workingDirectory };
}

/** Newer and older builds name the members differently; the joined name is `server-tool`. */
function mcpCall(args: JsonObject): Pick<CursorCall, 'name' | 'input'> {
  const joined = textAt(args.name) ?? '';
  const tool = textAt(args.toolName) ?? joined;
  const server =
    firstText(args, ['serverIdentifier', 'providerIdentifier']) ?? (joined.endsWith(`-${tool}`) ? joined.slice(0, -tool.length - 1) : '');
  const input = objectAt(args.args ?? args.arguments);
  const plain = server.startsWith(`${PLUGIN}:`) ? server.slice(PLUGIN.length + 1) : server;
  return { name: plain === '' ? tool : `mcp__${plain}__${tool}`, input };
}

const REFUSALS = ['rejected', 'permissionDenied'];
const NOT_ALLOWED = 'the agent did not allow it';

/** Why the agent did not let a call run; undefined when it did. */
export function refusalIn({ result }: CursorCall): string | undefined {
  const member = REFUSALS.find((name) => result[name] !== undefined);
  return member === undefined ? undefined : wordsOf(objectAt(result[member])) || NOT_ALLOWED;
}

/** How a call ended. The result has one member, which says so: `success`, or a kind of failure. */
export function endOf(call: CursorCall): CallEnd {
  const { success } = call.result;
  if (success === undefined) return failureOf(call);
  const outcome = objectAt(success);
  const exitCode = numberAt(outcome.exitCode);
  const diff = textAt(outcome.diffString);
  return {
    failed: outcome.isError === true,
    text: textOf(outcome),
    ...timeOf(outcome),
    ...(exitCode !== undefined && { exitCode }),
    ...(diff !== undefined && { diff }),
  };
}

/** A command that exits with an error is a failure with the same members as a success. */
function failureOf({ result }: CursorCall): CallEnd {
  const [kind = 'no result', value] = Object.entries(result).find(([, member]) => isJsonObject(member)) ?? [];
  const outcome = objectAt(value);
  const exitCode = numberAt(outcome.exitCode);
  return { failed: true, text: wordsOf(outcome) || printedBy(outcome) || kind, ...timeOf(outcome), exitCode: exitCode ?? null };
}

function wordsOf(outcome: JsonObject): string {
  return firstText(outcome, ['reason', 'errorMessage', 'error', 'message', 'modelVisibleError']) ?? '';
}

function printedBy(outcome: JsonObject): string {
  const interleaved = textAt(outcome.interleavedOutput) ?? '';
  return interleaved === '' ? `${textAt(outcome.stdout) ?? ''}${textAt(outcome.stderr) ?? ''}` : interleaved;
}

function timeOf(outcome: JsonObject): { readonly durationMs?: number } {
  const durationMs = countAt(outcome.executionTime);
  return durationMs === undefined ? {} : { durationMs };
}

/** The answer of a tool as text. Cursor gives listings and searches no text; we show their JSON. */
function textOf(outcome: JsonObject): string {
  if (outcome.stdout !== undefined || outcome.interleavedOutput !== undefined) return printedBy(outcome);
  const said = firstText(outcome, ['content', 'output', 'message', 'resultForModel']) ?? blocksIn(outcome.content) ?? lastWordIn(outcome);
  return said ?? JSON.stringify(outcome);
}

/** The text of an MCP block stands in a member of its own, or as in the protocol. */
function blocksIn(content: Json | undefined): string | undefined {
  if (!Array.isArray(content)) return undefined;
  return content
    .map(objectAt)
    .map(({ text }) => textAt(text) ?? textAt(objectAt(text).text) ?? '')
    .join('\n');
}

/** A sub-agent returns everything it did; its last message is its answer. */
function lastWordIn({ conversationSteps }: JsonObject): string | undefined {
  const messages = listAt(conversationSteps).map((step) => textAt(objectAt(objectAt(step).assistantMessage).text));
  return messages.findLast((text) => text !== undefined);
}

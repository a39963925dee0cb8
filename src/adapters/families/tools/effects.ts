import type { Json, JsonObject } from '../../../base/json.ts';
import type { EventDraft } from '../../adapter.ts';
import { firstText, listAt, objectAt, textAt } from '../lines/fields.ts';

/** The effect of a tool on files, commands or the network, and the inputs that name its object. */
export type ToolEffect =
  | { readonly does: 'read'; readonly path: readonly string[] }
  | { readonly does: 'delete'; readonly path: readonly string[] }
  | { readonly does: 'write'; readonly path: readonly string[]; readonly content: readonly string[] }
  | { readonly does: 'patch'; readonly path: readonly string[] }
  | { readonly does: 'shell'; readonly command: readonly string[] }
  | { readonly does: 'subagent'; readonly prompt: readonly string[] };

/** The tools of one agent that leave a trace, by name. A tool that is not here has events of its own only. */
type ToolEffects = Readonly<Record<string, ToolEffect>>;

/** A tool call as far as its agent has told it. */
export interface ToolCall {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly input: Json;
}

export interface ToolEnd {
  readonly failed: boolean;
  /** The tool's answer as text. */
  readonly text: string;
  readonly durationMs: number;
  /** Null where the agent does not tell. */
  readonly exitCode?: number | null;
  /** A unified diff, where the agent made one. */
  readonly diff?: string;
  /** The file was not there before. */
  readonly created?: boolean;
}

/** The server and the tool in a name, for names that an agent joined from both. */
export type McpName = (toolName: string) => { readonly server: string; readonly toolName: string } | undefined;

/** How the tools of one agent are understood. */
export interface ToolReading {
  readonly effects: ToolEffects;
  readonly mcp: McpName;
}

/** Events that we make of the start of a call beside the call itself: of an MCP tool, a command, a subagent. */
export function effectsOfStart(reading: ToolReading, call: ToolCall, cwd: string): readonly EventDraft[] {
  const mcp = reading.mcp(call.toolName);
  if (mcp !== undefined) return [{ type: 'mcp_tool_call_start', toolCallId: call.toolCallId, ...mcp, input: call.input }];
  const effect = reading.effects[call.toolName];
  const input = objectAt(call.input);
  if (effect?.does === 'shell') {
    return [{ type: 'shell_start', command: firstText(input, effect.command) ?? '', cwd: firstText(input, ['cwd', 'workdir']) ?? cwd }];
  }
  if (effect?.does === 'subagent') {
    const prompt = firstText(input, effect.prompt) ?? '';
    return [{ type: 'subagent_spawn', subagentId: call.toolCallId, agentName: agentNameIn(input, call.toolName), prompt }];
  }
  return [];
}

/** Events that we make of the end of a call beside its result. A failed call has changed nothing that we know of. */
export function effectsOfEnd(reading: ToolReading, call: ToolCall, end: ToolEnd): readonly EventDraft[] {
  const mcp = reading.mcp(call.toolName);
  if (mcp !== undefined) return [mcpEnd(call, mcp, end)];
  const effect = reading.effects[call.toolName];
  const input = objectAt(call.input);
  if (effect === undefined) return [];
  if (effect.does === 'shell') return shellEnd(end);
  if (effect.does === 'subagent') return [subagentEnd(call, input, end)];
  const path = firstText(input, effect.path);
  if (end.failed || path === undefined) return [];
  if (effect.does === 'read') return [{ type: 'file_read', path }];
  if (effect.does === 'delete') return [{ type: 'file_delete', path }];
  if (effect.does === 'patch') return [{ type: 'file_patch', path, diff: end.diff ?? diffOf(input) }];
  const content = firstText(input, effect.content);
  // Without the text nobody knows how much was written, and a made-up count would be believed.
  if (content === undefined) return [];
  return [{ type: end.created === true ? 'file_create' : 'file_write', path, byteCount: Buffer.byteLength(content) }];
}

function mcpEnd(call: ToolCall, mcp: { readonly server: string; readonly toolName: string }, end: ToolEnd): EventDraft {
  const { toolCallId } = call;
  return end.failed
    ? { type: 'mcp_tool_error', toolCallId, ...mcp, error: end.text }
    : { type: 'mcp_tool_result', toolCallId, ...mcp, output: end.text };
}

function shellEnd(end: ToolEnd): readonly EventDraft[] {
  const output: readonly EventDraft[] = end.text === '' ? [] : [{ type: 'shell_stdout_delta', delta: end.text }];
  const exitCode = end.exitCode === undefined ? (end.failed ? null : 0) : end.exitCode;
  return [...output, { type: 'shell_exit', exitCode, durationMs: end.durationMs }];
}

function subagentEnd(call: ToolCall, input: JsonObject, end: ToolEnd): EventDraft {
  const named = { subagentId: call.toolCallId, agentName: agentNameIn(input, call.toolName) };
  return end.failed ? { type: 'subagent_error', ...named, error: end.text } : { type: 'subagent_result', ...named, summary: end.text };
}

function agentNameIn(input: JsonObject, otherwise: string): string {
  return firstText(input, ['subagent_type', 'agent', 'agentName', 'name']) ?? otherwise;
}

const BEFORE = ['oldText', 'oldString', 'old_string', 'old_text'];
const AFTER = ['newText', 'newString', 'new_string', 'new_text'];

/** The replaced and the new lines of an edit; a patch that the model wrote itself is taken as it is. */
function diffOf(input: JsonObject): string {
  const written = firstText(input, ['patch', 'diff', 'patchText']);
  if (written !== undefined) return written;
  const edits = listAt(input.edits);
  const parts = edits.length === 0 ? [input] : edits.map(objectAt);
  return parts.map((part) => `${marked('-', firstText(part, BEFORE))}${marked('+', firstText(part, AFTER))}`).join('');
}

function marked(mark: string, text: string | undefined): string {
  if (text === undefined || text === '') return '';
  const lines = text.endsWith('\n') ? text.slice(0, -1) : text;
  return lines
    .split('\n')
    .map((line) => `${mark}${line}\n`)
    .join('');
}

/** The text in the content of a tool result: a text, or a list of blocks as MCP has them. */
export function textOfContent(content: Json | undefined): string {
  if (typeof content === 'string') return content;
  return listAt(content)
    .map((block) => textAt(objectAt(block).text))
    .filter((text) => text !== undefined)
    .join('\n');
}

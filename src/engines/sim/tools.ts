import { parseJsonObject } from '../../base/json.ts';
import type { IrRequest } from '../../ir/request.ts';
import { type CallableTool, writeCall } from './file-tools.ts';
import { findObject } from './literal.ts';
import type { PlannedCall } from './plan.ts';
import { instance, looksLike } from './schema.ts';
import type { CallAct } from './stages.ts';
import { workingDirectory } from './surroundings.ts';

/** The calls of one answer, or in words why they cannot be made. */
export interface CallDecision {
  readonly calls: readonly PlannedCall[];
  readonly problem?: string;
}

/** The tools the request lets the model call. Hosted tools are the engine's own and the sim has none. */
function callableTools(request: IrRequest): readonly CallableTool[] {
  const choice = request.toolChoice;
  if (choice?.kind === 'none') return [];
  const tools = request.tools.filter((tool) => tool.kind !== 'hosted');
  if (choice?.kind === 'tool') return tools.filter((tool) => tool.name === choice.name);
  return choice?.kind === 'allowed' ? tools.filter((tool) => choice.names.includes(tool.name)) : tools;
}

/** Whether the answer must hold a call. */
function mustCall(request: IrRequest): boolean {
  const choice = request.toolChoice;
  return choice?.kind === 'required' || choice?.kind === 'tool' || (choice?.kind === 'allowed' && choice.mode === 'required');
}

/** Turns what was asked for into calls of the offered tools. */
export function decideCalls(request: IrRequest, acts: readonly CallAct[], ask: string): CallDecision {
  const tools = callableTools(request);
  const tries = acts.map((act) => tryCall(act, tools, request));
  const problem = tries.find((attempt) => typeof attempt === 'string');
  const calls = tries.filter((attempt) => typeof attempt !== 'string');
  if (problem === undefined && calls.length > 0) return { calls };
  const [forced] = mustCall(request) ? tools : [];
  if (forced !== undefined) return { calls: [forcedCall(forced, ask)] };
  return { calls: [], ...(problem === undefined ? {} : { problem }) };
}

/** A call, or the reason there is none. */
function tryCall(act: CallAct, tools: readonly CallableTool[], request: IrRequest): PlannedCall | string {
  if (request.toolChoice?.kind === 'none') return 'the tool choice forbids tool calls';
  if (act.kind === 'write') {
    const call = writeCall(tools, { path: act.path, text: act.text, directory: workingDirectory(request) });
    return call ?? `no offered tool can write a file; ${offer(tools)}`;
  }
  const tool = findTool(tools, act.name);
  if (tool === undefined) return `the tool ${act.name} is not offered; ${offer(tools)}`;
  if (tool.kind === 'custom') return { name: tool.name, arguments: act.input ?? 'sim', custom: true };
  const input = act.input ?? generated(tool, '');
  if (parseJsonObject(input) === undefined) return `the arguments for the tool ${tool.name} are not a JSON object: ${input}`;
  return { name: tool.name, arguments: act.broken === true ? brokenText(input) : input, custom: false };
}

/** JSON that ends in the middle of a text. */
function brokenText(json: string): string {
  return json === '{}' ? '{"unfinished' : json.slice(0, Math.max(2, json.lastIndexOf('"')));
}

/** The last call of an answer that the token limit cuts off; of the first tool that is offered where none was asked for. */
export function cutCalls(request: IrRequest, calls: readonly PlannedCall[]): readonly PlannedCall[] {
  const [first] = callableTools(request);
  const all = calls.length > 0 || first === undefined ? calls : [forcedCall(first, '')];
  return all.map((call, at) => (at === all.length - 1 && !call.custom ? { ...call, arguments: brokenText(call.arguments) } : call));
}

function offer(tools: readonly CallableTool[]): string {
  return tools.length === 0 ? 'no tools are offered' : `offered tools: ${tools.map((tool) => tool.name).join(', ')}`;
}

/** By exact name, else by the name without regard to case, else by the one name that ends in it (agents prefix MCP tools each in their own way). */
function findTool(tools: readonly CallableTool[], name: string): CallableTool | undefined {
  const wanted = name.toLowerCase();
  const exact = tools.find((tool) => tool.name === name) ?? tools.find((tool) => tool.name.toLowerCase() === wanted);
  if (exact !== undefined) return exact;
  const ending = tools.filter((tool) => ['_', '-', '.', '/', ':'].some((joint) => tool.name.toLowerCase().endsWith(joint + wanted)));
  return ending.length === 1 ? ending[0] : undefined;
}

function forcedCall(tool: CallableTool, ask: string): PlannedCall {
  if (tool.kind === 'custom') return { name: tool.name, arguments: ask === '' ? 'sim' : ask, custom: true };
  return { name: tool.name, arguments: generated(tool, ask), custom: false };
}

/** Arguments the schema accepts: an object from the prompt that fits, else the smallest valid one. */
function generated(tool: Extract<CallableTool, { kind: 'function' }>, ask: string): string {
  return (
    findObject(ask, (object) => looksLike(object, tool.schema)) ?? JSON.stringify(instance({ type: 'object', ...tool.schema }, tool.schema))
  );
}

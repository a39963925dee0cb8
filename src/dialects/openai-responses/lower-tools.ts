import { type Json, type JsonObject, objectIn } from '../../base/json.ts';
import type { HostedToolKind, IrHostedTool, IrRequest, IrTool } from '../../ir/request.ts';
import type { FateNote } from '../dialect.ts';
import { lowerLimits } from '../hosted-limits.ts';
import { compact } from '../members.ts';
import { ID } from './lift-content.ts';
import { LIMITS } from './lift-tools.ts';
import { where } from './lower-content.ts';

/** Hosted tools that other dialects have too. */
const HOSTED: Readonly<Partial<Record<HostedToolKind, JsonObject>>> = {
  web_search: { type: 'web_search' },
  code_execution: { type: 'code_interpreter', container: { type: 'auto' } },
};

/** Writes `tools`. Tools of one namespace that follow each other become one entry again. */
export function lowerTools(request: IrRequest, notes: FateNote[]): Json | undefined {
  const entries: JsonObject[] = [];
  let open: { readonly key: string; readonly tools: JsonObject[] } | undefined;
  for (const tool of request.tools) {
    const { namespace, ...own } = tool.meta?.[ID] ?? {};
    const lowered = lowerTool(tool, own, { foreign: request.vendor[ID] === undefined, notes });
    const key = namespace === undefined || tool.kind === 'hosted' ? undefined : JSON.stringify(namespace);
    if (key !== undefined && open?.key === key) open.tools.push(...lowered);
    else if (key === undefined) {
      open = undefined;
      entries.push(...lowered);
    } else {
      open = { key, tools: lowered };
      entries.push({ type: 'namespace', ...objectIn(namespace), tools: open.tools });
    }
  }
  return entries.length === 0 ? undefined : entries;
}

/**
 * One declaration. Unlike Chat, this API tries to hold a function to its schema unless told not to, so a caller of another dialect
 * who did not ask for that must have it switched off.
 */
function lowerTool(tool: IrTool, own: JsonObject, context: { readonly foreign: boolean; readonly notes: FateNote[] }): JsonObject[] {
  switch (tool.kind) {
    case 'function': {
      const { name, description, schema: parameters } = tool;
      const strict = tool.strict ?? (context.foreign ? false : undefined);
      return [compact({ type: 'function', name, description, parameters, strict, ...own })];
    }
    case 'custom':
      return [compact({ type: 'custom', name: tool.name, description: tool.description, format: tool.format, ...own })];
    case 'hosted':
      return lowerHosted(tool, context.notes);
  }
}

function lowerHosted(tool: IrHostedTool, notes: FateNote[]): JsonObject[] {
  const own = tool.meta[ID];
  if (own !== undefined) return [own];
  const hosted = HOSTED[tool.hosted];
  if (hosted === undefined)
    notes.push({ concept: 'hosted_tool', fate: 'refused', code: 'no_such_tool', note: `OpenAI has no ${tool.name}`, ...where(tool) });
  else
    notes.push({
      concept: 'hosted_tool',
      fate: 'emulated',
      code: 'served_by_own_tool',
      note: `served by OpenAI's ${String(hosted.type)}`,
      ...where(tool),
    });
  return hosted === undefined ? [] : [{ ...hosted, ...lowerLimits(tool, LIMITS, `OpenAI's ${String(hosted.type)}`, notes) }];
}

export function lowerToolChoice(request: IrRequest): Json | undefined {
  const { toolChoice: choice, vendor } = request;
  if (choice === undefined) return vendor[ID]?.tool_choice;
  switch (choice.kind) {
    case 'tool':
      return reference(choice.name, request.tools);
    case 'allowed':
      return { type: 'allowed_tools', mode: choice.mode, tools: choice.names.map((name) => reference(name, request.tools)) };
    default:
      return choice.kind;
  }
}

/** A tool by its name; a hosted one is named by its type. */
function reference(name: string, tools: readonly IrTool[]): JsonObject {
  const tool = tools.find((each) => each.name === name);
  if (tool?.kind === 'hosted') return { type: tool.meta[ID]?.type ?? HOSTED[tool.hosted]?.type ?? name };
  return { type: tool?.kind === 'custom' ? 'custom' : 'function', name };
}

import { isJsonObject, type JsonObject } from '../../../base/json.ts';
import type { IrFunctionTool, IrHostedTool, IrRequest, IrTool } from '../../../ir/request.ts';
import { lowerLimits } from '../../hosted-limits.ts';
import { compact } from '../../members.ts';
import { allowedTools } from '../../tool-choice.ts';
import type { ChatFlavour } from './flavour.ts';
import { LIMITS } from './lift-tools.ts';
import { type Lowering, where } from './lowering.ts';

/** Declared tools, and the body members that turn on a hosted one. */
export interface LoweredTools {
  readonly list: readonly JsonObject[];
  readonly members: JsonObject;
}

export function lowerTools(request: IrRequest, lowering: Lowering): LoweredTools {
  const lowered = offered(request, lowering).map((tool) => lowerTool(tool, lowering));
  return {
    list: lowered.filter((tool) => tool.type !== undefined),
    members: Object.assign({}, ...lowered.filter((tool) => tool.type === undefined)),
  };
}

/** Where the wire has no choice among some tools, only those are declared. */
function offered({ tools, toolChoice }: IrRequest, { flavour, notes }: Lowering): readonly IrTool[] {
  if (toolChoice?.kind !== 'allowed' || flavour.allowedTools) return tools;
  return allowedTools(tools, toolChoice.names, notes);
}

function lowerTool(tool: IrTool, lowering: Lowering): JsonObject {
  if (tool.kind === 'function') return lowerFunction(tool, lowering);
  if (tool.kind === 'hosted') return lowerHosted(tool, lowering);
  const custom = compact({ name: tool.name, description: tool.description, format: tool.format && nestedFormat(tool.format) });
  return { type: 'custom', custom, ...tool.meta?.[lowering.flavour.id] };
}

/** A grammar stands one level deeper than in Responses, whose form the IR has. */
function nestedFormat(format: JsonObject): JsonObject {
  const { type, syntax, definition, ...rest } = format;
  return type === 'grammar' && definition !== undefined ? { type, grammar: compact({ syntax, definition }), ...rest } : format;
}

function lowerFunction(tool: IrFunctionTool, { flavour, notes }: Lowering): JsonObject {
  const { function: inner, ...outer } = tool.meta?.[flavour.id] ?? {};
  const { name, description, schema } = tool;
  const strict = flavour.names.tool_strict === undefined ? undefined : tool.strict;
  if (tool.strict === true && strict === undefined)
    notes.push({
      concept: 'tool_strict',
      fate: 'emulated',
      code: 'strict_not_held',
      note: 'the model is asked to keep to the schema, not held to it',
      ...where({ ...tool, ...(tool.strictAt === undefined ? {} : { at: tool.strictAt }) }),
    });
  const declared = compact({ name, description, parameters: schema, strict, ...(isJsonObject(inner) ? inner : {}) });
  return { type: 'function', function: declared, ...outer };
}

/** Only OpenAI's search models search by themselves on this wire; Kimi's builtin search needs a caller that knows its protocol. */
function lowerHosted(tool: IrHostedTool, { flavour, context, notes }: Lowering): JsonObject {
  const own = tool.meta[flavour.id];
  if (own !== undefined) return own;
  if (tool.hosted === 'web_search' && context.traits.has('web-search-options')) {
    notes.push({
      concept: 'hosted_tool',
      fate: 'emulated',
      code: 'served_by_own_tool',
      note: 'served by web_search_options',
      ...where(tool),
    });
    const limits = lowerLimits(tool, LIMITS, 'web_search_options', notes);
    return {
      web_search_options: isJsonObject(limits.user_location) ? { user_location: { type: 'approximate', ...limits.user_location } } : {},
    };
  }
  notes.push({ concept: 'hosted_tool', fate: 'refused', code: 'no_such_tool', note: `the model has no ${tool.name}`, ...where(tool) });
  return {};
}

export function lowerToolChoice(request: IrRequest, flavour: ChatFlavour): JsonObject | string | undefined {
  const { toolChoice: choice } = request;
  if (choice === undefined) return undefined;
  if (choice.kind === 'tool') return named(request, choice.name);
  if (choice.kind !== 'allowed') return choice.kind;
  if (!flavour.allowedTools) return choice.mode;
  return { type: 'allowed_tools', allowed_tools: { mode: choice.mode, tools: choice.names.map((name) => named(request, name)) } };
}

function named(request: IrRequest, name: string): JsonObject {
  const custom = request.tools.some((tool) => tool.kind === 'custom' && tool.name === name);
  return custom ? { type: 'custom', custom: { name } } : { type: 'function', function: { name } };
}

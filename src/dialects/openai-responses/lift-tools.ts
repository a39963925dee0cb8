import { type JsonObject, jsonOf } from '../../base/json.ts';
import { AbpError } from '../../contract/errors.ts';
import type { Fields } from '../../ir/ledger.ts';
import type { VendorMeta } from '../../ir/part.ts';
import type { HostedToolKind, IrCustomTool, IrFunctionTool, IrHostedTool, IrTool, IrToolChoice } from '../../ir/request.ts';
import { type LimitPlaces, liftLimits } from '../hosted-limits.ts';
import { otherMembers } from '../members.ts';
import { ID, typed } from './lift-content.ts';
import { fullName } from './lift-items.ts';
import * as wire from './wire.ts';

type Tool = Fields<wire.AnyTool>;

const HOSTED: Readonly<Record<string, HostedToolKind>> = {
  web_search: 'web_search',
  web_search_2025_08_26: 'web_search',
  web_search_preview: 'web_search',
  web_search_preview_2025_03_11: 'web_search',
  code_interpreter: 'code_execution',
  mcp: 'mcp',
};

/** One declaration of `tools`. A namespace is several tools; every other kind that is neither function nor custom is run by the engine. */
export function liftTool(tool: Tool): IrTool[] {
  switch (tool.value.type) {
    case 'function':
      return [liftFunction(tool)];
    case 'custom':
      return [liftCustom(tool)];
    case 'namespace':
      return liftNamespace(tool);
    default:
      return [liftHosted(tool)];
  }
}

/** Members of the namespace that a tool is declared in. */
type Namespace = JsonObject & { readonly name: string };

function liftFunction(tool: Tool, namespace?: Namespace): IrFunctionTool {
  const t = typed(tool, wire.FunctionTool);
  t.take('type', 'structure');
  takeHints(t);
  const name = t.take('name', 'tool');
  const description = t.take('description', 'tool');
  const schema = t.take('parameters', 'tool');
  // Not strict is what every dialect without the word does.
  const strict = t.value.strict === true ? t.take('strict', 'tool_strict') : t.takeUsual('strict', 'tool_strict');
  return {
    kind: 'function',
    name: fullName({ name, namespace: namespace?.name }),
    ...(typeof description === 'string' ? { description } : {}),
    schema: jsonOf(schema ?? { type: 'object', properties: {} }),
    ...(typeof strict === 'boolean' ? { strict } : {}),
    at: t.path,
    ...toolMeta(otherMembers(t.value, ['type', 'name', 'description', 'parameters', 'strict']), name, namespace),
  };
}

function liftCustom(tool: Tool, namespace?: Namespace): IrCustomTool {
  const t = typed(tool, wire.CustomTool);
  t.take('type', 'structure');
  takeHints(t);
  const name = t.take('name', 'custom_tool');
  const description = t.take('description', 'custom_tool');
  const format = t.take('format', 'custom_tool');
  return {
    kind: 'custom',
    name: fullName({ name, namespace: namespace?.name }),
    ...(typeof description === 'string' ? { description } : {}),
    ...(format === null || format === undefined ? {} : { format: jsonOf(format) }),
    at: t.path,
    ...toolMeta(otherMembers(t.value, ['type', 'name', 'description', 'format']), name, namespace),
  };
}

function takeHints(t: Fields<Readonly<Record<string, unknown>>>): void {
  for (const hint of ['defer_loading', 'allowed_callers', 'output_schema']) t.take(hint, 'tool_option');
}

/** A tool of a namespace remembers it and its own short name; other members ride along as they came. */
function toolMeta(others: JsonObject | undefined, name: string, namespace: Namespace | undefined): { meta?: VendorMeta } {
  if (namespace === undefined) return others === undefined ? {} : { meta: { [ID]: others } };
  return { meta: { [ID]: { ...others, name, namespace } } };
}

function liftNamespace(tool: Tool): IrTool[] {
  const t = typed(tool, wire.NamespaceTool);
  const inner = t.list('tools');
  if (inner.some(({ value }) => value.type !== 'function' && value.type !== 'custom')) return [liftHosted(tool)];
  t.take('type', 'structure');
  t.take('name', 'tool');
  t.take('description', 'tool_option');
  const namespace = otherMembers(t.value, ['type', 'tools']) as Namespace; // the schema saw a name
  return inner.map((each) => (each.value.type === 'custom' ? liftCustom(each, namespace) : liftFunction(each, namespace)));
}

/** Where a search says what it is limited to. */
export const LIMITS: LimitPlaces = { allowedDomains: ['filters', 'allowed_domains'], userLocation: ['user_location'] };

function liftHosted(tool: Tool): IrHostedTool {
  const { type } = tool.value;
  tool.ledger.claim(tool.path, 'hosted_tool');
  const limits = (HOSTED[type] ?? 'mcp') === 'mcp' ? {} : liftLimits(jsonOf(tool.value), tool.path, LIMITS, tool.ledger);
  return {
    kind: 'hosted',
    hosted: HOSTED[type] ?? 'vendor',
    name: type,
    ...limits,
    at: tool.path,
    meta: { [ID]: jsonOf(tool.value) },
  }; // parsed JSON
}

/** Which tool to call. A choice that names a hosted tool is the vendor's own and comes back as `own`. */
export function liftToolChoice(f: Fields<wire.Request>): { toolChoice?: IrToolChoice; own?: JsonObject } {
  const choice = f.value.tool_choice;
  if (choice === undefined) return {};
  if (typeof choice === 'string') {
    f.take('tool_choice', choice === 'auto' ? 'structure' : 'tool_choice');
    return choice === 'auto' ? {} : { toolChoice: { kind: choice } };
  }
  const toolChoice = choice.type === 'allowed_tools' ? allowed(choice) : named(choice);
  if (toolChoice === undefined) {
    f.take('tool_choice', 'vendor_option');
    return { own: jsonOf(choice) };
  }
  claimChoice(f);
  return { toolChoice };
}

/** A choice names tools; members beside the names are nobody's. */
function claimChoice(f: Fields<wire.Request>): void {
  const choice = f.object('tool_choice') as Fields<Choice> | undefined; // a choice that is an object
  choice?.take('mode', 'tool_choice');
  for (const named of choice === undefined ? [] : [choice, ...choice.list('tools')]) {
    const tool = named as Fields<Pick<Choice, 'type' | 'name'>>; // both name a tool in the same way
    tool.take('type', 'structure');
    if (tool.value.type !== 'allowed_tools') tool.take('name', 'tool_choice');
  }
}

type Choice = Exclude<NonNullable<wire.Request['tool_choice']>, string>;

function isCallable(tool: { readonly type: string }): boolean {
  return tool.type === 'function' || tool.type === 'custom';
}

function named(choice: Choice): IrToolChoice | undefined {
  if (!isCallable(choice)) return undefined;
  if (choice.name === undefined)
    throw new AbpError('invalid_request', `tool_choice.name: required when tool_choice.type is "${choice.type}"`);
  return { kind: 'tool', name: choice.name };
}

function allowed(choice: Choice): IrToolChoice | undefined {
  const tools = choice.tools ?? [];
  const names = tools.flatMap((tool) => (isCallable(tool) && tool.name !== undefined ? [tool.name] : []));
  return names.length === tools.length ? { kind: 'allowed', names, mode: choice.mode ?? 'auto' } : undefined;
}

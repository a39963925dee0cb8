import { isJsonObject, type JsonObject, jsonOf } from '../../../base/json.ts';
import { AbpError } from '../../../contract/errors.ts';
import { type Fields, lostTo } from '../../../ir/ledger.ts';
import type { IrFunctionTool, IrTool, IrToolChoice } from '../../../ir/request.ts';
import { assertApproximate, type LimitPlaces, liftLimits } from '../../hosted-limits.ts';
import { compact, otherMembers, vendorMeta } from '../../members.ts';
import type { ChatFlavour } from './flavour.ts';
import type { Members } from './members.ts';
import type * as wire from './wire.ts';

/** Declared tools, legacy functions among them, and the search that OpenAI turns on with a member of its own. */
export function liftTools(m: Members, flavour: ChatFlavour): IrTool[] {
  for (const key of ['tools', 'functions']) if (m.f.value[key] !== null) m.carry(key);
  if (m.f.value.tools === null) m.peek('tools', 'structure');
  if (m.f.value.functions === null) m.peek('functions', 'structure');
  return [
    ...m.f.list('tools').map((tool) => liftTool(tool, flavour)),
    ...m.f.list('functions').map((tool) => liftFunction(tool, {})),
    ...liftSearch(m, flavour),
  ];
}

/** The one limit that a search of Chat has stands a level deeper than elsewhere. */
export const LIMITS: LimitPlaces = { userLocation: ['user_location', 'approximate'] };

function liftSearch(m: Members, flavour: ChatFlavour): IrTool[] {
  const options = m.read('web_search_options', 'hosted_tool');
  if (options === undefined) return [];
  const members = { web_search_options: jsonOf(options) };
  const limits = liftLimits(jsonOf(options), 'web_search_options', LIMITS, m.f.ledger);
  const { user_location: location } = jsonOf(options);
  if (isJsonObject(location)) {
    assertApproximate(location.type, 'web_search_options.user_location');
    m.f.ledger.claim('web_search_options.user_location.type', 'structure');
  }
  return [
    { kind: 'hosted', hosted: 'web_search', name: 'web_search', ...limits, at: 'web_search_options', meta: { [flavour.id]: members } },
  ];
}

function liftTool(t: Fields<wire.Tool>, flavour: ChatFlavour): IrTool {
  const { type } = t.value;
  if (type === 'custom') return liftCustom(t, flavour);
  if (type !== 'function') return liftHosted(t, flavour);
  const inner = t.object('function');
  if (inner === undefined) throw new AbpError('invalid_request', `${t.path}.function: required when type is "function"`);
  t.take('type', 'structure');
  t.take('cache_control', 'cache_mark');
  const outer = otherMembers(t.value, ['type', 'function']);
  const more = otherMembers(inner.value, ['name', 'description', 'parameters', 'strict']);
  const own = more === undefined ? outer : compact({ ...outer, function: more });
  return { ...liftFunction(inner, vendorMeta(flavour.id, own)), at: t.path };
}

type FunctionTool = NonNullable<wire.Tool['function']>;

/** A declaration without parameters is a function without arguments. */
function liftFunction(f: Fields<FunctionTool>, meta: ReturnType<typeof vendorMeta>): IrFunctionTool {
  const name = f.take('name', 'tool');
  const description = f.take('description', 'tool');
  const schema = f.take('parameters', 'tool');
  const strict = f.value.strict === true ? f.take('strict', 'tool_strict') : f.takeUsual('strict', 'tool_strict');
  return {
    kind: 'function',
    name,
    ...(typeof description === 'string' ? { description } : {}),
    schema: jsonOf(schema ?? { type: 'object', properties: {} }),
    ...(typeof strict === 'boolean' ? { strict } : {}),
    at: f.path,
    ...meta,
  };
}

function liftCustom(t: Fields<wire.Tool>, flavour: ChatFlavour): IrTool {
  t.take('type', 'structure');
  t.take('cache_control', 'cache_mark');
  t.takeMembers('custom', 'custom_tool', ['name', 'description', 'format']);
  const { custom } = t.value;
  if (custom === undefined) throw new AbpError('invalid_request', `${t.path}.custom: required when type is "custom"`);
  return {
    kind: 'custom',
    name: custom.name,
    ...(typeof custom.description === 'string' ? { description: custom.description } : {}),
    ...(custom.format ? { format: flatFormat(jsonOf(custom.format)) } : {}),
    at: t.path,
    ...vendorMeta(flavour.id, otherMembers(t.value, ['type', 'custom'])),
  };
}

/** Chat puts a grammar one level deeper than Responses, whose form the IR has. */
function flatFormat(format: JsonObject): JsonObject {
  const { grammar, ...rest } = format;
  return isJsonObject(grammar) ? { ...rest, ...grammar } : format;
}

/** Kimi's builtin functions; their names begin with a dollar sign. */
function liftHosted(t: Fields<wire.Tool>, flavour: ChatFlavour): IrTool {
  const name = t.value.function?.name ?? t.value.type;
  const search = name === '$web_search';
  if (search) {
    // It has no options; a member that nobody knows may be one.
    t.take('type', 'hosted_tool');
    t.takeMembers('function', 'hosted_tool', ['name']);
  } else t.ledger.claim(t.path, 'hosted_tool');
  return {
    kind: 'hosted',
    hosted: search ? 'web_search' : 'vendor',
    name,
    at: t.path,
    meta: { [flavour.id]: jsonOf(t.value) },
  };
}

/** Of an old and a new choice that one counts which has functions to choose from. */
export function liftToolChoice(m: Members): IrToolChoice | undefined {
  const { function_call: old, tool_choice: current, functions } = m.f.value;
  const both = old !== undefined && old !== null && current !== undefined && current !== null;
  const loser = functions?.length ? 'tool_choice' : 'function_call';
  if (both) {
    m.f.ledger.leaveIdle(loser, lostTo(functions?.length ? 'function_call' : 'tool_choice'));
    m.carry(loser);
  }
  const legacy = both && loser === 'function_call' ? undefined : m.read('function_call', 'tool_choice', undefined, ['name']);
  if (legacy !== undefined) return typeof legacy === 'string' ? { kind: legacy } : { kind: 'tool', name: legacy.name };
  const choice = m.read('tool_choice', 'tool_choice', undefined, ['type']);
  if (choice === undefined) return undefined;
  claimChoice(m.f);
  if (typeof choice === 'string') return { kind: choice };
  const allowed = choice.allowed_tools;
  if (choice.type === 'allowed_tools' && allowed !== undefined) {
    return { kind: 'allowed', names: allowed.tools.map((tool) => nameOf(tool, 'tool_choice.allowed_tools.tools')), mode: allowed.mode };
  }
  return { kind: 'tool', name: nameOf(choice, 'tool_choice') };
}

/** A choice names tools inside objects; members beside the names are nobody's. */
function claimChoice(f: Fields<wire.Request>): void {
  const choice = f.object('tool_choice') as Fields<Exclude<wire.ToolChoice, string>> | undefined; // a choice that is an object
  const allowed = choice?.object('allowed_tools');
  allowed?.take('mode', 'tool_choice');
  for (const named of [...(choice === undefined ? [] : [choice]), ...(allowed?.list('tools') ?? [])]) {
    const tool = named as Fields<wire.NamedTool>; // both name a tool in the same way
    // What else it says is of this type alone.
    tool.take('type', 'structure');
    for (const kind of ['function', 'custom'] as const) if (tool.value.type === kind) tool.takeMembers(kind, 'tool_choice', ['name']);
  }
}

function nameOf(tool: Pick<wire.NamedTool, 'function' | 'custom'>, path: string): string {
  const name = tool.function?.name ?? tool.custom?.name;
  if (name === undefined) throw new AbpError('invalid_request', `${path}: a tool is named by function.name or custom.name`);
  return name;
}

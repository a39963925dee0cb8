import { globMatch } from '../../base/glob.ts';
import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts';
import { AbpError } from '../../contract/errors.ts';
import type { FidelityEntry } from '../../contract/negotiation.ts';
import type { FateNote } from '../../dialects/dialect.ts';
import type { IrRequest, IrTool } from '../../ir/request.ts';

/** Globs of tools that a caller may use. An empty list of allowed ones allows all that are not denied. */
export interface ToolRules {
  readonly allowed: readonly string[];
  readonly denied: readonly string[];
}

/** The rule that forbids a tool; undefined where all of them let it pass. Upper and lower case are one, as agents differ in it. */
export function ruleAgainst(rules: readonly ToolRules[], name: string): string | undefined {
  for (const { allowed, denied } of rules) {
    const by = denied.find((pattern) => names(pattern, name));
    if (by !== undefined) return `disallowed_tools: ${by}`;
    if (allowed.length > 0 && !allowed.some((pattern) => names(pattern, name))) return `allowed_tools: ${allowed.join(', ')}`;
  }
  return undefined;
}

/** A tool inside of a namespace is also known without it. */
function names(pattern: string, name: string): boolean {
  const [whole, own] = [name.toLowerCase(), name.toLowerCase().replace(/^.*\//s, '')];
  return globMatch(pattern.toLowerCase(), whole) || globMatch(pattern.toLowerCase(), own);
}

/** The error for a tool that somebody wants to use all the same. */
export function toolDenied(name: string, rule: string, doing: string): AbpError {
  return new AbpError('E005', `${doing} the tool ${name}, which ${rule} denies.`, { operation: 'tool', policy_rule: rule, tool: name });
}

/** The offer of a request without what the rules deny. */
interface AllowedOffer {
  readonly request: IrRequest;
  readonly gone: readonly { readonly tool: IrTool; readonly rule: string }[];
}

function allowedOffer(request: IrRequest, rules: readonly ToolRules[]): AllowedOffer {
  assertChoice(request, rules);
  const gone = request.tools.flatMap((tool) => {
    const rule = ruleAgainst(rules, tool.name);
    return rule === undefined ? [] : [{ tool, rule }];
  });
  if (gone.length === 0) return { request, gone };
  const tools = request.tools.filter((tool) => !gone.some((one) => one.tool === tool));
  const { toolChoice: _choice, ...bare } = request;
  return { request: tools.length === 0 ? { ...bare, tools } : { ...request, tools }, gone };
}

/** A request that makes the model use a denied tool cannot be served without it. */
function assertChoice({ toolChoice }: IrRequest, rules: readonly ToolRules[]): void {
  const wanted = toolChoice?.kind === 'tool' ? [toolChoice.name] : toolChoice?.kind === 'allowed' ? toolChoice.names : [];
  for (const name of wanted) {
    const rule = ruleAgainst(rules, name);
    if (rule !== undefined) throw toolDenied(name, rule, 'The request asks for');
  }
}

/** Throws E005 where a request offers a denied tool, and has to pass as it is. */
export function assertAllowed(request: IrRequest, rules: readonly ToolRules[]): void {
  const [first] = allowedOffer(request, rules).gone;
  if (first !== undefined) throw toolDenied(first.tool.name, first.rule, 'The request offers');
}

const TAKEN_OUT = 'taken out of the offer by';

/** Takes denied tools out of a request, with a note on each. Throws E005 where the request insists on one. */
export function withoutDenied(request: IrRequest, rules: readonly ToolRules[]): { request: IrRequest; notes: FateNote[] } {
  if (rules.length === 0) return { request, notes: [] };
  const allowed = allowedOffer(request, rules);
  const notes = allowed.gone.map(({ tool, rule }): FateNote => {
    const concept = tool.kind === 'hosted' ? 'hosted_tool' : tool.kind === 'custom' ? 'custom_tool' : 'tool';
    return {
      concept,
      fate: 'dropped',
      code: 'tool_denied',
      note: `${tool.name}: ${TAKEN_OUT} ${rule}`,
      ...(tool.at !== undefined && { at: tool.at }),
    };
  });
  return { request: allowed.request, notes };
}

/** The same in the caller's own words: the body without those declarations, and without a choice where none is left. */
export function patchOffer(
  body: JsonObject,
  request: IrRequest,
  rules: readonly ToolRules[],
): { body: JsonObject; fidelity: FidelityEntry[] } {
  const { gone, request: kept } = allowedOffer(request, rules);
  if (gone.length === 0) return { body, fidelity: [] };
  const places = new Set(gone.flatMap(({ tool }) => (tool.at === undefined ? [] : [tool.at])));
  if (places.size < gone.length) throw new AbpError('internal', 'a tool of a request has no place in it');
  const members = Object.entries(body).flatMap(([name, value]): [string, Json][] => {
    if (kept.tools.length === 0 && CHOICES.has(name)) return [];
    const left = value === undefined ? undefined : without(value, name, places);
    return left === undefined ? [] : [[name, left]];
  });
  const fidelity = gone.map(
    ({ tool, rule }): FidelityEntry => ({
      path: tool.at ?? 'tools',
      fate: 'dropped',
      code: 'tool_denied',
      note: `${tool.name}: ${TAKEN_OUT} ${rule}`,
    }),
  );
  return { body: Object.fromEntries(members), fidelity };
}

/** Settings about tools, which vendors refuse beside none. */
const CHOICES: ReadonlySet<string> = new Set(['tool_choice', 'function_call', 'parallel_tool_calls', 'toolConfig', 'tool_config']);
/** Members that only name a group of tools: a group without tools that has nothing else is left out. */
const LABELS: ReadonlySet<string> = new Set(['type', 'name', 'description']);

/** The value without the places below it; undefined where nothing is left of it. */
function without(value: Json, at: string, places: ReadonlySet<string>): Json | undefined {
  if (places.has(at)) return undefined;
  if (![...places].some((place) => place.startsWith(`${at}[`) || place.startsWith(`${at}.`))) return value;
  if (Array.isArray(value)) {
    const items: readonly Json[] = value;
    const left = items.flatMap((item, index) => without(item, `${at}[${index}]`, places) ?? []);
    return left.length === 0 ? undefined : left;
  }
  if (!isJsonObject(value)) return value;
  const left = Object.entries(value).flatMap(([name, member]): [string, Json][] => {
    const kept = member === undefined ? undefined : without(member, `${at}.${name}`, places);
    return kept === undefined ? [] : [[name, kept]];
  });
  return left.every(([name]) => LABELS.has(name)) ? undefined : Object.fromEntries(left);
}

/** The tools that rules took out, as the account of a request tells. */
export function deniedTools(fidelity: readonly Pick<FidelityEntry, 'code' | 'note'>[]): { readonly tool: string; readonly rule: string }[] {
  return fidelity.flatMap(({ code, note = '' }) => {
    const [tool, rule] = code === 'tool_denied' ? note.split(`: ${TAKEN_OUT} `) : [];
    return tool === undefined || rule === undefined ? [] : [{ tool, rule }];
  });
}

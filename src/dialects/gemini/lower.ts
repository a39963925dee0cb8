import { type Json, type JsonObject, listIn, objectIn } from '../../base/json.ts';
import { splitSystem } from '../../ir/conversation.ts';
import type { HostedToolKind, IrFunctionTool, IrHostedTool, IrRequest, IrToolChoice } from '../../ir/request.ts';
import type { FateNote, LowerContext, LoweredRequest } from '../dialect.ts';
import { type LimitPlaces, lowerLimits } from '../hosted-limits.ts';
import { compact } from '../members.ts';
import { allowedTools } from '../tool-choice.ts';
import { lostWords, lowerConfig, lowerSchema } from './lower-config.ts';
import { ContentWriter, where } from './lower-content.ts';

/** Writes a generateContent body. The order of members is fixed, so that the same request gives the same bytes and keeps its prompt cache. */
export function lowerRequest(request: IrRequest, context: LowerContext): LoweredRequest {
  const notes: FateNote[] = [];
  const { system, rest } = splitSystem(request.messages);
  const writer = new ContentWriter(notes, context.traits);
  const instruction = writer.contents(system).flatMap((content) => listIn(content.parts));
  const [ownSystem] = system.flatMap(({ meta }) => (meta?.gemini === undefined ? [] : [meta.gemini]));
  const { toolConfig: _config, generationConfig: _generation, ...own } = request.vendor.gemini ?? {};
  const tools = offered(request, notes);
  const body = compact({
    systemInstruction: instruction.length === 0 ? undefined : { parts: instruction, ...ownSystem },
    contents: writer.contents(rest),
    tools: lowerTools(tools, context, notes),
    toolConfig: lowerToolConfig(request, { ...tools, mixed: isMixed(tools, context) }, notes),
    generationConfig: lowerConfig(request, context, notes),
    serviceTier: lowerServiceTier(request, context, notes),
    ...own,
  });
  return { path: pathOf(request), body, headers: {}, notes };
}

/** The method is part of the address, and so is the framing of a stream. */
function pathOf({ model, stream }: IrRequest): string {
  const name = encodeURIComponent(model.replace(/^models\//, ''));
  return `/v1beta/models/${name}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`;
}

const TIERS: Readonly<Record<string, string>> = {
  standard: 'standard',
  default: 'standard',
  standard_only: 'standard',
  flex: 'flex',
  priority: 'priority',
  unspecified: 'unspecified',
};

function lowerServiceTier({ serviceTier }: IrRequest, { lacks }: LowerContext, notes: FateNote[]): string | undefined {
  const tier = lacks.has('service_tier') ? undefined : TIERS[serviceTier ?? ''];
  if (serviceTier !== undefined && tier === undefined) {
    notes.push({ concept: 'service_tier', fate: 'dropped', code: 'no_such_tier', note: `Gemini has no tier "${serviceTier}"` });
  }
  return tier;
}

interface Offered {
  readonly functions: readonly IrFunctionTool[];
  readonly hosted: readonly IrHostedTool[];
}

/** The tools to declare. A choice among some of them that forces none has no form here, so only those are declared. */
function offered({ tools, toolChoice }: IrRequest, notes: FateNote[]): Offered {
  const functions = tools.filter((tool) => tool.kind === 'function');
  const hosted = unforbidden(
    tools.filter((tool) => tool.kind === 'hosted'),
    toolChoice,
    notes,
  );
  if (toolChoice?.kind !== 'allowed' || toolChoice.mode === 'required' || functions.some((tool) => tool.strict))
    return { functions, hosted };
  return { functions: allowedTools(functions, toolChoice.names, notes), hosted };
}

/** Gemini's choice is about functions alone: a caller of another vendor who wants no tool used must not have any of Gemini's own. */
function unforbidden(hosted: readonly IrHostedTool[], choice: IrToolChoice | undefined, notes: FateNote[]): readonly IrHostedTool[] {
  const isForeign = hosted.some(({ meta }) => meta.gemini === undefined);
  return choice?.kind === 'none' && isForeign ? allowedTools(hosted, [], notes) : hosted;
}

function lowerTools({ functions, hosted }: Offered, context: LowerContext, notes: FateNote[]): Json | undefined {
  const declarations = functions.map((tool) => lowerFunction(tool, context, notes));
  const lowered = [
    ...(declarations.length === 0 ? [] : [{ functionDeclarations: declarations }]),
    ...hosted.flatMap((tool) => lowerHosted(tool, declarations.length > 0 && context.traits.has('json-or-tools'), notes)),
  ];
  return lowered.length === 0 ? undefined : lowered;
}

function lowerFunction(tool: IrFunctionTool, context: LowerContext, notes: FateNote[]): JsonObject {
  const { parameters, ...own } = tool.meta?.gemini ?? {};
  const form = lowerSchema(tool.schema, context, objectIn(parameters));
  if (form.lost.length > 0)
    notes.push({ concept: 'tool', fate: 'emulated', code: 'schema_words_lost', note: lostWords(form.lost), ...where(tool) });
  // The subset has no form for an object without properties; a function without parameters says the same.
  const empty = form.subset && parameters === undefined && Object.keys(form.schema.properties ?? {}).length === 0;
  return compact({
    name: tool.name,
    description: tool.description,
    [form.subset ? 'parameters' : 'parametersJsonSchema']: empty ? undefined : form.schema,
    ...own,
  });
}

/** Hosted tools that other dialects have too. */
const HOSTED: Readonly<Partial<Record<HostedToolKind, string>>> = {
  web_search: 'googleSearch',
  web_fetch: 'urlContext',
  code_execution: 'codeExecution',
};

/** Gemini's tools take no limit that other vendors have. */
const LIMITS: LimitPlaces = {};

function lowerHosted(tool: IrHostedTool, clash: boolean, notes: FateNote[]): JsonObject[] {
  const own = tool.meta.gemini;
  if (own !== undefined) return [own];
  if (clash) {
    notes.push({
      concept: 'hosted_tool',
      fate: 'refused',
      code: 'tools_exclude_each_other',
      note: 'the model takes functions or tools of its own, not both',
      ...where(tool),
    });
    return [];
  }
  const name = HOSTED[tool.hosted];
  if (name === undefined)
    notes.push({ concept: 'hosted_tool', fate: 'refused', code: 'no_such_tool', note: `Gemini has no ${tool.name}`, ...where(tool) });
  else
    notes.push({
      concept: 'hosted_tool',
      fate: 'emulated',
      code: 'served_by_own_tool',
      note: `served by Gemini's ${name}`,
      ...where(tool),
    });
  return name === undefined ? [] : [{ [name]: lowerLimits(tool, LIMITS, `Gemini's ${name}`, notes) }];
}

/** Whether functions stand beside tools of the engine that the caller asked for in another vendor's words. */
function isMixed({ functions, hosted }: Offered, { traits }: LowerContext): boolean {
  return functions.length > 0 && traits.has('mixed-tools') && hosted.some(({ meta }) => meta.gemini === undefined);
}

function lowerToolConfig(request: IrRequest, tools: Offered & { readonly mixed: boolean }, notes: FateNote[]): JsonObject | undefined {
  const { functionCallingConfig: inner, ...own } = objectIn(request.vendor.gemini?.toolConfig) ?? {};
  const calling = compact({ ...lowerChoice(request, tools, notes), ...objectIn(inner) });
  const config = compact({
    functionCallingConfig: Object.keys(calling).length === 0 ? undefined : calling,
    // Without it both kinds of tools together are answered with 400.
    includeServerSideToolInvocations: tools.mixed ? true : undefined,
    ...own,
  });
  return Object.keys(config).length === 0 ? undefined : config;
}

/** The mode decides for all functions, so that a strict tool of another dialect has company or no say. */
function noteStrict(
  choice: IrRequest['toolChoice'],
  { functions, mixed }: Pick<Offered, 'functions'> & { readonly mixed: boolean },
  notes: FateNote[],
): void {
  if (!functions.some((tool) => tool.strict !== undefined && tool.meta?.gemini === undefined)) return;
  const open = choice === undefined || choice.kind === 'auto' || (choice.kind === 'allowed' && choice.mode === 'auto');
  const note = 'the mode holds the model to the schemas of all functions or of none';
  if (!open || mixed) notes.push({ concept: 'tool_strict', fate: 'dropped', code: 'always_held', note });
  else if (functions.some((tool) => tool.strict))
    notes.push({ concept: 'tool_strict', fate: 'emulated', code: 'strict_for_all_tools', note });
}

/** VALIDATED and ANY hold the model to the schemas, which is what a strict tool asks for; there is no AUTO beside tools of the engine. */
function lowerChoice(
  { toolChoice: choice }: IrRequest,
  { functions, mixed }: Pick<Offered, 'functions'> & { readonly mixed: boolean },
  notes: FateNote[],
): JsonObject {
  const free = mixed || functions.some((tool) => tool.strict) ? 'VALIDATED' : 'AUTO';
  noteStrict(choice, { functions, mixed }, notes);
  switch (choice?.kind) {
    case undefined:
      return free === 'AUTO' ? {} : { mode: free };
    case 'auto':
    case 'none':
      if (functions.length === 0) return {};
      return { mode: choice.kind === 'none' ? 'NONE' : free };
    case 'required':
      return { mode: 'ANY' };
    case 'tool':
      if (!functions.some((tool) => tool.name === choice.name)) {
        notes.push({
          concept: 'tool_choice',
          fate: 'refused',
          code: 'choice_not_forcible',
          note: `Gemini can only be made to call a function, not ${choice.name}`,
        });
      }
      return { mode: 'ANY', allowedFunctionNames: [choice.name] };
    case 'allowed':
      if (choice.mode === 'required') return { mode: 'ANY', allowedFunctionNames: choice.names };
      return free === 'AUTO' ? { mode: free } : { mode: free, allowedFunctionNames: choice.names };
  }
}

import type { Capability } from '../contract/capability.ts';
import { capabilityMissing, type MappingParties, unsupportedFeature } from '../contract/errors.ts';
import type { EmulationEntry } from '../contract/negotiation.ts';
import type { CapabilityManifest, Compatibility } from '../contract/support.ts';
import type { Dialect, FateNote, LowerContext } from '../dialects/dialect.ts';
import type { Concept } from '../ir/concept.ts';
import type { IrRequest } from '../ir/request.ts';
import { EmulationEngine } from '../negotiation/emulation.ts';
import type { AnswerChange } from './answer-filter.ts';
import { customAsFunctions } from './emulations/custom-tool.ts';
import type { Emulation } from './emulations/emulation.ts';
import { forcedTool } from './emulations/forced-tool.ts';
import { SINGLE_CALL } from './emulations/single-call.ts';
import { stopCut } from './emulations/stop-cut.ts';
import { WRAPPED, wrapOutput } from './emulations/wrapped-answer.ts';
import { requiredCapabilities, type Used } from './required.ts';

export interface PreflightInput {
  readonly request: IrRequest;
  readonly manifest: CapabilityManifest;
  readonly compatibility: Compatibility;
  /** Capabilities the caller, the route or the run key allows to be approximated. */
  readonly emulate: ReadonlySet<Capability>;
  readonly target: Dialect;
  readonly lower: LowerContext;
  readonly parties: MappingParties;
}

/** The request as it may be sent, with everything that is provided by other means than the engine's own. */
export interface Cleared {
  readonly request: IrRequest;
  /** Emulations that no note tells of. */
  readonly emulations: readonly EmulationEntry[];
  readonly notes: readonly FateNote[];
  readonly changes: readonly AnswerChange[];
}

/** Said of an emulation of which nothing more is known: what the writing of the request says of it takes its place. */
export const OWN_FORM = 'the engine’s own form of it';

/** Checks what the request uses against what the model has, before anyone is called. Throws E001 or E006. */
export function preflight(input: PreflightInput): Cleared {
  const wrapped = wrappedOutput(input);
  const notes = wrapped === undefined ? [] : [WRAPPED];
  let cleared: Cleared = { request: wrapped ?? input.request, emulations: [], notes, changes: [] };
  for (const used of requiredCapabilities(input.request)) cleared = clear(input, used, cleared);
  if (wrapped !== undefined) cleared = changed(cleared, { kind: 'unwrap' });
  if (isBare(input)) cleared = changed(cleared, { kind: 'bare-text' });
  if (!carries(input, 'custom_tool')) cleared = withoutCustomTools(cleared);
  return carries(input, 'parallel_tool_calls') ? cleared : oneCallAtMost(input, cleared);
}

/** A conversation in its own dialect is the caller's affair. */
function wrappedOutput({ request, target, parties }: PreflightInput): IrRequest | undefined {
  return target.rules.plainRoot && parties.dialectId !== target.id ? wrapOutput(request) : undefined;
}

function isBare({ request: { output }, target, parties }: PreflightInput): boolean {
  return output?.kind === 'json-schema' && output.bare === true && parties.dialectId !== target.id;
}

function changed(cleared: Cleared, change: AnswerChange): Cleared {
  return { ...cleared, changes: [...cleared.changes, change] };
}

/** Ours is the first change: the others must not see calls that the caller does not. */
function oneCallAtMost(input: PreflightInput, cleared: Cleared): Cleared {
  const { parallelToolCalls, ...request } = cleared.request;
  if (parallelToolCalls !== false) return cleared;
  const asked = input.request.parallelToolCalls === false;
  const notes = asked ? [...cleared.notes, SINGLE_CALL] : cleared.notes;
  return { ...cleared, request, notes, changes: [{ kind: 'single-call' }, ...cleared.changes] };
}

function withoutCustomTools(cleared: Cleared): Cleared {
  const custom = customAsFunctions(cleared.request);
  if (custom === undefined) return cleared;
  const { request, notes, change } = custom;
  return { ...cleared, request, notes: [...cleared.notes, ...notes], changes: [change, ...cleared.changes] };
}

function clear(input: PreflightInput, used: Used, cleared: Cleared): Cleared {
  const level = input.manifest[used.capability] ?? 'unsupported';
  const emulation = emulationFor(input, used.capability, cleared.request, level === 'native');
  if (level === 'native' && emulation === undefined) return cleared;
  const optedIn = input.emulate.has(used.capability);
  const lacking = level === 'unsupported' && emulation === undefined;
  if (input.compatibility === 'strict') {
    throw capabilityMissing({
      capability: used.capability,
      level: level === 'native' || (level === 'unsupported' && !lacking) ? 'emulated' : level,
      minSupport: 'native',
      backend: input.parties.engineName,
    });
  }
  if (lacking && !optedIn) throw unsupportedFeature(used.capability, used.title, input.parties);
  if (emulation !== undefined) return provided(cleared, emulation);
  return level === 'unsupported' ? approximated(input, used, cleared) : inOwnForm(cleared, used.capability);
}

const carries = (input: PreflightInput, concept: Concept): boolean =>
  input.target.names[concept] !== undefined && !input.lower.lacks.has(concept);

/** The mapping layer emulates by itself: cutting at stop sequences where the wire has none, JSON by a forced tool where the model or the wire has none. */
function emulationFor(input: PreflightInput, capability: Capability, request: IrRequest, native: boolean): Emulation | undefined {
  if (capability === 'stop_sequences') {
    const fits = carries(input, 'stop_sequences') && takesStops(input.target, request.stop);
    // One answer can be cut while the engine is told to stop; several end at different times.
    if (!fits && (request.sampling.count ?? 1) > 1)
      throw unsupportedFeature(capability, 'Cutting several answers at stop sequences', input.parties);
    return fits ? undefined : stopCut(request);
  }
  return capability === 'json_mode' || capability === 'structured_output_json_schema'
    ? jsonEmulation(input, capability, request, native)
    : undefined;
}

function jsonEmulation(input: PreflightInput, capability: Capability, request: IrRequest, native: boolean): Emulation | undefined {
  const worded = carries(input, capability === 'json_mode' ? 'json_mode' : 'json_schema');
  if (native && worded) return clashes(input, request) ? forcedTool(request, false) : undefined;
  // Claude does not combine a forced tool with thinking; its own output format can, for a schema.
  const thinking = request.thinking !== undefined && request.thinking.mode !== 'disabled';
  if (thinking && capability === 'structured_output_json_schema' && carries(input, 'json_schema')) return undefined;
  return forcedTool(request, thinking);
}

function takesStops({ rules }: Dialect, stop: readonly string[]): boolean {
  return stop.length <= rules.maxStopSequences && stop.every((text) => rules.stopSequence?.test(text) ?? true);
}

/** Some models have JSON output and functions, and answer 400 to both at once. */
function clashes({ lower }: PreflightInput, { tools }: IrRequest): boolean {
  return lower.traits.has('json-or-tools') && tools.some(({ kind }) => kind !== 'hosted');
}

function provided(cleared: Cleared, emulation: Emulation): Cleared {
  return {
    ...cleared,
    request: emulation.request,
    notes: [...cleared.notes, ...emulation.notes],
    changes: [...cleared.changes, emulation.change],
  };
}

function inOwnForm(cleared: Cleared, capability: Capability): Cleared {
  const strategy = { type: 'post_processing', detail: OWN_FORM } as const;
  return { ...cleared, emulations: [...cleared.emulations, { capability, strategy }] };
}

/** Opted in: the engine's own parameter where its wire has one, else the strategy of the default table. */
function approximated(input: PreflightInput, used: Used, cleared: Cleared): Cleared {
  if (used.capability === 'extended_thinking' && carries(input, 'thinking')) {
    return inOwnForm(cleared, used.capability);
  }
  const { conversation, report } = EmulationEngine.withDefaults().apply([used.capability], cleared.request);
  if (report.warnings.length > 0) throw unsupportedFeature(used.capability, used.title, input.parties);
  const { thinking: _gone, ...rest } = conversation;
  const request = used.capability === 'extended_thinking' ? rest : conversation;
  const notes: readonly FateNote[] = [
    { concept: 'thinking', fate: 'emulated', code: 'thinking_as_prompt', note: 'a sentence in the system prompt' },
    ...(['thinking_budget', 'thinking_display'] as const).map(
      (concept): FateNote => ({ concept, fate: 'dropped', code: 'model_lacks', note: 'the sentence does not say it', ofLeaf: true }),
    ),
  ];
  return {
    ...cleared,
    request,
    emulations: [...cleared.emulations, ...report.applied],
    notes: used.capability === 'extended_thinking' ? [...cleared.notes, ...notes] : cleared.notes,
  };
}

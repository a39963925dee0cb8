import type { Capability } from '../contract/capability.ts';
import { AbpError, type MappingParties } from '../contract/errors.ts';
import type { EmulationEntry } from '../contract/negotiation.ts';
import type { Compatibility } from '../contract/support.ts';
import type { Dialect, FateNote, LoweredRequest } from '../dialects/dialect.ts';
import type { IrRequest } from '../ir/request.ts';
import type { AnswerChange } from './answer-filter.ts';
import { closedOutput } from './emulations/closed-output.ts';
import { readableHistory } from './history.ts';
import { namedMedia } from './media-types.ts';
import type { ModelFacts } from './model.ts';
import { preflight } from './preflight.ts';
import { repair } from './repair.ts';
import { looseStrict } from './tools/strict-tools.ts';
import { mapIds } from './tools/tool-ids.ts';
import { type Renames, renamesFor, renameTools } from './tools/tool-names.ts';
import { mendSchemas } from './tools/tool-schemas.ts';

/** A request in neutral words, and what it is to be written for. */
export interface WritingInput {
  readonly request: IrRequest;
  readonly target: Dialect;
  readonly facts: ModelFacts;
  readonly compatibility: Compatibility;
  readonly emulate: ReadonlySet<Capability>;
  readonly parties: MappingParties;
  /** The request came in the target's own dialect: its conversation is the caller's affair, whose calls may be stored at the vendor. */
  readonly same?: boolean;
}

/** The request in the engine's words, and what had to be changed for it. */
export interface Written {
  readonly lowered: LoweredRequest;
  readonly emulations: readonly EmulationEntry[];
  /** Changes that emulations make to the answer. */
  readonly changes: readonly AnswerChange[];
  readonly renames: Renames;
  /** Without those of the lowering itself, which `lowered` has. */
  readonly notes: readonly FateNote[];
}

/** Checks a request against the model, repairs what the engine would not take, and lowers it. Throws E001 or E006. */
export function write(input: WritingInput): Written {
  const { target, facts, same = false } = input;
  const { lower, manifest } = facts;
  const chosen = same ? withoutAllowed(input.request) : withoutToolSettings(input.request);
  const history = same ? chosen : readableHistory(chosen.request, target);
  const cleared = preflight({ ...input, request: history.request, manifest, lower });
  const output = same ? { request: cleared.request, notes: [] } : closedOutput(cleared.request, target);
  const mended = same ? { request: output.request, notes: [], changes: [] } : mendSchemas(output.request, target);
  const held = same ? { request: mended.request, notes: [] } : looseStrict(mended.request, target);
  const media = same ? { messages: held.request.messages, notes: [] } : namedMedia(held.request.messages);
  const repaired = same ? media : repair(media.messages, target, lower.lacks);
  const renames = renamesFor(held.request, target.rules.toolName);
  const ready = renameTools({ ...held.request, messages: mapIds(repaired.messages, target.rules.toolCallId) }, renames);
  return {
    lowered: target.lowerRequest(ready, lower),
    emulations: cleared.emulations,
    changes: [...mended.changes, ...cleared.changes],
    renames,
    notes: [
      ...chosen.notes,
      ...(same ? [] : history.notes),
      ...cleared.notes,
      ...output.notes,
      ...(same ? [] : media.notes),
      ...repaired.notes,
      ...mended.notes,
      ...held.notes,
      ...renameNotes(cleared.request, renames),
    ],
  };
}

function renameNotes(request: IrRequest, renames: Renames): FateNote[] {
  return request.tools.flatMap(({ name, at }): FateNote[] => {
    const to = renames.get(name);
    if (to === undefined) return [];
    const note = `declared as ${to}; answers get the name ${name} back`;
    return [{ concept: 'tool', fate: 'emulated', code: 'tool_renamed', note, ...(at === undefined ? {} : { at }) }];
  });
}

interface Chosen {
  readonly request: IrRequest;
  readonly notes: readonly FateNote[];
}

const NO_TOOL = 'there is no tool to choose';

/** A choice among some tools says nothing where there are none. */
function withoutAllowed(request: IrRequest): Chosen {
  const { toolChoice, ...rest } = request;
  if (request.tools.length > 0 || toolChoice?.kind !== 'allowed') return { request, notes: [] };
  assertSome(toolChoice);
  return { request: rest, notes: [{ concept: 'tool_choice', fate: 'dropped', code: 'no_tool_to_choose', note: NO_TOOL }] };
}

/** No vendor takes an order to call one of some tools that are not there. */
function assertSome(choice: IrRequest['toolChoice']): void {
  if (choice?.kind === 'allowed' && choice.mode === 'required')
    throw new AbpError('invalid_request', `tool_choice: one of ${choice.names.join(', ')} must be called, and no tool is declared`);
}

/** Vendors answer settings for tools beside no tool with 400. A choice that forces none says nothing then, and neither does how many calls. */
export function withoutToolSettings(request: IrRequest): Chosen {
  if (request.tools.length > 0) return { request, notes: [] };
  const { toolChoice, parallelToolCalls: _none, ...rest } = request;
  assertSome(toolChoice);
  const among = toolChoice?.kind === 'allowed';
  const forces = toolChoice !== undefined && toolChoice.kind !== 'auto' && toolChoice.kind !== 'none' && !among;
  const fate = among ? 'dropped' : 'renamed';
  return {
    request: forces ? { ...rest, toolChoice } : rest,
    notes: [
      { concept: 'parallel_tool_calls', fate: 'dropped', code: 'no_tool_to_choose', note: NO_TOOL },
      ...(forces ? [] : [{ concept: 'tool_choice', fate, code: 'no_tool_to_choose', note: NO_TOOL } as const]),
    ],
  };
}

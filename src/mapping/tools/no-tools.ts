import type { FateNote } from '../../dialects/dialect.ts';
import type { IrRequest } from '../../ir/request.ts';

/** Vendors answer settings for tools beside no tool with 400. A choice that forces none says nothing then, and neither does how many calls. */
export function withoutToolSettings(request: IrRequest): { readonly request: IrRequest; readonly notes: readonly FateNote[] } {
  if (request.tools.length > 0) return { request, notes: [] };
  const { toolChoice, parallelToolCalls: _none, ...rest } = request;
  const forces = toolChoice !== undefined && toolChoice.kind !== 'auto' && toolChoice.kind !== 'none';
  const note = 'there is no tool to choose';
  return {
    request: forces ? { ...rest, toolChoice } : rest,
    notes: [
      { concept: 'parallel_tool_calls', fate: 'dropped', code: 'no_tool_to_choose', note },
      ...(forces ? [] : [{ concept: 'tool_choice', fate: 'renamed', code: 'no_tool_to_choose', note } as const]),
    ],
  };
}

import type { IrTool } from '../ir/request.ts';
import type { FateNote } from './dialect.ts';

/** The tools of a choice among some, where the wire has no such choice: only those are declared, and each other one says so. */
export function allowedTools<T extends IrTool>(tools: readonly T[], names: readonly string[], notes: FateNote[]): readonly T[] {
  if (tools.length === 0) notes.push({ concept: 'tool_choice', fate: 'dropped', code: 'no_tool_to_choose', note: 'there is none of them' });
  else
    notes.push({ concept: 'tool_choice', fate: 'emulated', code: 'allowed_tools_declared', note: 'only the allowed tools were declared' });
  for (const tool of tools.filter(({ name }) => !names.includes(name))) notes.push(...leftOut(tool));
  return tools.filter(({ name }) => names.includes(name));
}

/** A tool's leaves mean the tool itself, its strictness and its structure. */
function leftOut(tool: IrTool): FateNote[] {
  const concepts = tool.kind === 'custom' ? (['custom_tool'] as const) : tool.kind === 'hosted' ? (['hosted_tool'] as const) : FUNCTION;
  return concepts.map((concept) => ({
    concept,
    fate: 'dropped',
    code: 'tool_not_declared',
    note: 'the choice leaves it out, so it was not declared',
    ...(tool.at === undefined ? {} : { at: tool.at }),
  }));
}

const FUNCTION = ['tool', 'tool_strict', 'structure'] as const;

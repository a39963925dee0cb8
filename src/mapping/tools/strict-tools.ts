import type { Dialect, FateNote } from '../../dialects/dialect.ts';
import { type StrictSubset, strictLoad, strictProblem } from '../../dialects/strict-subset.ts';
import type { IrFunctionTool, IrRequest } from '../../ir/request.ts';

/**
 * Strict tools as far as the target takes them. A schema outside of its subset, or one tool too many, would be answered with 400; such a
 * tool is sent without the word, and the record says so.
 */
export function looseStrict(request: IrRequest, { rules }: Dialect): { readonly request: IrRequest; readonly notes: readonly FateNote[] } {
  const { strict: subset } = rules;
  if (subset === undefined || !request.tools.some((tool) => tool.kind === 'function' && tool.strict === true))
    return { request, notes: [] };
  const notes: FateNote[] = [];
  const room = new Room(subset);
  const tools = request.tools.map((tool) => {
    if (tool.kind !== 'function' || tool.strict !== true) return tool;
    const problem = strictProblem(tool.schema, subset) ?? room.problem(tool);
    if (problem === undefined) return tool;
    const at = tool.strictAt ?? tool.at;
    const note = `the model is asked to keep to the schema of ${tool.name}, not held to it: ${problem}`;
    notes.push({ concept: 'tool_strict', fate: 'emulated', code: 'strict_not_held', note, ...(at === undefined ? {} : { at }) });
    return { ...tool, strict: false };
  });
  return { request: { ...request, tools }, notes };
}

/** Counts how much of the target's limits is left for the strict tools of a request. */
class Room {
  #tools: number;
  #unions: number;
  #optional: number;

  constructor({ mostTools = Infinity, mostUnions = Infinity, mostOptional = Infinity }: StrictSubset) {
    this.#tools = mostTools;
    this.#unions = mostUnions;
    this.#optional = mostOptional;
  }

  /** Why there is no room for another one; where there is, it is taken. */
  problem({ schema }: IrFunctionTool): string | undefined {
    const { unions, optional } = strictLoad(schema);
    if (this.#tools < 1) return 'the engine takes no more strict tools in one request';
    if (this.#unions < unions) return 'the engine takes no more unions in strict tools';
    if (this.#optional < optional) return 'the engine takes no more optional members in strict tools';
    this.#tools -= 1;
    this.#unions -= unions;
    this.#optional -= optional;
    return undefined;
  }
}

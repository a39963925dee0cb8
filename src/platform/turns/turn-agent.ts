import type { IrFunctionTool } from '../../ir/request.ts';
import type { Tool } from '../tools/tool.ts';

/** An agent as a turn needs it. */
export interface TurnAgent {
  readonly id: string;
  readonly name: string;
  /** `engine/model`, or a name of the route table; null leaves the choice to the platform. */
  readonly model: string | null;
  readonly systemPrompt: string;
  readonly tools: readonly Tool[];
  readonly maxIterations: number | null;
  readonly maxCostNanoUsd: number | null;
}

interface AgentWish {
  readonly agentId: string;
  /** Tools that act on this machine outside a sandbox may be used. */
  readonly host: boolean;
  /** The revision that is current, where it is known already. */
  readonly revision?: number | undefined;
}

/** Where turns get their agents from. Throws when the agent cannot be put together, or not for this caller. */
export type AgentSource = (wish: AgentWish) => Promise<TurnAgent>;

const declared = new WeakMap<readonly Tool[], readonly IrFunctionTool[]>();

/** The tools as a request declares them. */
export function toolDeclarations(tools: readonly Tool[]): readonly IrFunctionTool[] {
  const known = declared.get(tools);
  if (known !== undefined) return known;
  const made = tools.map(
    ({ name, description, parameters }): IrFunctionTool => ({ kind: 'function', name, description, schema: parameters }),
  );
  declared.set(tools, made);
  return made;
}

import type { JsonObject } from '../../../base/json.ts';
import type { SpawnPlan } from '../../adapter.ts';
import type { Voice } from '../jsonl/account.ts';
import { textAt } from '../lines/fields.ts';

/** A request of ours to an agent that speaks ACP. */
interface AcpRequest {
  readonly method: string;
  readonly params: JsonObject;
}

/** Where agents that speak the Agent Client Protocol differ. */
export interface AcpKind {
  readonly voice: Omit<Voice, 'tools'> & { readonly tools: Pick<Voice['tools'], 'mcp'> };
  /** What the user lacks when the agent ends before it has said a word. */
  readonly silence?: string;
  /** The way of logging in to ask for before a session; most agents need none. */
  readonly authMethod?: string;
  /** What is set once the session is open: the model, the mode. */
  readonly configure?: (plan: SpawnPlan, sessionId: string) => readonly AcpRequest[];
  /** MCP servers go with the session, unless the agent gets them by its configuration. */
  readonly mcpServers?: (plan: SpawnPlan) => readonly JsonObject[];
  /** The text of the prompt, where it must hold more than what was asked. */
  readonly prompt?: (plan: SpawnPlan) => string;
  /** The agent does not tell the end of every call: what the model says next means that all are over. */
  readonly untoldEnds?: boolean;
  /** What went wrong, for agents that tell it as their answer. */
  readonly failureIn?: (answer: string) => string | undefined;
  /** The name of the tool in a call: the protocol itself has only a title for people. */
  readonly toolName?: (call: JsonObject) => string | undefined;
}

/** A title that begins with the name of the tool: `write`, `write: src/a.ts`. */
export function toolNameInTitle(call: JsonObject): string | undefined {
  return /^([A-Za-z][\w.-]*)(?::|$)/.exec(textAt(call.title) ?? '')?.[1];
}

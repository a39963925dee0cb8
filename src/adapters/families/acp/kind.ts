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
  /** The reason that we give when the agent ends before it has said a word, such as a part that is not installed. */
  readonly silence?: string;
  /** The way of logging in to ask for before a session; most agents need none. */
  readonly authMethod?: string;
  /** Requests that we send once the session is open, to set its model and mode. */
  readonly configure?: (plan: SpawnPlan, sessionId: string) => readonly AcpRequest[];
  /** MCP servers go with the session, unless the agent gets them by its configuration. */
  readonly mcpServers?: (plan: SpawnPlan) => readonly JsonObject[];
  /** The text of the prompt, where it must hold more than what was asked. */
  readonly prompt?: (plan: SpawnPlan) => string;
  /** The agent does not tell the end of every call: what the model says next means that all are over. */
  readonly untoldEnds?: boolean;
  /** Finds the failure in an answer, for agents that tell failures as if the model had said them. */
  readonly failureIn?: (answer: string) => string | undefined;
  /** The name of the tool in a call: the protocol itself has only a title for people. */
  readonly toolName?: (call: JsonObject) => string | undefined;
}

/** A title that begins with the name of the tool: `write`, `write: src/a.ts`. */
export function toolNameInTitle(call: JsonObject): string | undefined {
  return /^([A-Za-z][\w.-]*)(?::|$)/.exec(textAt(call.title) ?? '')?.[1];
}

import type { Json, JsonObject } from '../../base/json.ts';
import type { Recording } from '../../contract/receipts/parts.ts';

/** Whether a call runs at once or waits until somebody says yes. */
type ToolPolicy = 'auto' | 'requires_approval';

/** The meaning of a crash in the middle of a call: an idempotent call is made again under the same id, any other one is asked about. */
type ToolEffect = 'idempotent' | 'at_most_once';

/** On whose behalf a turn makes a call; a tool that starts runs hands it on. */
export interface ToolBehalf {
  readonly turnId: string;
  readonly keyId: string | null;
  /** Those of the key. */
  readonly tags?: readonly string[] | undefined;
  /** How much is kept of what is said. */
  readonly recording: Recording;
}

/** The call that a tool serves. */
export interface ToolContext {
  /** The call, the same for every attempt: a tool that acts outside hands it on as its idempotency key. */
  readonly callId: string;
  readonly agentId: string;
  readonly sessionId: string;
  /** A folder of the session alone. It exists. */
  readonly workspace: string;
  /** Aborted when the turn is cancelled or the time of the call is over. */
  readonly signal: AbortSignal;
  /** Absent where no turn makes the call. */
  readonly behalf?: ToolBehalf | undefined;
}

/** How a call ended. An error is an answer to the model, not a fault of ours. */
export type ToolOutcome = { readonly output: Json } | { readonly error: string };

/** Something an agent can do. */
export interface Tool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the input; an input that does not fit never reaches `execute`. */
  readonly parameters: JsonObject;
  readonly policy: ToolPolicy;
  readonly effect: ToolEffect;
  /** How long one call may take, in milliseconds; the default of the platform where absent. */
  readonly timeoutMs?: number;
  execute(input: JsonObject, context: ToolContext): Promise<ToolOutcome>;
}

/** Something the model should know and may correct. */
export class ToolFailure extends Error {}

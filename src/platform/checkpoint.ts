import type { JsonObject } from '../base/json.ts';
import type { Recording } from '../contract/receipt.ts';
import type { TurnState } from '../loop/state.ts';

/** What whoever began a turn allows it. */
export interface TurnGrant {
  /** Tools that act on this machine outside a sandbox may be used. */
  readonly host: boolean;
  /** How much of its model calls is kept. */
  readonly recording: Recording;
  /** Engines and models, by name or pattern, that may be called; absent for any. */
  readonly engines?: readonly string[] | undefined;
  readonly models?: readonly string[] | undefined;
}

/** What is kept of a turn between two steps. */
export interface Checkpoint {
  readonly state: TurnState;
  readonly grant: TurnGrant;
}

export function checkpointJson({ state, grant }: Checkpoint): JsonObject {
  // Both are JSON by their types; interfaces have no index signature, which JsonObject asks for.
  return { state: state as unknown as JsonObject, grant: grant as unknown as JsonObject };
}

export function checkpointOf(json: JsonObject): Checkpoint {
  // Only `checkpointJson` writes the column.
  return json as unknown as Checkpoint;
}

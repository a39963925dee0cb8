import { type JsonObject, jsonOf } from '../../base/json.ts';
import type { Scopes } from '../../calls/scopes.ts';
import type { Recording } from '../../contract/receipts/parts.ts';
import { freshState, type TurnState } from '../../loop/state.ts';
import type { Digest } from '../../receipts/journal/facts.ts';

/** The grant of the caller who began a turn. */
export interface TurnGrant {
  /** Tools that act on this machine outside a sandbox may be used. */
  readonly host: boolean;
  /** How much of its model calls is kept. */
  readonly recording: Recording;
  /** Engines and models, by name or pattern, that may be called; absent for any. */
  readonly engines?: readonly string[] | undefined;
  readonly models?: readonly string[] | undefined;
  /** Labels of the sender's key, for every receipt of the turn. */
  readonly tags?: readonly string[] | undefined;
  /** The trace that the sender's own work is part of. */
  readonly traceparent?: string | undefined;
}

/** The rights of the sender's key when it asked for the turn, for every model call of it. */
export function grantedScopes({ engines, models }: TurnGrant): Scopes {
  return {
    planes: ['agent'],
    ...(engines === undefined ? {} : { engines: [...engines] }),
    ...(models === undefined ? {} : { models: [...models] }),
  };
}

/** A turn between two steps. */
export interface Checkpoint {
  readonly state: TurnState;
  readonly grant: TurnGrant;
  /** The message that began the turn; null where it was not noted. */
  readonly request: Digest | null;
  /** Events of the turn, the last one that the checkpoint has taken in included. */
  readonly events: number;
}

export function checkpointJson(checkpoint: Checkpoint): JsonObject {
  // All of it is JSON by its types; interfaces have no index signature, which JsonObject asks for.
  return jsonOf(checkpoint);
}

export function checkpointOf(json: JsonObject): Checkpoint {
  // Only `checkpointJson` writes the column.
  const checkpoint = json as unknown as Checkpoint;
  const { state } = checkpoint;
  // A turn that an earlier version began lacks what has come since.
  const fresh = freshState(state.messageId);
  const { request = null, events = 0 } = checkpoint as Partial<Checkpoint>; // for the same reason
  return { ...checkpoint, request, events, state: { ...fresh, ...state, spent: { ...fresh.spent, ...state.spent } } };
}

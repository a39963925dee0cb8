/** Tables of the agent plane; they hold to the same column rules as the others. */
export interface AgentPlaneTables {
  readonly agents: AgentsTable;
  readonly agent_capabilities: AgentCapabilitiesTable;
  readonly custom_capabilities: CustomCapabilitiesTable;
  readonly sessions: SessionsTable;
  readonly turns: TurnsTable;
  readonly session_events: SessionEventsTable;
  readonly workers: WorkersTable;
}

export interface AgentsTable {
  readonly id: string;
  /** The key that made it; null for callers without one. */
  readonly key_id: string | null;
  readonly name: string;
  readonly status: string;
  readonly tags: string;
  readonly document: string;
  /** Grows with every change of the agent, its capabilities or a custom capability. */
  readonly revision: number;
  readonly created_at: number;
  readonly updated_at: number;
}

interface AgentCapabilitiesTable {
  readonly id: string;
  readonly agent_id: string;
  readonly capability_id: string;
  readonly position: number;
  readonly created_at: number;
}

export interface CustomCapabilitiesTable {
  /** The id of the key that made it; empty without one. */
  readonly owner: string;
  readonly id: string;
  readonly key_id: string | null;
  readonly document: string;
  readonly created_at: number;
  readonly updated_at: number;
}

export interface SessionsTable {
  readonly id: string;
  readonly agent_id: string;
  readonly key_id: string | null;
  readonly title: string | null;
  readonly tags: string;
  readonly document: string;
  readonly status: string;
  /** Of the last event; events are numbered from 1 without gaps. */
  readonly sequence: number;
  /** The turn that has not ended; a session has at most one. */
  readonly turn_id: string | null;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cost_nano_usd: number;
  readonly forked_from: string | null;
  readonly forked_sequence: number | null;
  readonly created_at: number;
  readonly updated_at: number;
}

export interface TurnsTable {
  readonly id: string;
  readonly session_id: string;
  readonly status: string;
  /** Grows with every claim; a worker that writes with an older one is no longer the owner. */
  readonly epoch: number;
  readonly owner: string | null;
  readonly checkpoint: string;
  /** Of the last event that the checkpoint has taken in. */
  readonly sequence: number;
  readonly created_at: number;
  readonly updated_at: number;
  readonly ended_at: number | null;
}

export interface SessionEventsTable {
  readonly session_id: string;
  readonly sequence: number;
  readonly type: string;
  readonly turn_id: string | null;
  readonly at: number;
  readonly data: string;
}

/** Who says that it lives: processes that run turns, and nodes. One that has not been heard of for a while is dead. */
interface WorkersTable {
  readonly id: string;
  readonly started_at: number;
  readonly heartbeat_at: number;
}

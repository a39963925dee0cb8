import type { EmulationEntry, FidelityEntry } from '../contract/negotiation.ts';
import type { Attempt, Plane, Receipt, ReceiptNegotiation, ReceiptUsage, Recording, ToolCallRecord } from '../contract/receipt.ts';
import type { RunId } from '../contract/run-id.ts';
import type { Compatibility, Mode } from '../contract/support.ts';

/** Size and SHA-256 of a body. */
export interface Digest {
  readonly sha256: string;
  readonly bytes: number;
}

/** A run was accepted. Written before the engine is called, so that no call goes unrecorded. */
export interface OpenFact {
  readonly fact: 'open';
  readonly run: RunId;
  readonly at: number;
  readonly plane: Plane;
  readonly task: string;
  readonly dialect: string | null;
  readonly engine: string | null;
  readonly backend: string;
  readonly requestedModel: string | null;
  readonly upstreamModel: string | null;
  readonly mode: Mode | null;
  readonly compatibility: Compatibility;
  readonly negotiation: ReceiptNegotiation | null;
  readonly emulations: readonly EmulationEntry[];
  readonly fidelity: readonly FidelityEntry[];
  readonly request: Digest | null;
  readonly upstreamRequest: Digest | null;
  readonly recording: Recording;
  readonly enforcement: Receipt['enforcement'];
  readonly tags: readonly string[];
  readonly keyId: string | null;
}

/** A run reached its end. */
export interface CloseFact {
  readonly fact: 'close';
  readonly run: RunId;
  readonly at: number;
  readonly status: 'completed' | 'failed' | 'cancelled';
  readonly reason: string | null;
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly response: (Digest & { readonly status: number }) | null;
  readonly upstreamModel: string | null;
  readonly eventCount: number;
  readonly usage: ReceiptUsage | null;
  readonly toolCalls: readonly ToolCallRecord[];
  readonly attempts: readonly Attempt[];
  /** Milliseconds after `OpenFact.at`. */
  readonly dispatchedMs: number | null;
  readonly firstByteMs: number | null;
  readonly lastByteMs: number | null;
}

export type Fact = OpenFact | CloseFact;

import type { EmulationEntry, FidelityEntry } from '../../contract/negotiation.ts';
import type {
  Artifact,
  Attempt,
  Plane,
  Receipt,
  ReceiptNegotiation,
  ReceiptUsage,
  Recording,
  ToolCallRecord,
  WorkspaceDelta,
} from '../../contract/receipts/receipt.ts';
import type { RunId } from '../../contract/run-id.ts';
import type { Compatibility, Mode } from '../../contract/support.ts';

/** Size and SHA-256 of a body. */
export interface Digest {
  readonly sha256: string;
  readonly bytes: number;
}

/** What a run cost, in billionths of a US dollar, and the price table it was computed with. */
export interface Cost {
  readonly nanoUsd: number;
  readonly priceVersion: string;
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
  /** The run on whose behalf this one was made. */
  readonly parent: RunId | null;
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
  /** A cost that somebody else has computed; null leaves it to the keeper, which knows the price lists. */
  readonly cost: Cost | null;
  /** The price list that the usage is billed by; null where nothing costs anything. */
  readonly prices: string | null;
  /** Whether the recording can be served again byte for byte. */
  readonly replayable: boolean;
  readonly artifacts?: readonly Artifact[];
  readonly workspaceDelta?: WorkspaceDelta | null;
  /** Version of what executed the run, when it said so. */
  readonly backendVersion?: string | null;
}

export type Fact = OpenFact | CloseFact;

import type { Json } from '../base/json.ts';
import type { CapabilityManifest, Mode } from '../contract/support.ts';
import type { SidecarEvent, SidecarReceipt } from '../contract/work-orders/sidecar.ts';
import type { ForeignWorkOrder } from '../contract/work-orders/work-order.ts';

/** The order that a sidecar gets. */
export type WorkOrder = ForeignWorkOrder;

// Distributes over the union, so that each kind keeps the members of its own.
type Drafted<E> = E extends unknown ? Omit<E, 'ts' | 'ext'> : never;
/** An event without its time, which is added when it is sent. */
export type EventDraft = Drafted<SidecarEvent>;

/** The report of a sidecar at its end; everything may be left out. */
export interface Result {
  readonly outcome?: SidecarReceipt['outcome'];
  readonly usage?: Partial<SidecarReceipt['usage']>;
  /** The usage in the vendor's own members. */
  readonly usageRaw?: Json;
  readonly artifacts?: SidecarReceipt['artifacts'];
  readonly backendVersion?: string;
}

/** One run, as the code of a sidecar sees it. */
export interface SidecarRun {
  /** The id of the run, which every line names. */
  readonly id: string;
  /** Aborted when the run is cancelled, or when nobody listens any more. */
  readonly signal: AbortSignal;
  /** The control plane decides on tool calls: `approve` must be asked before each. */
  readonly asksFirst: boolean;
  send(event: EventDraft, ext?: Readonly<Record<string, Json>>): void;
  /** A piece of a message. */
  delta(text: string): void;
  /** A whole message; also after its pieces. */
  message(text: string): void;
  warn(message: string): void;
  /** Whether a tool may be called; yes at once where nobody wants to be asked. */
  approve(tool: {
    readonly name: string;
    readonly id?: string;
    readonly input: Json;
  }): Promise<{ approve: boolean; reason: string | null }>;
}

/** A sidecar: what it is called, what it can do, and what it does with an order. */
export interface Sidecar {
  readonly id: string;
  readonly version?: string;
  readonly capabilities: CapabilityManifest;
  readonly mode?: Mode;
  /** It asks before each tool call where the control plane wants that. */
  readonly extensions?: readonly 'tool_approval'[];
  /** Does the work. What it throws ends the run as a fatal one. */
  run(order: WorkOrder, run: SidecarRun): Promise<Result | undefined> | Result | undefined;
}

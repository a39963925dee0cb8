import { randomUUID } from 'node:crypto';
import type { Sidecar } from './definition.ts';
import { Session } from './session.ts';

export type { Json } from '../base/json.ts';
export type { CapabilityManifest, Mode } from '../contract/support.ts';
export type { SidecarEvent, SidecarReceipt } from '../contract/work-orders/sidecar.ts';
export type { EventDraft, Result, Sidecar, SidecarRun, WorkOrder } from './definition.ts';

/**
 * Serves one run on the standard input and output, then ends. Says hello, answers pings, reads the order, sends what `run` tells, and
 * closes with a receipt. `console.log` goes to the standard error while it serves, as the output is the protocol's.
 */
export async function serveSidecar(sidecar: Sidecar): Promise<void> {
  // The author's own `console.log` must not break the protocol, which owns the standard output.
  const { error } = console;
  Object.assign(console, { log: error, info: error });
  await new Session(sidecar, { input: process.stdin, output: process.stdout }).over;
  // A timer or a socket that the code of the sidecar left open must not keep a process that has said its end.
  process.exit(0);
}

/** A new id for a tool call. */
export function callId(): string {
  return `call_${randomUUID()}`;
}

/** The contract for programs: its documents, its words, and negotiation. Exported as `agent-backplane/contract`. */
export { Capability } from '../contract/capability.ts';
export { AbpError } from '../contract/errors.ts';
export type * from '../contract/negotiation.ts';
export type { Receipt } from '../contract/receipts/receipt.ts';
export type { CapabilityManifest, SupportLevel } from '../contract/support.ts';
export { type WorkOrder, WorkOrderBuilder, workOrder } from '../contract/work-orders/work-order.ts';
export { applyEmulation, canEmulate, defaultStrategy, EmulationConfig, EmulationEngine } from '../negotiation/emulation.ts';
export { isCompatible, negotiate, type Requirements } from '../negotiation/negotiate.ts';
export { generateReport } from '../negotiation/report.ts';

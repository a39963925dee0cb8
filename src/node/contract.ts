/** The contract for programs: its documents, its words, and negotiation. Exported as `agent-backplane/contract`. */
export { Capability } from '../contract/capability.ts';
export { AbpError, type ErrorCode } from '../contract/errors.ts';
export type * from '../contract/negotiation.ts';
export type { Receipt } from '../contract/receipts/receipt.ts';
export type {
  CapabilityManifest,
  CapabilityRequirement,
  CapabilityRequirements,
  Compatibility,
  MinSupport,
  Mode,
  SupportLevel,
} from '../contract/support.ts';
export { type WorkOrder, WorkOrderBuilder, workOrder } from '../contract/work-orders/work-order.ts';
export type { IrConversation, IrMessage } from '../ir/conversation.ts';
export { checkCapability, satisfies } from '../negotiation/check.ts';
export {
  applyEmulation,
  canEmulate,
  defaultStrategy,
  type Emulated,
  EmulationConfig,
  EmulationEngine,
  hasUnemulatable,
  isEmpty,
} from '../negotiation/emulation.ts';
export { isCompatible, negotiate, type Requirements, total } from '../negotiation/negotiate.ts';
export { generateReport } from '../negotiation/report.ts';

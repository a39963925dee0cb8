import { z } from 'zod';
import { keysOf } from '../base/json.ts';
import { ErrorBody } from './error-body.ts';
import { CompatibilityReport, EmulationReport, NegotiationResult } from './negotiation.ts';
import { ReceiptLine } from './receipts/chain.ts';
import { Receipt } from './receipts/receipt.ts';
import { RecordingLine } from './receipts/recording.ts';
import { AgentEvent } from './runs/event.ts';
import { CapabilityManifest, CapabilityRequirements } from './support.ts';
import { SidecarEnvelope } from './work-orders/sidecar.ts';
import { WorkOrder } from './work-orders/work-order.ts';

/** Every public document by the name of its schema file. */
const SCHEMAS = {
  'work-order': WorkOrder.meta({ title: 'WorkOrder' }),
  receipt: Receipt.meta({ title: 'Receipt' }),
  'receipt-line': ReceiptLine.meta({ title: 'ReceiptLine' }),
  recording: RecordingLine.meta({ title: 'Recording' }),
  event: AgentEvent.meta({ title: 'AgentEvent' }),
  'sidecar-envelope': SidecarEnvelope.meta({ title: 'SidecarEnvelope' }),
  'capability-manifest': CapabilityManifest.meta({ title: 'CapabilityManifest' }),
  'capability-requirements': CapabilityRequirements.meta({ title: 'CapabilityRequirements' }),
  'negotiation-result': NegotiationResult.meta({ title: 'NegotiationResult' }),
  'compatibility-report': CompatibilityReport.meta({ title: 'CompatibilityReport' }),
  'emulation-report': EmulationReport.meta({ title: 'EmulationReport' }),
  error: ErrorBody.meta({ title: 'ErrorBody' }),
} as const satisfies Record<string, z.ZodType>;

export type SchemaName = keyof typeof SCHEMAS;

// The keys of a literal object are its names; Object.keys widens them to string.
export const SCHEMA_NAMES = keysOf(SCHEMAS);

/** The JSON Schema (draft 2020-12) of what is accepted under that name. */
export function jsonSchemaOf(name: SchemaName): z.core.JSONSchema.BaseSchema {
  return z.toJSONSchema(SCHEMAS[name], { target: 'draft-2020-12', io: 'input' });
}

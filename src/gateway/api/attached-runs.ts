import { z } from 'zod';
import { RunTerms } from '../../calls/scopes.ts';
import { EmulationEntry, FidelityEntry } from '../../contract/negotiation.ts';
import { Artifact, ChangeSet, ReceiptUsage, RuleRecord, ToolCallRecord, WorkspaceDelta } from '../../contract/receipts/parts.ts';
import { Receipt } from '../../contract/receipts/receipt.ts';
import { Compatibility } from '../../contract/support.ts';

const text = z.string();
const textOrNull = text.nullable();
const ms = z.number().nonnegative();

export const AttachedParams = z.strictObject({ run_id: text });

export const OfferQuery = z.strictObject({
  engine: text.optional().describe('As the caller named it; without it the engine of the agent’s own vendor.'),
  model: text.optional().describe('The model that will be asked for, where it is known.'),
  dialect: text.describe('The dialect that the agent speaks by itself.'),
  dialects: text.optional().describe('Every dialect it can be told to speak, with commas between them.'),
});

export const Offer = z.union([
  z.strictObject({
    engine: text,
    credential: z.enum(['ours', 'caller']),
    speaks_dialect: z.boolean(),
    shared: text.optional(),
    needs_model: z.boolean(),
    context_window: z.int().positive().optional(),
    base: text.optional(),
  }),
  z.strictObject({ engine: text, missing: text }),
]);
export type Offer = z.infer<typeof Offer>;

const Owner = z.strictObject({ pid: z.int(), started: text }).describe('The process that runs the agent, on the machine of the server.');

export const ProcessParams = z.strictObject({ process_id: text.describe('Made by the process; each may come several times.') });

export const AttachedProcess = z.strictObject({ owner: Owner });

export const AttachedAdmission = z.strictObject({
  owner: Owner.optional(),
  agent: text.describe('The coding agent that wants to start.'),
  dialect: textOrNull,
  engine: textOrNull.describe('The engine that its model calls go to.'),
  model: textOrNull,
  direct: z.boolean().describe('Its model calls go past the gateway.'),
  tags: z.array(text),
});

export const AttachedKey = RunTerms.omit({ owner: true }).extend({
  raw: z.boolean(),
  tags: z.array(text),
  expires_at: z.int().describe('Milliseconds since the epoch.'),
});
export type AttachedKey = z.infer<typeof AttachedKey>;

export const AttachedSecret = z.strictObject({ secret: text.describe('Shown once; it dies with the run.') });

export const AttachedCancel = z.strictObject({ cancelled: z.boolean().describe('Somebody wants the run ended.') });

export const AttachedEngine = z.strictObject({
  state: z.enum(['unknown', 'reached', 'refused']).describe('refused: three calls of the run found nobody at the address of the engine.'),
  message: text.optional().describe('Where and why.'),
});

export const SpendQuery = z.strictObject({ state: z.enum(['running', 'ended']) });

export const Spend = z.strictObject({
  calls: z.int(),
  usage: ReceiptUsage,
  nano_usd: z.int().nullable(),
  price_version: textOrNull,
});
export type Spend = z.infer<typeof Spend>;

export const Fates = z.strictObject({
  upstream_model: textOrNull.describe('The model that wrote most of the answers.'),
  emulations: z.array(EmulationEntry).default([]).describe('What was approximated in any of the calls.'),
  fidelity: z.array(FidelityEntry).describe('What became of the fields of the requests, summed over all calls.'),
  answer_fidelity: z.array(FidelityEntry).describe('What became of the fields of the answers.'),
});
export type Fates = z.infer<typeof Fates>;

export const AttachedOpening = z.strictObject({
  owner: Owner,
  ends_with_owner: z.boolean().describe('The end of that process is the proper end of the run.'),
  at: z.int(),
  task: text,
  dialect: textOrNull,
  engine: textOrNull,
  backend: text,
  requested_model: textOrNull,
  upstream_model: textOrNull,
  compatibility: Compatibility,
  fidelity: z.array(FidelityEntry),
  request: Receipt.shape.request,
  enforcement: Receipt.shape.enforcement,
  rules: z.array(RuleRecord).optional(),
  negotiation: Receipt.shape.negotiation.optional(),
  work_order: Receipt.shape.work_order,
  tags: z.array(text),
});
export type AttachedOpening = z.infer<typeof AttachedOpening>;

export const AttachedClosing = z.strictObject({
  at: z.int(),
  status: z.enum(['completed', 'failed', 'cancelled']),
  reason: textOrNull,
  error: Receipt.shape.error,
  upstream_model: textOrNull,
  emulations: z.array(EmulationEntry).optional(),
  fidelity: z.array(FidelityEntry).optional(),
  answer_fidelity: z.array(FidelityEntry).optional(),
  event_count: z.int().nonnegative(),
  usage: ReceiptUsage.nullable(),
  tool_calls: z.array(ToolCallRecord),
  cost: Receipt.shape.cost,
  last_byte_ms: ms,
  workspace_delta: WorkspaceDelta.nullable(),
  rules: z.array(RuleRecord).optional(),
  change_set: ChangeSet.nullable().optional(),
  artifacts: z.array(Artifact).optional(),
  approvals: Receipt.shape.approvals,
  check: Receipt.shape.check,
  entrants: Receipt.shape.entrants,
  sidecar_receipt: Receipt.shape.sidecar_receipt,
  backend_version: textOrNull,
});
export type AttachedClosing = z.infer<typeof AttachedClosing>;

import type { z } from 'zod';
import { HASH_PROFILES } from '../version.ts';
import { closed, type FieldTable, leavesOf, opened, openedOrClosed, type Source } from './field.ts';

/**
 * The receipt, a row per field. Its schema (`receipt.ts`), the facts that producers append, the lines of the journal, the document, the hash of
 * its content and the columns of the database come from these rows: a new field is a row here and the code that supplies it. Journal lines
 * hold the values in this order, so a new row says with `since` from which form of the lines on it is there.
 */
export const RECEIPT_FIELDS = {
  id: { from: 'run', schema: (t) => t.z.uuid().describe('The run as a UUID.') },
  run_id: { from: 'run', schema: (t) => t.runId.describe('The run as it stands in X-ABP-Run-Id.') },
  parent_run_id: opened('parent', 'word', (t) =>
    t.runId.nullable().describe('The run on whose behalf this one was made, such as that of a coding agent.'),
  ),
  contract_version: { from: 'rule', hashed: 1, schema: (t) => t.text.describe('Version of the contract the receipt follows.') },
  hash_profile: { from: 'rule', schema: (t) => t.z.enum(HASH_PROFILES).describe('The rule that receipt_sha256 follows.') },
  plane: opened('plane', 'word', (t) => t.Plane.describe('Which part of the product the run belongs to.'), { hashed: 1, column: 'text' }),
  status: closed('status', 'word', (t) => t.RunStatus.describe('Where the run stands.'), { none: '"running"', hashed: 1, column: 'text' }),
  reason: closed(
    'reason',
    'name',
    (t) => t.text.nullable().describe('Why it stands there, when that is not plain: interrupted, client_closed.'),
    {
      hashed: 1,
    },
  ),
  task: opened('task', 'name', (t) => t.text.describe('What was asked, in one line.')),
  started_at: { from: 'began', column: 'time', schema: (t) => t.time.describe('When the request arrived.') },
  completed_at: { from: 'ended', column: 'time', schema: (t) => t.time.nullable().describe('When the run reached its end.') },
  dialect: opened('dialect', 'name', (t) => t.text.nullable().describe('The dialect the caller spoke.'), { hashed: 1, column: 'text' }),
  engine: opened('engine', 'name', (t) => t.text.nullable().describe('The engine that served, or should have served, the run.'), {
    hashed: 1,
    column: 'text',
  }),
  model: {
    about: 'The model, as asked for and as sent on.',
    parts: {
      upstream: openedOrClosed('upstreamModel', 'name', (t) => t.text.nullable().describe('The model name the engine got.'), {
        hashed: 1,
        hashedAs: 'upstream_model',
        column: 'text',
      }),
      requested: opened('requestedModel', 'name', (t) => t.text.nullable().describe('The model name the caller sent.'), {
        column: 'text',
      }),
    },
  },
  mode: opened(
    'mode',
    'word',
    (t) => t.Mode.nullable().describe('Whether the bytes passed unchanged or were mapped; null when it was never decided.'),
    { hashed: 1, column: 'text' },
  ),
  compatibility: opened('compatibility', 'word', (t) => t.Compatibility.describe('How strictly capabilities were matched.'), { hashed: 1 }),
  negotiation: opened(
    'negotiation',
    'json',
    (t) => t.ReceiptNegotiation.nullable().describe('What negotiation concluded; null when nothing was required.'),
    { hashed: 1 },
  ),
  emulations: openedOrClosed(
    'emulations',
    'list',
    (t) => t.z.array(t.EmulationEntry).describe('Every capability that was approximated, in the request or in the answer, and how.'),
    // The end of a run names all of them again where the answer brought more.
    { none: '[]', hashed: 1, closingSince: 5 },
  ),
  fidelity: openedOrClosed(
    'fidelity',
    'list',
    (t) =>
      t.z
        .array(t.FidelityEntry)
        .describe('What happened to the fields of a mapped request; of a run, to its options and to the fields of its calls.'),
    // Only the end of a run of a coding agent knows what became of its calls.
    { none: '[]', hashed: 1, closingSince: 3 },
  ),
  answer_fidelity: closed(
    'answerFidelity',
    'list',
    (t) =>
      t.z
        .array(t.FidelityEntry)
        .optional()
        .describe('What happened to the fields of a mapped answer. Receipts of abp-content/1 do not say.'),
    { none: '[]', optional: true, hashed: 2 },
  ),
  request: opened('request', 'digest', (t) => t.Digest.nullable().describe('The request body as the caller sent it.'), { hashed: 1 }),
  upstream_request: opened('upstreamRequest', 'digest', (t) => t.Digest.nullable().describe('The request body as the engine got it.'), {
    hashed: 1,
  }),
  response: closed(
    'response',
    'response',
    (t) =>
      t.Digest.extend({ status: t.z.int().describe('HTTP status of the engine.') })
        .nullable()
        .describe('The response body as the engine sent it.'),
    { hashed: 1 },
  ),
  event_count: closed(
    'eventCount',
    'plain',
    (t) => t.count.describe('Events delivered: every SSE event of a stream, 1 for an answer in one piece.'),
    {
      none: '0',
      hashed: 1,
    },
  ),
  usage: closed('usage', 'usage', (t) => t.ReceiptUsage.nullable().describe('Token counts; null when nothing was used.'), { hashed: 1 }),
  cost: closed('cost', 'cost', (t) => t.Cost.nullable().describe('What the run cost; null when the model has no price.')),
  backend: {
    about: 'What executed the run.',
    parts: {
      id: opened('backend', 'name', (t) => t.text.describe('Such as engine:claude or adapter:codex.')),
      version: closed('backendVersion', 'name', (t) => t.text.nullable().describe('Its version, when known.'), { optional: true }),
    },
  },
  tool_calls: closed('toolCalls', 'calls', (t) => t.z.array(t.ToolCallRecord).describe('Tool invocations in the order they were made.'), {
    none: '[]',
    hashed: 1,
    // Ids of calls are the engine's choice and differ from run to run.
    hashedWithout: 'id',
  }),
  artifacts: closed('artifacts', 'list', (t) => t.z.array(t.Artifact).describe('What the run produced.'), {
    none: '[]',
    optional: true,
    hashed: 1,
  }),
  workspace_delta: closed(
    'workspaceDelta',
    'value',
    (t) => t.WorkspaceDelta.nullable().describe('What changed in the workspace; null when the run had none.'),
    { optional: true, hashed: 1 },
  ),
  change_set: closed(
    'changeSet',
    'value',
    (t) => t.ChangeSet.nullable().optional().describe('The changes of the workspace by digest. Receipts of abp-content/1 do not say.'),
    { optional: true, hashed: 2 },
  ),
  timing: {
    about: 'When things happened; the last three are milliseconds after arrival.',
    parts: {
      received_at_ms: {
        from: 'began',
        schema: (t) => t.z.number().describe('When the request arrived, in milliseconds since the epoch.'),
      },
      dispatched_ms: closed('dispatchedMs', 'plain', (t) => t.offset.describe('From there to the dispatch to the engine.')),
      first_byte_ms: closed('firstByteMs', 'plain', (t) => t.offset.describe('From there to the first byte of the answer.')),
      last_byte_ms: closed('lastByteMs', 'plain', (t) => t.offset.describe('From there to the last byte of the answer.')),
    },
  },
  attempts: closed('attempts', 'attempts', (t) => t.z.array(t.Attempt).describe('Every try to reach an engine, in order.'), { none: '[]' }),
  enforcement: opened(
    'enforcement',
    'word',
    (t) => t.z.enum(['enforced', 'advisory']).describe('Whether policy and budget held or were only advice.'),
    { hashed: 2 },
  ),
  rules: openedOrClosed(
    'rules',
    'list',
    (t) =>
      t.z
        .array(t.RuleRecord)
        .optional()
        .describe('Every rule the run was held to, and who holds it. Receipts of abp-content/1 do not say.'),
    { none: '[]', optional: true, hashed: 2 },
  ),
  work_order: opened(
    'workOrder',
    'value',
    (t) => t.WorkOrderRecord.nullable().optional().describe('The work order that the run executes; null for runs without one.'),
    { optional: true, since: 3 },
  ),
  approvals: closed(
    'approvals',
    'list',
    (t) => t.z.array(t.ApprovalRecord).optional().describe('Every approval that the run waited for.'),
    {
      none: '[]',
      optional: true,
      since: 3,
    },
  ),
  check: closed(
    'check',
    'value',
    (t) => t.CheckRecord.nullable().optional().describe('The check of the work; null where none was asked for.'),
    {
      optional: true,
      since: 4,
    },
  ),
  entrants: closed(
    'entrants',
    'list',
    (t) => t.z.array(t.Entrant).optional().describe('Of a race: every backend that took part, in the caller’s order.'),
    { none: '[]', optional: true, since: 4 },
  ),
  sidecar_receipt: closed(
    'sidecarReceipt',
    'value',
    (t) => t.SidecarReceiptRecord.nullable().optional().describe('The receipt that the sidecar made; null for runs without one.'),
    { optional: true, since: 4 },
  ),
  recording: opened('recording', 'word', (t) => t.Recording.describe('How much of the bodies is kept.')),
  replayable: closed('replayable', 'plain', (t) => t.z.boolean().describe('Whether the recording can be served again byte for byte.'), {
    none: 'false',
  }),
  tags: opened('tags', 'names', (t) => t.z.array(t.text).describe('Labels of the caller.'), { column: 'tags' }),
  key_id: opened('keyId', 'name', (t) => t.text.nullable().describe('The key the caller used; null for the local caller.'), {
    column: 'text',
  }),
  node: { from: 'origin', schema: (t) => t.text.describe('The node that ran it.') },
  version: { from: 'origin', schema: (t) => t.text.describe('Our version.') },
  error: closed('error', 'error', (t) =>
    t.z
      .strictObject({ code: t.text.describe('A code of the error table.'), message: t.text.describe('What the caller was told.') })
      .nullable()
      .describe('Why the run failed.'),
  ),
  receipt_sha256: {
    from: 'hash',
    column: 'hash',
    schema: (t) => t.sha256.nullable().describe('Hash of what the run did; null until the run has ended.'),
  },
  seal: { from: 'seal', schema: (t) => t.Seal.nullable().describe('The place in the chain; null until sealed.') },
} as const satisfies FieldTable<z.ZodType>;

/** Rows that facts tell the keeper and no receipt shows. */
export const UNSEEN_FIELDS = {
  prices: closed('prices', 'name', (t) =>
    t.text.nullable().describe('The price list that the usage is billed by; null where nothing costs anything.'),
  ),
} as const satisfies FieldTable<z.ZodType>;

type AtEnd = { readonly from: 'close' | 'both' | 'ended' };
type IsAtEnd<R> = [Extract<R extends { readonly parts: infer P } ? P[keyof P] : R, AtEnd>] extends [never] ? false : true;
type EndMember = {
  [K in keyof typeof RECEIPT_FIELDS]: IsAtEnd<(typeof RECEIPT_FIELDS)[K]> extends true ? K : never;
}[keyof typeof RECEIPT_FIELDS];
export type LateEndMember = 'run_id' | 'node' | EndMember;

/** The members of a receipt that are known at the end of a run, and whose run it is. */
export const LATE_END_MEMBERS = [
  'run_id',
  'node',
  ...new Set(leavesOf(RECEIPT_FIELDS).flatMap(({ from, path: [name] }) => (isAtEnd(from) ? [name] : []))),
] as readonly LateEndMember[]; // the same rows as the type picks

function isAtEnd(from: Source): boolean {
  return from === 'close' || from === 'both' || from === 'ended';
}

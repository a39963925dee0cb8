import { z } from 'zod';
import { CompatibilityReport, EmulationEntry, FidelityEntry, NegotiationResult, Unmet } from '../negotiation.ts';
import { Compatibility, Mode } from '../support.ts';
import { HASH_PROFILES } from '../version.ts';
import { closed, type FieldTable, opened, openedOrClosed, shapeOf } from './field.ts';
import { CheckRecord, Entrant, runId, SidecarReceiptRecord, sha256 } from './run-records.ts';

const text = z.string();
const count = z.int().nonnegative();
const time = z.iso.datetime({ offset: true });
const offset = z.number().nonnegative().nullable();

const Digest = z.strictObject({
  sha256: sha256.describe('SHA-256 of the bytes.'),
  bytes: count.describe('How many bytes.'),
});

/** Where a run stands. A sealed receipt is `completed`, `failed` or `cancelled`; `archived` is what the store makes of it. */
export const RunStatus = z.enum(['pending', 'running', 'completed', 'failed', 'cancelled', 'archived', 'deleted']);
export type RunStatus = z.infer<typeof RunStatus>;

/** Which part of the product a run belongs to. */
export const Plane = z.enum(['gateway', 'run', 'agent']);
export type Plane = z.infer<typeof Plane>;

/** How much of a run's bodies is kept. */
export const Recording = z.enum(['full', 'digest', 'off']);
export type Recording = z.infer<typeof Recording>;

/** Parts of a usage that have a price of their own. */
const UsageDetails = z.strictObject({
  audio_input_tokens: count.optional().describe('The part of the input that was audio.'),
  audio_output_tokens: count.optional().describe('The part of the output that was audio.'),
  cache_write_1h_tokens: count.optional().describe('The part of the cache writes that stays for an hour.'),
  file_searches: count.optional().describe('Searches in files that the engine made.'),
  image_output_tokens: count.optional().describe('The part of the output that was images.'),
  region: z.enum(['us']).optional().describe('The only place where the call was served.'),
  tier: z.enum(['batch', 'flex', 'priority', 'fast']).optional().describe('How the call was served, where that is not the usual way.'),
});

/** Token counts of a run; what the model read includes the cache, what it wrote includes thinking. */
export const ReceiptUsage = z.strictObject({
  input_tokens: count.describe('Everything the model read, cache included.'),
  output_tokens: count.describe('Everything the model wrote, thinking included.'),
  cache_read_tokens: count.describe('The part of the input that came from a cache.'),
  cache_write_tokens: count.describe('The part of the input that was put into a cache.'),
  thinking_tokens: count.describe('The part of the output that was thinking.'),
  web_search_requests: count.describe('Web searches the engine made.'),
  estimated: z.boolean().describe('Whether we counted because the engine did not say.'),
  details: UsageDetails.optional().describe('What has a price of its own; absent where nothing has.'),
});
export type ReceiptUsage = z.infer<typeof ReceiptUsage>;

/** The conclusion of negotiation before the run was dispatched. */
export const ReceiptNegotiation = z.strictObject({
  result: NegotiationResult.describe('Where each required capability landed.'),
  report: CompatibilityReport.describe('The same in counts and words.'),
  unmet: z.array(Unmet).describe('Requirements that were not met; the run was refused when there are any.'),
});
export type ReceiptNegotiation = z.infer<typeof ReceiptNegotiation>;

/** One tool invocation, by digest: the bodies are in the recording. */
export const ToolCallRecord = z.strictObject({
  id: text.nullable().describe('The id of the call in the conversation, where it has one.'),
  name: text.describe('Name of the tool.'),
  arguments_sha256: sha256.describe('Digest of the arguments.'),
  result_sha256: sha256.nullable().describe('Digest of the result, when the run saw it.'),
});
export type ToolCallRecord = z.infer<typeof ToolCallRecord>;

/** Something a run produced. */
export const Artifact = z.strictObject({
  kind: text.describe('What it is: patch, log, image.'),
  path: text.describe('Where it is, relative to the workspace.'),
  sha256: sha256.nullable().describe('Digest of its bytes, when they were read.'),
});
export type Artifact = z.infer<typeof Artifact>;

/** The changes of a run in its workspace. */
export const WorkspaceDelta = z.strictObject({
  added: z.array(text).describe('Paths that are new.'),
  modified: z.array(text).describe('Paths whose content changed.'),
  removed: z.array(text).describe('Paths that are gone.'),
  patch_sha256: sha256.nullable().describe('Digest of the patch, when there is one.'),
});
export type WorkspaceDelta = z.infer<typeof WorkspaceDelta>;

/** The changes of a workspace as one thing: what was found when the run ended, by digest. */
export const ChangeSet = z.strictObject({
  sha256: sha256.describe('SHA-256 of the change set in its RFC 8785 form.'),
  bytes: count.describe('Size of that form.'),
  added: count.describe('How many paths are new.'),
  modified: count.describe('How many paths have other content.'),
  removed: count.describe('How many paths are gone.'),
  state: z.enum(['in_place', 'staged', 'applied', 'discarded']).describe('Where the changes stood when the run ended.'),
});
export type ChangeSet = z.infer<typeof ChangeSet>;

/** One rule that a run was held to, and who holds it. */
export const RuleRecord = z.strictObject({
  rule: text.describe('The rule, as the policy names it.'),
  by: z
    .enum(['os', 'agent', 'wire', 'advisory', 'external'])
    .describe('The operating system, the agent itself, the gateway on the wire, nobody, or something outside by the word of the operator.'),
  detail: text.optional().describe('How, or how far.'),
});
export type RuleRecord = z.infer<typeof RuleRecord>;

/** One approval that a run waited for, and who decided. */
export const ApprovalRecord = z.strictObject({
  id: text.describe('The question.'),
  tool: text.describe('The tool that waited.'),
  risk: z.enum(['low', 'medium', 'high']).describe('Read from facts of the call.'),
  facts: z.array(text).describe('The facts: writes_outside, network, secrets, runs_command.'),
  decision: z.enum(['approved', 'denied']).describe('What was decided.'),
  by: text.describe('Who decided: the key or terminal of a person, a rule, or timeout.'),
  reason: text.nullable().describe('Why, where somebody said so.'),
  asked_at: time.describe('When the question was asked.'),
  waited_ms: z.number().nonnegative().describe('How long it waited.'),
});
export type ApprovalRecord = z.infer<typeof ApprovalRecord>;

/** The work order that a run executes, and how its backend was found. */
export const WorkOrderRecord = z.strictObject({
  id: z.guid().describe('The order.'),
  sha256: sha256.describe('SHA-256 of the order in its RFC 8785 form.'),
  lane: z.enum(['patch_first', 'workspace_first']).describe('Whether the work began with a patch or in the workspace.'),
  chosen_by: z.enum(['caller', 'backplane']).describe('Who named the backend.'),
  why: text.describe('Why this backend, in words.'),
  candidates: z
    .array(z.strictObject({ backend: text.describe('A backend.'), why: text.describe('What spoke for it and against it.') }))
    .describe('The backends that were compared, best first; none where the caller named one.'),
});
export type WorkOrderRecord = z.infer<typeof WorkOrderRecord>;

/** One try to reach an engine. */
export const Attempt = z.strictObject({
  engine: text.describe('The engine that was tried.'),
  status: z.int().nullable().describe('Its HTTP status; null when it gave none.'),
  error: text.nullable().describe('Why the try did not count.'),
  ms: z.number().nonnegative().describe('How long it took.'),
});
export type Attempt = z.infer<typeof Attempt>;

const Cost = z.strictObject({
  nano_usd: count.describe('Billionths of a US dollar.'),
  price_version: text.describe('The price table it was computed with.'),
});

/** The place of a receipt in the chain of its node. */
export const Seal = z.strictObject({
  sequence: count.describe('Position in the chain of the node.'),
  previous: sha256.describe('Hash of the receipt before this one.'),
  hash: sha256.describe('Hash over this whole document, the previous hash included.'),
  key_id: text.describe('The node key whose signature covers the batch.'),
});
export type Seal = z.infer<typeof Seal>;

/**
 * The receipt, a row per field. The schema below, the facts that producers append, the lines of the journal, the document, the hash of
 * its content and the columns of the database come from these rows: a new field is a row here and the code that supplies it. Journal lines
 * hold the values in this order, so a new row says with `since` from which form of the lines on it is there.
 */
export const RECEIPT_FIELDS = {
  id: { from: 'run', schema: z.uuid().describe('The run as a UUID.') },
  run_id: { from: 'run', schema: runId.describe('The run as it stands in X-ABP-Run-Id.') },
  parent_run_id: opened(
    'parent',
    'word',
    runId.nullable().describe('The run on whose behalf this one was made, such as that of a coding agent.'),
  ),
  contract_version: { from: 'rule', hashed: 1, schema: text.describe('Version of the contract the receipt follows.') },
  hash_profile: { from: 'rule', schema: z.enum(HASH_PROFILES).describe('The rule that receipt_sha256 follows.') },
  plane: opened('plane', 'word', Plane.describe('Which part of the product the run belongs to.'), { hashed: 1, column: 'text' }),
  status: closed('status', 'word', RunStatus.describe('Where the run stands.'), { none: '"running"', hashed: 1, column: 'text' }),
  reason: closed('reason', 'name', text.nullable().describe('Why it stands there, when that is not plain: interrupted, client_closed.'), {
    hashed: 1,
  }),
  task: opened('task', 'name', text.describe('What was asked, in one line.')),
  started_at: { from: 'began', column: 'time', schema: time.describe('When the request arrived.') },
  completed_at: { from: 'ended', column: 'time', schema: time.nullable().describe('When the run reached its end.') },
  dialect: opened('dialect', 'name', text.nullable().describe('The dialect the caller spoke.'), { hashed: 1, column: 'text' }),
  engine: opened('engine', 'name', text.nullable().describe('The engine that served, or should have served, the run.'), {
    hashed: 1,
    column: 'text',
  }),
  model: {
    about: 'The model, as asked for and as sent on.',
    parts: {
      upstream: openedOrClosed('upstreamModel', 'name', text.nullable().describe('The model name the engine got.'), {
        hashed: 1,
        hashedAs: 'upstream_model',
        column: 'text',
      }),
      requested: opened('requestedModel', 'name', text.nullable().describe('The model name the caller sent.'), { column: 'text' }),
    },
  },
  mode: opened(
    'mode',
    'word',
    Mode.nullable().describe('Whether the bytes passed unchanged or were mapped; null when it was never decided.'),
    { hashed: 1, column: 'text' },
  ),
  compatibility: opened('compatibility', 'word', Compatibility.describe('How strictly capabilities were matched.'), { hashed: 1 }),
  negotiation: opened(
    'negotiation',
    'json',
    ReceiptNegotiation.nullable().describe('What negotiation concluded; null when nothing was required.'),
    { hashed: 1 },
  ),
  emulations: opened('emulations', 'list', z.array(EmulationEntry).describe('Every capability that was approximated, and how.'), {
    hashed: 1,
  }),
  fidelity: openedOrClosed(
    'fidelity',
    'list',
    z
      .array(FidelityEntry)
      .describe('What happened to the fields of a mapped request; of a run, to its options and to the fields of its calls.'),
    // Only the end of a run of a coding agent knows what became of its calls.
    { none: '[]', hashed: 1, closingSince: 3 },
  ),
  answer_fidelity: closed(
    'answerFidelity',
    'list',
    z.array(FidelityEntry).optional().describe('What happened to the fields of a mapped answer. Receipts of abp-content/1 do not say.'),
    { none: '[]', optional: true, hashed: 2 },
  ),
  request: opened('request', 'digest', Digest.nullable().describe('The request body as the caller sent it.'), { hashed: 1 }),
  upstream_request: opened('upstreamRequest', 'digest', Digest.nullable().describe('The request body as the engine got it.'), {
    hashed: 1,
  }),
  response: closed(
    'response',
    'response',
    Digest.extend({ status: z.int().describe('HTTP status of the engine.') })
      .nullable()
      .describe('The response body as the engine sent it.'),
    { hashed: 1 },
  ),
  event_count: closed(
    'eventCount',
    'plain',
    count.describe('Events delivered: every SSE event of a stream, 1 for an answer in one piece.'),
    {
      none: '0',
      hashed: 1,
    },
  ),
  usage: closed('usage', 'usage', ReceiptUsage.nullable().describe('Token counts; null when nothing was used.'), { hashed: 1 }),
  cost: closed('cost', 'cost', Cost.nullable().describe('What the run cost; null when the model has no price.')),
  backend: {
    about: 'What executed the run.',
    parts: {
      id: opened('backend', 'name', text.describe('Such as engine:claude or adapter:codex.')),
      version: closed('backendVersion', 'name', text.nullable().describe('Its version, when known.'), { optional: true }),
    },
  },
  tool_calls: closed('toolCalls', 'calls', z.array(ToolCallRecord).describe('Tool invocations in the order they were made.'), {
    none: '[]',
    hashed: 1,
    // Ids of calls are the engine's choice and differ from run to run.
    hashedWithout: 'id',
  }),
  artifacts: closed('artifacts', 'list', z.array(Artifact).describe('What the run produced.'), { none: '[]', optional: true, hashed: 1 }),
  workspace_delta: closed(
    'workspaceDelta',
    'value',
    WorkspaceDelta.nullable().describe('What changed in the workspace; null when the run had none.'),
    { optional: true, hashed: 1 },
  ),
  change_set: closed(
    'changeSet',
    'value',
    ChangeSet.nullable().optional().describe('The changes of the workspace by digest. Receipts of abp-content/1 do not say.'),
    { optional: true, hashed: 2 },
  ),
  timing: {
    about: 'When things happened; the last three are milliseconds after arrival.',
    parts: {
      received_at_ms: { from: 'began', schema: z.number().describe('When the request arrived, in milliseconds since the epoch.') },
      dispatched_ms: closed('dispatchedMs', 'plain', offset.describe('From there to the dispatch to the engine.')),
      first_byte_ms: closed('firstByteMs', 'plain', offset.describe('From there to the first byte of the answer.')),
      last_byte_ms: closed('lastByteMs', 'plain', offset.describe('From there to the last byte of the answer.')),
    },
  },
  attempts: closed('attempts', 'attempts', z.array(Attempt).describe('Every try to reach an engine, in order.'), { none: '[]' }),
  enforcement: opened(
    'enforcement',
    'word',
    z.enum(['enforced', 'advisory']).describe('Whether policy and budget held or were only advice.'),
    { hashed: 2 },
  ),
  rules: openedOrClosed(
    'rules',
    'list',
    z.array(RuleRecord).optional().describe('Every rule the run was held to, and who holds it. Receipts of abp-content/1 do not say.'),
    { none: '[]', optional: true, hashed: 2 },
  ),
  work_order: opened(
    'workOrder',
    'value',
    WorkOrderRecord.nullable().optional().describe('The work order that the run executes; null for runs without one.'),
    { optional: true, since: 3 },
  ),
  approvals: closed('approvals', 'list', z.array(ApprovalRecord).optional().describe('Every approval that the run waited for.'), {
    none: '[]',
    optional: true,
    since: 3,
  }),
  check: closed('check', 'value', CheckRecord.nullable().optional().describe('The check of the work; null where none was asked for.'), {
    optional: true,
    since: 4,
  }),
  entrants: closed(
    'entrants',
    'list',
    z.array(Entrant).optional().describe('Of a race: every backend that took part, in the caller’s order.'),
    {
      none: '[]',
      optional: true,
      since: 4,
    },
  ),
  sidecar_receipt: closed(
    'sidecarReceipt',
    'value',
    SidecarReceiptRecord.nullable().optional().describe('The receipt that the sidecar made; null for runs without one.'),
    { optional: true, since: 4 },
  ),
  recording: opened('recording', 'word', Recording.describe('How much of the bodies is kept.')),
  replayable: closed('replayable', 'plain', z.boolean().describe('Whether the recording can be served again byte for byte.'), {
    none: 'false',
  }),
  tags: opened('tags', 'names', z.array(text).describe('Labels of the caller.'), { column: 'tags' }),
  key_id: opened('keyId', 'name', text.nullable().describe('The key the caller used; null for the local caller.'), { column: 'text' }),
  node: { from: 'origin', schema: text.describe('The node that ran it.') },
  version: { from: 'origin', schema: text.describe('Our version.') },
  error: closed(
    'error',
    'error',
    z
      .strictObject({ code: text.describe('A code of the error table.'), message: text.describe('What the caller was told.') })
      .nullable()
      .describe('Why the run failed.'),
  ),
  receipt_sha256: {
    from: 'hash',
    column: 'hash',
    schema: sha256.nullable().describe('Hash of what the run did; null until the run has ended.'),
  },
  seal: { from: 'seal', schema: Seal.nullable().describe('The place in the chain; null until sealed.') },
} as const satisfies FieldTable;

/** Rows that facts tell the keeper and no receipt shows. */
export const UNSEEN_FIELDS = {
  prices: closed(
    'prices',
    'name',
    text.nullable().describe('The price list that the usage is billed by; null where nothing costs anything.'),
  ),
} as const satisfies FieldTable;

/** The record of one run. */
export const Receipt = z.strictObject(shapeOf(RECEIPT_FIELDS));
export type Receipt = z.infer<typeof Receipt>;

/** The answer to a GET while the run has not ended. */
export const PendingReceipt = z.strictObject({
  id: z.uuid().describe('The run as a UUID.'),
  run_id: runId.describe('The run as it stands in X-ABP-Run-Id.'),
  status: z.enum(['pending', 'running']).describe('Where the run stands.'),
  started_at: time.describe('When the request arrived.'),
});
export type PendingReceipt = z.infer<typeof PendingReceipt>;

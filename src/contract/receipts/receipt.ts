import { z } from 'zod';
import { CompatibilityReport, EmulationEntry, FidelityEntry, NegotiationResult, Unmet } from '../negotiation.ts';
import { Compatibility, Mode } from '../support.ts';
import { HASH_PROFILE } from '../version.ts';

const text = z.string();
const count = z.int().nonnegative();
const time = z.iso.datetime({ offset: true });
const sha256 = text.regex(/^[0-9a-f]{64}$/, 'must be 64 lower-case hex digits');
const runId = text.regex(/^run_[0-9a-f]{32}$/, 'must be run_ and 32 lower-case hex digits');
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

/** Token counts of a run; what the model read includes the cache, what it wrote includes thinking. */
export const ReceiptUsage = z.strictObject({
  input_tokens: count.describe('Everything the model read, cache included.'),
  output_tokens: count.describe('Everything the model wrote, thinking included.'),
  cache_read_tokens: count.describe('The part of the input that came from a cache.'),
  cache_write_tokens: count.describe('The part of the input that was put into a cache.'),
  thinking_tokens: count.describe('The part of the output that was thinking.'),
  web_search_requests: count.describe('Web searches the engine made.'),
  estimated: z.boolean().describe('Whether we counted because the engine did not say.'),
});
export type ReceiptUsage = z.infer<typeof ReceiptUsage>;

/** What negotiation concluded before the run was dispatched. */
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

/** What a run changed in its workspace. */
export const WorkspaceDelta = z.strictObject({
  added: z.array(text).describe('Paths that are new.'),
  modified: z.array(text).describe('Paths whose content changed.'),
  removed: z.array(text).describe('Paths that are gone.'),
  patch_sha256: sha256.nullable().describe('Digest of the patch, when there is one.'),
});
export type WorkspaceDelta = z.infer<typeof WorkspaceDelta>;

/** One try to reach an engine. */
export const Attempt = z.strictObject({
  engine: text.describe('The engine that was tried.'),
  status: z.int().nullable().describe('Its HTTP status; null when it gave none.'),
  error: text.nullable().describe('Why the try did not count.'),
  ms: z.number().nonnegative().describe('How long it took.'),
});
export type Attempt = z.infer<typeof Attempt>;

/** The place of a receipt in the chain of its node. */
export const Seal = z.strictObject({
  sequence: count.describe('Position in the chain of the node.'),
  previous: sha256.describe('Hash of the receipt before this one.'),
  hash: sha256.describe('Hash over this whole document, the previous hash included.'),
  key_id: text.describe('The node key whose signature covers the batch.'),
});
export type Seal = z.infer<typeof Seal>;

/** The record of one run. */
export const Receipt = z.strictObject({
  id: z.uuid().describe('The run as a UUID.'),
  run_id: runId.describe('The run as it stands in X-ABP-Run-Id.'),
  parent_run_id: runId.nullable().describe('The run on whose behalf this one was made, such as that of a coding agent.'),
  contract_version: text.describe('Version of the contract the receipt follows.'),
  hash_profile: z.literal(HASH_PROFILE).describe('The rule that receipt_sha256 follows.'),
  plane: Plane.describe('Which part of the product the run belongs to.'),
  status: RunStatus.describe('Where the run stands.'),
  reason: text.nullable().describe('Why it stands there, when that is not plain: interrupted, client_closed.'),
  task: text.describe('What was asked, in one line.'),
  started_at: time.describe('When the request arrived.'),
  completed_at: time.nullable().describe('When the run reached its end.'),
  dialect: text.nullable().describe('The dialect the caller spoke.'),
  engine: text.nullable().describe('The engine that served, or should have served, the run.'),
  model: z
    .strictObject({
      requested: text.nullable().describe('The model name the caller sent.'),
      upstream: text.nullable().describe('The model name the engine got.'),
    })
    .describe('The model, as asked for and as sent on.'),
  mode: Mode.nullable().describe('Whether the bytes passed unchanged or were mapped; null when it was never decided.'),
  compatibility: Compatibility.describe('How strictly capabilities were matched.'),
  negotiation: ReceiptNegotiation.nullable().describe('What negotiation concluded; null when nothing was required.'),
  emulations: z.array(EmulationEntry).describe('Every capability that was approximated, and how.'),
  fidelity: z.array(FidelityEntry).describe('What happened to the fields of a mapped request.'),
  request: Digest.nullable().describe('The request body as the caller sent it.'),
  upstream_request: Digest.nullable().describe('The request body as the engine got it.'),
  response: Digest.extend({ status: z.int().describe('HTTP status of the engine.') })
    .nullable()
    .describe('The response body as the engine sent it.'),
  event_count: count.describe('Events delivered: every SSE event of a stream, 1 for an answer in one piece.'),
  usage: ReceiptUsage.nullable().describe('Token counts; null when nothing was used.'),
  cost: z
    .strictObject({
      nano_usd: count.describe('Billionths of a US dollar.'),
      price_version: text.describe('The price table it was computed with.'),
    })
    .nullable()
    .describe('What the run cost; null when the model has no price.'),
  backend: z
    .strictObject({
      id: text.describe('Such as engine:claude or adapter:codex.'),
      version: text.nullable().describe('Its version, when known.'),
    })
    .describe('What executed the run.'),
  tool_calls: z.array(ToolCallRecord).describe('Tool invocations in the order they were made.'),
  artifacts: z.array(Artifact).describe('What the run produced.'),
  workspace_delta: WorkspaceDelta.nullable().describe('What changed in the workspace; null when the run had none.'),
  timing: z
    .strictObject({
      received_at_ms: z.number().describe('When the request arrived, in milliseconds since the epoch.'),
      dispatched_ms: offset.describe('From there to the dispatch to the engine.'),
      first_byte_ms: offset.describe('From there to the first byte of the answer.'),
      last_byte_ms: offset.describe('From there to the last byte of the answer.'),
    })
    .describe('When things happened; the last three are milliseconds after arrival.'),
  attempts: z.array(Attempt).describe('Every try to reach an engine, in order.'),
  enforcement: z.enum(['enforced', 'advisory']).describe('Whether policy and budget held or were only advice.'),
  recording: Recording.describe('How much of the bodies is kept.'),
  replayable: z.boolean().describe('Whether the recording can be served again byte for byte.'),
  tags: z.array(text).describe('Labels of the caller.'),
  key_id: text.nullable().describe('The key the caller used; null for the local caller.'),
  node: text.describe('The node that ran it.'),
  version: text.describe('Our version.'),
  error: z
    .strictObject({ code: text.describe('A code of the error table.'), message: text.describe('What the caller was told.') })
    .nullable()
    .describe('Why the run failed.'),
  receipt_sha256: sha256.nullable().describe('Hash of what the run did; null until the run has ended.'),
  seal: Seal.nullable().describe('The place in the chain; null until sealed.'),
});
export type Receipt = z.infer<typeof Receipt>;

/** What a GET answers while the run has not ended. */
export const PendingReceipt = z.strictObject({
  id: z.uuid().describe('The run as a UUID.'),
  run_id: runId.describe('The run as it stands in X-ABP-Run-Id.'),
  status: z.enum(['pending', 'running']).describe('Where the run stands.'),
  started_at: time.describe('When the request arrived.'),
});
export type PendingReceipt = z.infer<typeof PendingReceipt>;

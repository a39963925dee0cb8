import { z } from 'zod';
import { CompatibilityReport, EmulationEntry, FidelityEntry, NegotiationResult, Unmet } from '../negotiation.ts';
import { Compatibility, Mode } from '../support.ts';

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

/** Passes of a model over a conversation that are about as long as each other. */
const Passes = z.strictObject({
  count: z.int().positive().describe('How many they are.'),
  input_tokens: count.describe('Everything they read, cache included.'),
  output_tokens: count.describe('Everything they wrote.'),
  cache_read_tokens: count.optional().describe('The part of the input that came from a cache.'),
  cache_write_tokens: count.optional().describe('The part of the input that was put into a cache.'),
  cache_write_1h_tokens: count.optional().describe('The part of the cache writes that stays for an hour.'),
});
const passes = z
  .array(Passes)
  .optional()
  .describe('The passes that the counts are the sum of, where a price goes by the length of each; those of similar length together.');

/** An amount of something that is billed by the piece. */
const Units = z.strictObject({
  unit: z
    .enum(['audio_seconds', 'cache_token_hours', 'characters', 'containers', 'images', 'video_seconds'])
    .describe('What is counted: seconds of sound or video, pictures, letters, containers, or tokens for each hour in which they are kept.'),
  amount: count.describe('How many.'),
  kind: text.optional().describe('Its quality and size, where the price goes by them.'),
});

/** What another model used for the same answer. */
const OtherModel = z.strictObject({
  model: text.describe('Name of the model.'),
  audio_input_tokens: count.optional().describe('The part of the input that was audio.'),
  input_tokens: count.describe('Everything it read, cache included.'),
  output_tokens: count.describe('Everything it wrote.'),
  cache_read_tokens: count.optional().describe('The part of the input that came from a cache.'),
  cache_write_tokens: count.optional().describe('The part of the input that was put into a cache.'),
  cache_write_1h_tokens: count.optional().describe('The part of the cache writes that stays for an hour.'),
  image_input_tokens: count.optional().describe('The part of the input that was images.'),
  image_output_tokens: count.optional().describe('The part of the output that was images.'),
  passes,
  units: z.array(Units).optional().describe('What is not billed by tokens.'),
});

/** Parts of a usage that have a price of their own. */
const UsageDetails = z.strictObject({
  audio_cache_read_tokens: count.optional().describe('The part of the audio input that came from a cache.'),
  audio_input_tokens: count.optional().describe('The part of the input that was audio.'),
  audio_output_tokens: count.optional().describe('The part of the output that was audio.'),
  cache_write_1h_tokens: count.optional().describe('The part of the cache writes that stays for an hour.'),
  file_searches: count.optional().describe('Searches in files that the engine made.'),
  image_input_tokens: count.optional().describe('The part of the input that was images, where they have a price of their own.'),
  image_output_tokens: count.optional().describe('The part of the output that was images.'),
  map_searches: count.optional().describe('Searches in a map that the engine made.'),
  other_models: z.array(OtherModel).optional().describe('What other models used for the answer, beside the counts above.'),
  passes,
  preview_searches: count.optional().describe('The part of the web searches that the preview of the tool made.'),
  region: text.optional().describe('The only place where the call was served.'),
  tier: z.enum(['batch', 'flex', 'priority', 'fast']).optional().describe('How the call was served, where that is not the usual way.'),
  units: z.array(Units).optional().describe('What is not billed by tokens.'),
  video_input_tokens: count.optional().describe('The part of the input that was video, where it has a price of its own.'),
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
    .enum(['os', 'agent', 'wire', 'backplane', 'advisory', 'external'])
    .describe(
      'The operating system, the agent itself, the gateway on the wire, the backplane that watches the run and ends it, nobody, or something outside by the word of the operator.',
    ),
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

/** A command of the caller that judges the work of a run, and how it ended. */
export const CheckRecord = z.strictObject({
  command: text.describe('The command, as the caller wrote it.'),
  passed: z.boolean().describe('Whether it ended with exit code 0.'),
  exit_code: z.int().nullable().describe('Its exit code; null where it has none.'),
  reason: text.nullable().describe('Why it has no exit code: timeout, cancelled, or that it could not be started.'),
  ms: z.number().nonnegative().describe('How long it took.'),
});
export type CheckRecord = z.infer<typeof CheckRecord>;

/** One of several backends that worked on the same order. */
export const Entrant = z.strictObject({
  backend: text.describe('The backend.'),
  run_id: runId.nullable().describe('Its run; null where it could not start.'),
  status: z.enum(['completed', 'failed', 'cancelled', 'refused']).describe('How it ended; refused: it could not start.'),
  passed: z.boolean().nullable().describe('Whether its work passed the check; null where there was none.'),
  reason: text.nullable().describe('Why it did not complete.'),
});
export type Entrant = z.infer<typeof Entrant>;

/** The receipt that a sidecar made of its own run, and whether the hash in it is right. */
export const SidecarReceiptRecord = z.strictObject({
  sha256: sha256.describe('SHA-256 of that receipt in its RFC 8785 form.'),
  receipt_sha256: text.nullable().describe('The hash that it carries; null where it has none.'),
  verified: z.boolean().nullable().describe('Whether that hash is right by the rule of abp/v0.1; null where it has none.'),
  outcome: z.enum(['complete', 'partial', 'failed']).describe('How the sidecar says that it ended.'),
});
export type SidecarReceiptRecord = z.infer<typeof SidecarReceiptRecord>;

/** One try to reach an engine. */
export const Attempt = z.strictObject({
  engine: text.describe('The engine that was tried.'),
  deployment: text.optional().describe('Which of its deployments, by name; absent where it has only one.'),
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
 * The rows of the receipt's table make their schemas of these parts. They get them as an argument, so that the thread that keeps
 * receipts, which needs the rows and checks nothing, does not load zod: that was 14 MB at every start.
 */
export const PARTS = {
  z,
  text,
  count,
  time,
  sha256,
  runId,
  offset,
  Digest,
  RunStatus,
  Plane,
  Recording,
  ReceiptUsage,
  ReceiptNegotiation,
  ToolCallRecord,
  Artifact,
  WorkspaceDelta,
  ChangeSet,
  RuleRecord,
  ApprovalRecord,
  WorkOrderRecord,
  CheckRecord,
  Entrant,
  SidecarReceiptRecord,
  Attempt,
  Cost,
  Seal,
  EmulationEntry,
  FidelityEntry,
  Mode,
  Compatibility,
};
export type Parts = typeof PARTS;

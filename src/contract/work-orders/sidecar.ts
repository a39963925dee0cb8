import { z } from 'zod';
import { isCapability } from '../capability.ts';
import { JsonRecord, JsonValue } from '../json-value.ts';
import { type CapabilityManifest, Mode, type SupportLevel } from '../support.ts';
import { SidecarTime } from './sidecar-time.ts';
import { ForeignWorkOrder } from './work-order.ts';

/*
 * The documents that sidecars and other control planes write. Unknown fields are ignored and lost; an optional scalar may be null or
 * absent and is written as null; arrays, maps and booleans must be there; an unknown enum string is an error.
 */

const text = z.string();
const optionalText = text.nullable().default(null);
const count = z.int().nonnegative();
const optionalCount = count.nullable().default(null);

/** Members that are left out when empty, unlike every other optional one. */
const errorCode = text.nullish().transform((code) => code ?? undefined);
const ext = JsonRecord.nullish().transform((record) => record ?? undefined);

const mode = Mode.default('mapped');

const ForeignSupportLevel = z.union([
  z.enum(['native', 'emulated', 'unsupported']),
  z.strictObject({ restricted: z.object({ reason: text }) }),
]);

/** Support levels by whatever names the sidecar uses; `splitCapabilities` tells ours from the others. */
export const SidecarCapabilities = z.record(text, ForeignSupportLevel);
export type SidecarCapabilities = z.infer<typeof SidecarCapabilities>;

const BackendIdentity = z.object({ id: text, backend_version: optionalText, adapter_version: optionalText });

const when = { ts: SidecarTime, ext };

/** The ten kinds of event a sidecar can send. */
export const SidecarEvent = z.discriminatedUnion('type', [
  z.object({ ...when, type: z.literal('run_started'), message: text }),
  z.object({ ...when, type: z.literal('run_completed'), message: text }),
  z.object({ ...when, type: z.literal('assistant_delta'), text }),
  z.object({ ...when, type: z.literal('assistant_message'), text }),
  z.object({
    ...when,
    type: z.literal('tool_call'),
    tool_name: text,
    tool_use_id: optionalText,
    parent_tool_use_id: optionalText,
    input: JsonValue,
  }),
  z.object({
    ...when,
    type: z.literal('tool_result'),
    tool_name: text,
    tool_use_id: optionalText,
    output: JsonValue,
    is_error: z.boolean(),
  }),
  z.object({ ...when, type: z.literal('file_changed'), path: text, summary: text }),
  z.object({
    ...when,
    type: z.literal('command_executed'),
    command: text,
    exit_code: z.int().nullable().default(null),
    output_preview: optionalText,
  }),
  z.object({ ...when, type: z.literal('warning'), message: text }),
  z.object({ ...when, type: z.literal('error'), message: text, error_code: errorCode }),
]);
export type SidecarEvent = z.infer<typeof SidecarEvent>;

/** The receipt a sidecar hands over at the end; ours is made from it and from what we saw ourselves. */
export const SidecarReceipt = z.object({
  meta: z.object({
    run_id: z.guid(),
    work_order_id: z.guid(),
    contract_version: text,
    started_at: SidecarTime,
    finished_at: SidecarTime,
    duration_ms: count,
  }),
  backend: BackendIdentity,
  capabilities: SidecarCapabilities,
  mode,
  usage_raw: JsonValue,
  usage: z.object({
    input_tokens: optionalCount,
    output_tokens: optionalCount,
    cache_read_tokens: optionalCount,
    cache_write_tokens: optionalCount,
    request_units: optionalCount,
    estimated_cost_usd: z.number().nullable().default(null),
  }),
  trace: z.array(SidecarEvent),
  artifacts: z.array(z.object({ kind: text, path: text })),
  verification: z.object({ git_diff: optionalText, git_status: optionalText, harness_ok: z.boolean() }),
  outcome: z.enum(['complete', 'partial', 'failed']),
  receipt_sha256: optionalText,
});
export type SidecarReceipt = z.infer<typeof SidecarReceipt>;

/** Names of what both sides must know to use it, such as `tool_approval`; a side that does not know a name leaves it alone. */
const extensions = z
  .array(text)
  .nullish()
  .transform((names) => names ?? undefined);

/** One line between a control plane and a sidecar. The last two are an extension: the sidecar asks before each tool call. */
export const SidecarEnvelope = z.discriminatedUnion('t', [
  z.object({
    t: z.literal('hello'),
    contract_version: text,
    backend: BackendIdentity,
    capabilities: SidecarCapabilities,
    mode,
    extensions,
  }),
  z.object({ t: z.literal('run'), id: text, work_order: ForeignWorkOrder, extensions }),
  z.object({ t: z.literal('event'), ref_id: text, event: SidecarEvent }),
  z.object({ t: z.literal('final'), ref_id: text, receipt: SidecarReceipt }),
  z.object({ t: z.literal('fatal'), ref_id: optionalText, error: text, error_code: errorCode }),
  z.object({ t: z.literal('cancel'), ref_id: text, reason: optionalText }),
  z.object({ t: z.literal('ping'), seq: count }),
  z.object({ t: z.literal('pong'), seq: count }),
  z.object({
    t: z.literal('approval_request'),
    ref_id: text,
    id: text,
    tool_name: text,
    tool_use_id: optionalText,
    input: JsonValue,
  }),
  z.object({ t: z.literal('approval'), ref_id: text, id: text, approve: z.boolean(), reason: optionalText }),
]);
export type SidecarEnvelope = z.infer<typeof SidecarEnvelope>;

/** The envelope with one `t`. */
export type EnvelopeOf<T extends SidecarEnvelope['t']> = Extract<SidecarEnvelope, { t: T }>;

/** Our capabilities as a manifest, and the names we do not know, in their order; the caller warns about those. */
export function splitCapabilities(record: SidecarCapabilities): { readonly manifest: CapabilityManifest; readonly unknown: string[] } {
  const manifest: Partial<Record<keyof CapabilityManifest, SupportLevel>> = {};
  const unknown: string[] = [];
  for (const [name, level] of Object.entries(record)) {
    if (isCapability(name)) manifest[name] = level;
    else unknown.push(name);
  }
  return { manifest, unknown };
}

import { z } from 'zod';
import { hyphenate, uuidv7Hex } from '../../base/ids.ts';
import { parseAt } from '../border.ts';
import { Capability } from '../capability.ts';
import { JsonRecord } from '../json-value.ts';
import { CapabilityRequirements, ForeignMinSupport } from '../support.ts';

/**
 * A word that becomes a path, a pattern, an argument or a variable of a process. The operating system ends such a word at a NUL, and what a caller
 * wrote behind one would begin a word of its own among the options of the sandbox.
 */
export const systemWord = z.string().refine((word) => !word.includes('\0'), 'must not contain a NUL');
const variableName = systemWord.refine((name) => name !== '' && !name.includes('='), 'is no name of a variable');
/** Variables of a process, by name. */
export const SystemVariables = z.record(variableName, systemWord);

const strings = z.array(systemWord);

/** Whether the work begins with a patch or in the workspace itself. */
export const Lane = z.enum(['patch_first', 'workspace_first']);
export type Lane = z.infer<typeof Lane>;

const workspace = {
  root: systemWord.describe('Folder the work happens in.'),
  mode: z.enum(['pass_through', 'staged']).describe('Whether the agent works in the folder itself or in a staged copy of it.'),
  include: strings.describe('Globs of the files that are staged; empty means all.'),
  exclude: strings.describe('Globs of the files that are left out.'),
};

const snippet = {
  name: z.string().describe('What the snippet is called in the prompt.'),
  content: z.string().describe('Its text.'),
};

const files = strings.describe('Paths, relative to the root, that the agent should look at.');

const policy = {
  allowed_tools: strings.describe('Globs of the only tools that may be used; empty means all.'),
  disallowed_tools: strings.describe('Globs of tools that may not be used; stronger than the allowlist.'),
  deny_read: strings.describe('Globs of paths that may not be read.'),
  deny_write: strings.describe('Globs of paths that may not be written.'),
  allow_network: strings.describe('Hosts that may be reached; empty means all.'),
  deny_network: strings.describe('Hosts that may not be reached; stronger than the allowlist.'),
  require_approval_for: strings.describe('Tools whose every call waits for an approval.'),
};

const config = {
  model: systemWord.nullable().default(null).describe('Model to use; null leaves the choice to the backend.'),
  vendor: JsonRecord.describe('Options of the backend, by namespace; the namespace `abp` is ours.'),
  env: SystemVariables.describe('Environment variables of the run.'),
  max_budget_usd: z.number().positive().nullable().default(null).describe('Money the run may cost, in US dollars.'),
  max_turns: z.int().positive().max(0xffff_ffff).nullable().default(null).describe('Turns the run may take.'),
};

export const WorkspaceSpec = z.strictObject(workspace);
export type WorkspaceSpec = z.infer<typeof WorkspaceSpec>;

/** Files and snippets that the agent is shown besides the task. */
export const ContextPacket = z.strictObject({ files, snippets: z.array(z.strictObject(snippet)).describe('Texts given with the task.') });
export type ContextPacket = z.infer<typeof ContextPacket>;

/** Rules about what a run may touch; all lists empty allows everything. */
export const PolicyProfile = z.strictObject(policy);
export type PolicyProfile = z.infer<typeof PolicyProfile>;

export const RuntimeConfig = z.strictObject(config);
export type RuntimeConfig = z.infer<typeof RuntimeConfig>;

/** A task with everything a backend must know before it begins. */
export const WorkOrder = z.strictObject({
  id: z.uuid().describe('UUID of the order.'),
  task: z
    .string()
    .regex(/\S/, 'must not be blank')
    .max(100_000, 'must have at most 100000 characters')
    .describe('What is to be done, in the words of the caller.'),
  lane: Lane.describe('Whether the work begins with a patch or in the workspace itself.'),
  workspace: WorkspaceSpec.describe('Where the work happens.'),
  context: ContextPacket.describe('What the agent is shown besides the task.'),
  policy: PolicyProfile.describe('What the run may touch; all lists empty allows everything.'),
  requirements: CapabilityRequirements.describe('Capabilities that the backend must have.'),
  config: RuntimeConfig.describe('Model, limits and options of the run.'),
});
export type WorkOrder = z.infer<typeof WorkOrder>;

/**
 * A work order of another control plane, read as leniently as the contract's first implementation reads it: unknown fields are
 * ignored, limits are not judged, and `min_support` may be `any`.
 */
export const ForeignWorkOrder = z.object({
  id: z.guid(),
  task: z.string(),
  lane: Lane,
  workspace: z.object(workspace),
  context: z.object({ files, snippets: z.array(z.object(snippet)) }),
  policy: z.object(policy),
  requirements: z.object({ required: z.array(z.object({ capability: Capability, min_support: ForeignMinSupport })) }),
  config: z.object({
    ...config,
    max_budget_usd: z.number().nullable().default(null),
    max_turns: z.int().nonnegative().max(0xffff_ffff).nullable().default(null),
  }),
});
export type ForeignWorkOrder = z.infer<typeof ForeignWorkOrder>;

type Draft = Omit<WorkOrder, 'id'>;

/** Collects a work order; what is not said keeps its default. Each call returns a new builder. */
export class WorkOrderBuilder {
  readonly #draft: Draft;

  constructor(draft: Draft) {
    this.#draft = draft;
  }

  lane(lane: Lane): WorkOrderBuilder {
    return new WorkOrderBuilder({ ...this.#draft, lane });
  }

  workspace(part: Partial<WorkspaceSpec>): WorkOrderBuilder {
    return new WorkOrderBuilder({ ...this.#draft, workspace: { ...this.#draft.workspace, ...part } });
  }

  context(part: Partial<ContextPacket>): WorkOrderBuilder {
    return new WorkOrderBuilder({ ...this.#draft, context: { ...this.#draft.context, ...part } });
  }

  policy(part: Partial<PolicyProfile>): WorkOrderBuilder {
    return new WorkOrderBuilder({ ...this.#draft, policy: { ...this.#draft.policy, ...part } });
  }

  requirements({ required }: { readonly required: readonly CapabilityRequirements['required'][number][] }): WorkOrderBuilder {
    return new WorkOrderBuilder({ ...this.#draft, requirements: { required: [...required] } });
  }

  config(part: Partial<RuntimeConfig>): WorkOrderBuilder {
    return new WorkOrderBuilder({ ...this.#draft, config: { ...this.#draft.config, ...part } });
  }

  /** The finished order, checked, under an id of its own. */
  build(): WorkOrder {
    return parseAt(WorkOrder, { id: hyphenate(uuidv7Hex()), ...this.#draft }, 'work order');
  }
}

/** A policy that allows everything. Its lists are new each time, because an order that is built may be changed. */
export function noPolicy(): PolicyProfile {
  return {
    allowed_tools: [],
    disallowed_tools: [],
    deny_read: [],
    deny_write: [],
    allow_network: [],
    deny_network: [],
    require_approval_for: [],
  };
}

/** Begins a work order: `workOrder('fix the build').requirements(r).build()`. */
export function workOrder(task: string): WorkOrderBuilder {
  return new WorkOrderBuilder({
    task,
    lane: 'patch_first',
    workspace: { root: '.', mode: 'staged', include: [], exclude: [] },
    context: { files: [], snippets: [] },
    policy: noPolicy(),
    requirements: { required: [] },
    config: { model: null, vendor: {}, env: {}, max_budget_usd: null, max_turns: null },
  });
}

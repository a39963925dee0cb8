import { realpathSync } from 'node:fs';
import { isAbsolute, relative, resolve, sep } from 'node:path';
import { lookAt } from '../../base/paths/look-at.ts';
import { AbpError } from '../../contract/errors.ts';
import type { FidelityEntry } from '../../contract/negotiation.ts';
import { runLimits } from '../../contract/runs/run-limits.ts';
import { parseRunOptions, type RunOptions } from '../../contract/runs/run-options.ts';
import type { WorkOrder } from '../../contract/work-orders/work-order.ts';
import { promptOf } from '../bare-model/prompt.ts';
import { modelOf, namespaceOf, otherNamespaces, vendorOf } from './vendor.ts';

/** Who executes an order, as far as its options depend on it. */
export interface OrderBackend {
  /** `engine:sim`, `adapter:claude`, `host:codex`, `sidecar:mine`. */
  readonly id: string;
  readonly kind: 'engine' | 'adapter' | 'host' | 'sidecar';
}

/** An order as options of a run, and what of it did not arrive as it was written. */
export interface OrderedRun {
  readonly options: RunOptions;
  readonly fidelity: readonly FidelityEntry[];
}

/** Members of a namespace that an adapter takes: they are options of a run under the same names. */
const ADAPTER_MEMBERS = [
  'systemPrompt',
  'systemPromptMode',
  'thinkingEffort',
  'thinkingBudgetTokens',
  'sessionId',
  'forkSessionId',
  'mcpServers',
  'skills',
];

/** Reads every member of an order; throws on one that this backend cannot honour, by its name. `base` is where a relative root begins. */
export function optionsOf(order: WorkOrder, backend: OrderBackend, base: string): OrderedRun {
  const vendor = vendorOf(order);
  const { config, policy } = order;
  const cwd = rootOf(order, base);
  const fidelity = [...laneFidelity(order), ...namespaceFidelity(order, backend)];
  const [, name = backend.id] = backend.id.split(/:(.*)/s);
  const engine = backend.kind === 'engine' ? name : vendor.engine;
  const options = {
    agent: backend.kind === 'adapter' ? name : backend.id,
    prompt: promptOf(order),
    cwd,
    workspace: workspaceOf(order),
    policy,
    env: Object.keys(config.env).length === 0 ? undefined : config.env,
    model: modelOf(order) ?? undefined,
    maxTurns: config.max_turns ?? undefined,
    maxBudgetUsd: config.max_budget_usd ?? undefined,
    engine,
    compatibility: vendor.compatibility,
    enforcement: vendor.enforcement,
    sandbox: vendor.sandbox,
    limits: vendor.limits === undefined ? undefined : runLimits(vendor.limits),
    timeout: milliseconds(vendor.timeout_seconds),
    check: vendor.check,
    checkTimeout: milliseconds(vendor.check_timeout_seconds),
    approvalMode: vendor.approval ?? 'yolo',
    approvalTimeout: milliseconds(vendor.approval_timeout_seconds),
    nonInteractive: vendor.answerable === false ? true : undefined,
    thinkingEffort: vendor.thinking,
    tags: vendor.tags,
    ...(backend.kind === 'adapter' ? adapterMembers(order, name) : {}),
  };
  return { options: parseRunOptions(Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined))), fidelity };
}

const milliseconds = (seconds: number | undefined): number | undefined => (seconds === undefined ? undefined : Math.round(seconds * 1000));

function refused(path: string, message: string): AbpError {
  return new AbpError('invalid_request', `work order is not valid: ${path}: ${message}`, { path });
}

/** The folder of the work, and that the files it names are in it. */
function rootOf({ workspace, context }: WorkOrder, base: string): string {
  const root = resolve(base, workspace.root);
  const { stats, fault = 'is a file' } = lookAt(root);
  if (stats?.isDirectory() !== true) throw refused('workspace.root', `there is no folder ${root}: it ${fault}`);
  for (const [at, file] of context.files.entries()) {
    const path = `context.files[${at}]`;
    const way = relative(root, resolve(root, file));
    if (isAbsolute(file) || way === '..' || way.startsWith(`..${sep}`))
      throw refused(path, 'must be a path inside the root, relative to it');
    const named = lookAt(resolve(root, file));
    if (named.fault !== undefined) throw refused(path, `there is no file ${file} in ${root}: it ${named.fault}`);
  }
  return realpathSync(root);
}

/** Work that begins with a patch never touches the folder, so it happens in a copy whatever the mode says. */
function workspaceOf({ lane, workspace }: WorkOrder): RunOptions['workspace'] {
  const { mode, include, exclude } = workspace;
  if (mode === 'staged' || lane === 'patch_first') return { mode: 'staged', include, exclude };
  if (include.length > 0) throw refused('workspace.include', 'only a staged workspace leaves files out');
  if (exclude.length > 0) throw refused('workspace.exclude', 'only a staged workspace leaves files out');
  return { mode: 'pass_through' };
}

function laneFidelity({ lane, workspace }: WorkOrder): FidelityEntry[] {
  if (lane !== 'patch_first' || workspace.mode === 'staged') return [];
  const note = 'the lane patch_first does not touch the folder: the work happens in a staged copy, and its result is a patch';
  return [{ path: 'workspace.mode', fate: 'emulated', note }];
}

/** A sidecar gets the order whole, with every namespace; others know their own. */
function namespaceFidelity(order: WorkOrder, { id, kind }: OrderBackend): FidelityEntry[] {
  if (kind === 'sidecar' || kind === 'host') return [];
  const [, name] = id.split(':');
  return otherNamespaces(order)
    .filter((namespace) => kind === 'engine' || namespace !== name)
    .map((namespace) => ({ path: `config.vendor.${namespace}`, fate: 'dropped', note: `it is for another backend than ${id}` }));
}

function adapterMembers(order: WorkOrder, name: string): object {
  const members = namespaceOf(order, name);
  const unknown = Object.keys(members).find((member) => !ADAPTER_MEMBERS.includes(member));
  if (unknown === undefined) return members;
  throw refused(`config.vendor.${name}.${unknown}`, `is not known; an adapter takes ${ADAPTER_MEMBERS.join(', ')}`);
}

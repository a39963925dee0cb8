import type { Adapter, EventDraft, ThinkingDelivery } from '../../../adapters/adapter.ts';
import { sha256 } from '../../../base/canonical-json.ts';
import type { EmulationEntry, FidelityEntry } from '../../../contract/negotiation.ts';
import type { ApprovalRecord, Artifact, ReceiptUsage } from '../../../contract/receipts/parts.ts';
import type { RunId } from '../../../contract/run-id.ts';
import { backendOf } from '../../../contract/runs/coding-agent.ts';
import { type RunOptions, runTags } from '../../../contract/runs/run-options.ts';
import type { RunResult, RunTokenUsage } from '../../../contract/runs/run-result.ts';
import type { GatewayPort, RunClosing, RunOpening, RunSpend } from '../../gateway-port.ts';
import { inPlaceChanges, type Snapshot, snapshot, workspaceDelta } from '../../workspaces/snapshot.ts';
import { textsInPrompt } from '../attachments.ts';
import type { RunDeps } from '../deps.ts';
import { type Ground, rulesAtEnd } from '../ground/ground.ts';
import type { Prepared } from '../prepare.ts';
import { type Checked, runCheck } from '../process/check-process.ts';
import { childEnvironment } from '../process/environment.ts';
import { endLeftovers } from '../process/run-folder.ts';
import { type Ending, failedEnding } from './outcome.ts';
import type { Tally } from './tally.ts';
import { toldArtifacts } from './told-artifacts.ts';

const NANO = 1e9;
const CANCELLED: ReadonlySet<string> = new Set(['aborted', 'interrupted']);

/** The outcome of a run in its books. It ends otherwise than its agent where what that left cannot be read. */
export type RunAccount = Pick<RunResult, 'cost' | 'tokenUsage' | 'model'> & { readonly ending: Ending };

export interface Settled {
  readonly adapter: Adapter;
  readonly options: RunOptions;
  readonly runId: RunId;
  readonly cwd: string;
  readonly deps: RunDeps;
  /** Somebody wants the run ended; a check of its work ends with it. */
  readonly stopped?: AbortSignal;
  readonly tell?: (draft: EventDraft) => void;
}

/** The books of one run: what it was allowed, what it used, what it changed. They end in its receipt. */
export class Settlement {
  #run: Settled;
  readonly #at: number;
  #port: GatewayPort | undefined;
  #prepared: Prepared | undefined;
  #before: Snapshot | undefined;
  #opened = false;

  constructor(run: Settled) {
    this.#run = run;
    this.#at = run.deps.clock.now();
  }

  through(port: GatewayPort): void {
    this.#port = port;
  }

  /** The options with the prompt that a hook has left. */
  prompted(options: RunOptions): void {
    this.#run = { ...this.#run, options };
  }

  /** Journals the run before its agent starts. */
  async open(prepared: Prepared): Promise<void> {
    this.#prepared = prepared;
    // A stage is compared as a whole, and the original is not touched.
    if (prepared.ground.stage === undefined) this.#before = await this.#snapshot();
    await this.#open();
  }

  /** Ends the key, journals the end and says what was spent. Without a gateway there is nobody to journal to. */
  async close(agentEnding: Ending, tally: Tally, approvals: readonly ApprovalRecord[] = []): Promise<RunAccount> {
    const port = this.#port;
    if (port === undefined) return { ...toldBy(tally), model: this.#model(), ending: agentEnding };
    if (!this.#opened) await this.#open();
    const spend = await port.spent(this.#run.runId, 'ended');
    await port.dropRunKey(this.#run.runId);
    const after = this.#before === undefined ? undefined : await this.#snapshot(this.#before);
    const ground = this.#prepared?.ground;
    const { ending, ...staged } = await stagedWork(ground, agentEnding);
    const checked = ending.exitReason === 'completed' ? await this.#checked() : undefined;
    // While the room still stands: it knows what was stopped.
    const rules = ground === undefined ? undefined : rulesAtEnd(ground);
    ground?.room?.close();
    const closing = {
      ...this.#closing(ending, tally, { spend, after }),
      ...staged,
      ...(checked === undefined ? {} : { check: checked.check }),
      ...(ending.told === undefined ? {} : { sidecarReceipt: ending.told.receipt }),
      ...artifactsOf([
        ...(staged.artifacts ?? []),
        ...(checked === undefined ? [] : [checked.log]),
        ...(ending.told === undefined ? [] : await toldArtifacts(ending.told, ground?.stage?.tree ?? this.#run.cwd)),
      ]),
      ...(rules === undefined ? {} : { rules }),
      ...(approvals.length === 0 ? {} : { approvals }),
    };
    await port.closed(closing);
    this.#run.deps.onChanges?.(closing.workspaceDelta);
    this.#prepared?.folder.remove();
    return { ...(spend.calls === 0 ? toldBy(tally) : billed(spend)), model: this.#model(spend), ending };
  }

  /** Judges the work by the caller's own command, where there is one. It gets no key: the one of the run is over. */
  async #checked(): Promise<Checked | undefined> {
    const { options, deps, runId, stopped, tell = () => undefined } = this.#run;
    const { ground, folder } = this.#prepared ?? {};
    if (options.check === undefined || ground?.stage === undefined || folder === undefined) return undefined;
    const { stage, room, cwd } = ground;
    const env = childEnvironment({ base: deps.env, keep: [], adapter: {}, caller: options.env ?? {}, runId });
    tell({ type: 'shell_start', command: options.check, cwd });
    const checked = await runCheck({
      command: options.check,
      timeoutMs: options.checkTimeout,
      stage,
      room,
      cwd,
      folder,
      env: room === undefined ? env : room.environment(env),
      stopped,
    });
    endLeftovers(runId);
    tell({ type: 'shell_exit', exitCode: checked.check.exit_code, durationMs: checked.check.ms });
    return checked;
  }

  #model(spend?: RunSpend): string {
    return modelOf(this.#run.options, this.#run.adapter, spend?.fates?.upstreamModel);
  }

  async #open(): Promise<void> {
    this.#opened = true;
    await this.#port?.opened(this.#opening());
  }

  #snapshot(earlier?: Snapshot): Promise<Snapshot | undefined> {
    return snapshot(this.#run.cwd, this.#run.deps.homePath, earlier);
  }

  #opening(): RunOpening {
    const { adapter, options, runId, deps } = this.#run;
    const traffic = this.#prepared?.traffic;
    const engine = traffic?.kind === 'gateway' ? traffic.engine : null;
    const prompt = Array.isArray(options.prompt) ? options.prompt.join('\n') : options.prompt;
    return {
      run: runId,
      at: this.#at,
      ...(deps.ownerPid === undefined ? {} : { untilEndOf: deps.ownerPid }),
      task: `run ${adapter.agent}${engine === null ? '' : ` → ${engine}`}`,
      dialect: adapter.traffic.dialect,
      engine,
      backend: backendOf(adapter.agent),
      requestedModel: options.model ?? null,
      upstreamModel: traffic?.kind === 'gateway' ? traffic.forcedModel : null,
      compatibility: options.compatibility ?? 'best_effort',
      fidelity: this.#optionFates(),
      request: deps.commission?.request ?? { sha256: sha256(prompt), bytes: Buffer.byteLength(prompt) },
      ...(deps.commission === undefined ? {} : { workOrder: deps.commission.workOrder, negotiation: deps.commission.negotiation }),
      enforcement: this.#enforcement(),
      ...(this.#prepared === undefined ? {} : { rules: this.#prepared.ground.rules }),
      tags: runTags(options),
    };
  }

  #optionFates(): FidelityEntry[] {
    return [
      ...(this.#run.deps.commission?.fidelity ?? []),
      ...(this.#prepared === undefined ? [] : fidelityOf(this.#run.adapter, this.#prepared)),
    ];
  }

  #enforcement(): RunOpening['enforcement'] {
    const budget = this.#run.options.maxBudgetUsd === undefined ? 'enforced' : (this.#port?.enforcement ?? 'advisory');
    return this.#prepared?.ground.enforcement === 'advisory' ? 'advisory' : budget;
  }

  #closing({ exitReason, error }: Ending, tally: Tally, { spend, after }: { spend: RunSpend; after: Snapshot | undefined }): RunClosing {
    const { deps, runId, options } = this.#run;
    const now = deps.clock.now();
    const { fates } = spend;
    const failed = CANCELLED.has(exitReason) ? 'cancelled' : 'failed';
    return {
      run: runId,
      at: now,
      status: exitReason === 'completed' ? 'completed' : failed,
      reason: exitReason === 'completed' ? null : exitReason,
      error: error === null ? null : { code: error.code, message: error.message },
      upstreamModel: fates?.upstreamModel ?? options.model ?? null,
      // The fate of the options is known from the start, that of the calls only now.
      emulations: [...optionEmulations(this.#optionFates()), ...(fates?.emulations ?? [])],
      ...(fates === undefined ? {} : { fidelity: [...this.#optionFates(), ...fates.fidelity], answerFidelity: fates.answerFidelity }),
      eventCount: tally.eventCount,
      usage: usageOfRun(options, tally, spend),
      toolCalls: tally.toolCalls,
      lastByteMs: Math.max(0, now - this.#at),
      cost: spend.nanoUsd === null ? null : { nano_usd: spend.nanoUsd, price_version: spend.priceVersion ?? '' },
      workspaceDelta: this.#before === undefined || after === undefined ? null : workspaceDelta(this.#before, after),
      ...(this.#before === undefined || after === undefined ? {} : { changeSet: inPlaceChanges(this.#before, after) }),
      backendVersion: this.#prepared?.detected.version ?? null,
    };
  }
}

interface StagedWork extends Partial<Pick<RunClosing, 'workspaceDelta' | 'changeSet' | 'artifacts'>> {
  readonly ending: Ending;
}

/** The changes of a staged run. Its stage is kept for `abp apply`. Work that cannot be read is none that has been done; it has its receipt all the same. */
async function stagedWork(ground: Ground | undefined, ending: Ending): Promise<StagedWork> {
  const stage = ground?.stage;
  if (stage === undefined) return { ending };
  const compared = await stage.finish().catch((error: unknown) => failedEnding(error, undefined));
  if ('exitReason' in compared) return { ending: ending.exitReason === 'completed' ? compared : ending };
  const { record, delta, patchSha256 } = compared;
  return {
    ending,
    workspaceDelta: delta,
    changeSet: record,
    artifacts: [{ kind: 'patch', path: 'patch.diff', sha256: patchSha256 }],
  };
}

/** The model of a run: as the caller named it, else the one that answered, else the one that the agent takes by itself. */
export function modelOf({ model }: RunOptions, { defaultModelId }: Pick<Adapter, 'defaultModelId'>, served?: string | null): string {
  return model ?? served ?? defaultModelId ?? 'default';
}

/** Whether the run has a wish about thinking: in the words of the agent, or only in those of the gateway. */
export function asksToThink({ spec, wanted }: Pick<Prepared, 'spec' | 'wanted'>): boolean {
  return Object.keys(wanted.thinking).length > 0 || spec.thinking.by === 'wire';
}

function artifactsOf(artifacts: readonly Artifact[]): Pick<RunClosing, 'artifacts'> {
  return artifacts.length === 0 ? {} : { artifacts };
}

/** Said before the start by an event, and by the receipt. */
export function thinkingNote({ by, detail }: ThinkingDelivery): string {
  const decides = by === 'wire' || by === 'none' ? '' : '; what that means on the wire is decided by the agent';
  return `${by}: ${detail}${decides}`;
}

/** The fate of options that did not arrive as they were. */
function fidelityOf(adapter: Adapter, { spec, wanted, traffic, plan }: Prepared): FidelityEntry[] {
  return [
    ...(asksToThink({ spec, wanted })
      ? [
          {
            path: 'thinking',
            fate: spec.thinking.by === 'none' ? 'dropped' : 'renamed',
            note: thinkingNote(spec.thinking),
          } as const,
        ]
      : []),
    ...wanted.notes.map((note) => ({ path: 'thinking', fate: 'emulated', note }) as const),
    ...spec.unhonoured.map(({ option, reason }) => ({ path: option, fate: 'dropped', note: reason }) as const),
    ...textsInPrompt(adapter, plan.attachments).map(
      (name) => ({ path: 'attachments', fate: 'emulated', note: `the text of ${name} stands in the prompt` }) as const,
    ),
    ...(traffic.kind === 'direct' && traffic.needsNone !== true
      ? [{ path: 'engine', fate: 'dropped', note: `direct: ${traffic.reason}` } as const]
      : []),
  ];
}

/** Names under which a receipt lists options that were approximated. */
const AS: Readonly<Partial<Record<string, EmulationEntry['capability']>>> = {
  thinking: 'extended_thinking',
  attachments: 'attachments',
  'workspace.mode': 'workspace',
};

function optionEmulations(fates: readonly FidelityEntry[]): EmulationEntry[] {
  return fates.flatMap(({ path, fate, note = '' }): EmulationEntry[] => {
    const capability = fate === 'emulated' ? AS[path] : undefined;
    return capability === undefined ? [] : [{ capability, strategy: { type: 'post_processing', detail: note } }];
  });
}

/** The agent's own account. */
export function toldBy({ cost, tokenUsage }: Tally): Pick<RunResult, 'cost' | 'tokenUsage'> {
  return { cost, tokenUsage };
}

function billed({ usage, nanoUsd }: RunSpend): Pick<RunResult, 'cost' | 'tokenUsage'> {
  const { input_tokens: input, output_tokens: output, thinking_tokens: thinking, cache_read_tokens: cached } = usage;
  return {
    tokenUsage: { input, output, thinking, cached, total: input + output },
    cost:
      nanoUsd === null
        ? null
        : {
            totalUsd: nanoUsd / NANO,
            inputTokens: input,
            outputTokens: output,
            thinkingTokens: thinking,
            cachedTokens: cached,
            cacheCreationTokens: usage.cache_write_tokens,
            cacheReadTokens: cached,
          },
  };
}

/** One token is about four characters of English, and less of anything else. */
const CHARACTERS_PER_TOKEN = 4;

/** The count of the gateway, else that of the agent; a run that was stopped before anybody counted is estimated. */
function usageOfRun(options: RunOptions, tally: Tally, { calls, usage }: RunSpend): ReceiptUsage | null {
  if (usage.input_tokens + usage.output_tokens > 0) return usage;
  const told = usageOf(tally.tokenUsage);
  if (told !== null || (calls === 0 && tally.text === '')) return told;
  return estimated(options, tally.text);
}

/** An agent that was stopped before it counted has still used what it said, and the prompt. */
function estimated({ prompt }: RunOptions, text: string): ReceiptUsage {
  const tokens = (characters: number): number => Math.ceil(characters / CHARACTERS_PER_TOKEN);
  return {
    input_tokens: tokens([prompt].flat().join('\n').length),
    output_tokens: tokens(text.length),
    cache_read_tokens: 0,
    cache_write_tokens: 0,
    thinking_tokens: 0,
    web_search_requests: 0,
    estimated: true,
  };
}

/** The agent's own count, where no call went through us. */
function usageOf({ input, output, thinking, cached, total }: RunTokenUsage): ReceiptUsage | null {
  if (total === 0) return null;
  return {
    input_tokens: input,
    output_tokens: output,
    cache_read_tokens: cached,
    cache_write_tokens: 0,
    thinking_tokens: thinking,
    web_search_requests: 0,
    estimated: false,
  };
}

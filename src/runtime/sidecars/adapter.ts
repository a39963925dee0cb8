import type { Adapter, SpawnPlan, SpawnSpec } from '../../adapters/adapter.ts';
import { hyphenate } from '../../base/ids.ts';
import { AbpError } from '../../contract/errors.ts';
import type { RunId } from '../../contract/run-id.ts';
import type { CapabilityManifest, Compatibility } from '../../contract/support.ts';
import { type EnvelopeOf, splitCapabilities } from '../../contract/work-orders/sidecar.ts';
import type { WorkOrder } from '../../contract/work-orders/work-order.ts';
import { dialects } from '../../dialects/index.ts';
import { assertMet } from '../../negotiation/negotiate.ts';
import type { AgentKnowledge } from '../runs/deps.ts';
import { sidecarProfile } from './capabilities.ts';
import { SidecarDialogue, type SidecarTimes } from './dialogue.ts';

/** A program that speaks the protocol, and how it is started. */
export interface SidecarProgram {
  /** `sidecar:mine`, `host:codex`, `engine:sim`. */
  readonly backend: string;
  readonly name: string;
  /** The program and its arguments; files in it have their whole names. */
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Files and folders that it needs in a room, beside its workspace. */
  readonly shows: readonly string[];
  readonly times: SidecarTimes;
  /** Capabilities from its hello, or from our own tables where it was not greeted yet. */
  readonly manifest: CapabilityManifest;
  readonly version: string | null;
  /** It asks before each tool call where it is told to. */
  readonly asksFirst: boolean;
  /** It honours names and patterns of tools that the order allows and denies. */
  readonly takesToolRules: boolean;
  /** Rows about its requests, where it drives an agent of which we have some. */
  readonly traffic?: Adapter['traffic'];
  /** A command that it starts itself, where that is installed. */
  readonly wants?: string;
}

/** The work that a run gives a sidecar. */
export interface SidecarJob {
  readonly program: SidecarProgram;
  readonly runId: RunId;
  readonly order: WorkOrder;
  readonly compatibility: Compatibility;
  /** Its model calls go through the gateway; without an engine it brings its own. */
  readonly engine: string | undefined;
}

const BRINGS_ITS_OWN = 'the sidecar brings its own engine';

/** A sidecar as the run engine drives agents. One is made for each run, as the order goes over its own wire. */
export function sidecarAdapter(job: SidecarJob): Adapter {
  const { program, engine } = job;
  const [cliCommand = ''] = program.command;
  return {
    agent: program.backend,
    displayName: program.name,
    cliCommand,
    capabilities: sidecarProfile(program.backend, program.manifest),
    summary: { ...NO_SUMMARY, cli: cliCommand },
    notes: [],
    models: [],
    defaultModelId: null,
    modelsAsOf: '',
    modelsSource: 'the sidecar',
    detect: { versionArgs: [], version: () => undefined, effective: () => ({}) },
    auth: { envVars: [], guidance: [], forwardsLogin: false },
    traffic: {
      ...(program.traffic ?? { dialect: 'claude', dialects: dialects.map(({ id }) => id), emulate: [], rows: [] }),
      ...(engine === undefined && { unserved: BRINGS_ITS_OWN, needsNone: true }),
    },
    sessions: { kind: 'none', reason: 'a sidecar keeps no sessions that can be read' },
    ...(program.takesToolRules && { takesToolRules: 'patterns' }),
    ...(program.asksFirst && { waitsFor: ({ watched }) => (watched === true ? 'every-tool' : 'nothing') }),
    spawn: (plan) => spawnSpec(job, plan),
    dialogue: ({ cwd, watched = false }) =>
      new SidecarDialogue({
        refId: hyphenate(job.runId.slice('run_'.length)),
        order: job.order,
        cwd,
        times: program.times,
        watched,
        greeted: (hello) => refusalOf(job, hello),
      }),
  };
}

const NO_SUMMARY = {
  session: 'no',
  stream: 'yes',
  fork: 'no',
  thinking: 'no',
  mcp: 'no',
  skills: 'no',
  plugins: 'no',
  acp: 'no',
  platforms: 'all',
} as const;

function spawnSpec({ program }: SidecarJob, { gateway }: SpawnPlan): SpawnSpec {
  return {
    args: program.command.slice(1),
    env: { ...program.env, ...(gateway === undefined ? {} : gatewayVariables(gateway)) },
    files: {},
    stdin: 'open',
    shows: program.shows,
    wants: program.wants,
    pty: false,
    thinking: { by: 'none', detail: 'a sidecar decides about thinking itself' },
    unhonoured: [],
  };
}

/** The gateway under our own names, and under those that vendor SDKs look for. */
function gatewayVariables({ origin, engine, key }: NonNullable<SpawnPlan['gateway']>): Record<string, string> {
  const at = `${origin}/e/${engine}`;
  return {
    ABP_GATEWAY_URL: origin,
    ABP_GATEWAY_KEY: key,
    ABP_GATEWAY_ENGINE: engine,
    ANTHROPIC_BASE_URL: at,
    ANTHROPIC_API_KEY: key,
    OPENAI_BASE_URL: `${at}/v1`,
    OPENAI_API_KEY: key,
    GOOGLE_GEMINI_BASE_URL: at,
    GEMINI_API_KEY: key,
  };
}

/** Holds the order against the hello of this very start, which may differ from the one we knew. */
function refusalOf({ order, compatibility, program }: SidecarJob, hello: EnvelopeOf<'hello'>): AbpError | undefined {
  const { manifest } = splitCapabilities(hello.capabilities);
  try {
    assertMet({ manifest, requirements: order.requirements, compatibility, backend: program.backend });
    return undefined;
  } catch (error) {
    if (AbpError.is(error)) return error;
    throw error;
  }
}

/** Answers the run engine's questions about an agent for a program whose options are those of a work order. */
export function sidecarKnowledge(program: SidecarProgram): AgentKnowledge {
  const effective = sidecarProfile(program.backend, program.manifest);
  return {
    effective: () => effective,
    // Whether the command is there is found out by starting it; the error then names it.
    detect: async ({ cliCommand }) => ({
      installed: true,
      path: cliCommand,
      effective,
      ...(program.version && { version: program.version }),
    }),
    check: () => undefined,
    wanted: (_adapter, { model }) => ({ ...(model === undefined ? {} : { modelId: model }), thinking: {}, notes: [] }),
  };
}

import type { Json, JsonObject } from '../base/json.ts';
import type { LineFault } from '../base/line-splitter.ts';
import type { Capability } from '../contract/capability.ts';
import type { SidecarReceiptRecord } from '../contract/receipts/parts.ts';
import type { AgentCapabilities, AgentName, InstallMethod, ModelCapabilities, ThinkingEffortLevel } from '../contract/runs/coding-agent.ts';
import type { EventName, EventOf } from '../contract/runs/event.ts';
import type { HookType } from '../contract/runs/run-hooks.ts';
import type { RunOptions } from '../contract/runs/run-options.ts';
import type { TrafficRow } from '../contract/runs/run-traffic.ts';
import type { AttachmentRule, GivenAttachment } from './attachments.ts';

/** Something that is true of the CLI of today and not of the profile. */
interface DatedNote {
  /** ISO 8601 date of the measurement. */
  readonly date: string;
  /** The version it was measured on. */
  readonly version: string;
  readonly note: string;
}

/** The row of an agent in the summary of all agents, in its words: `yes`, `partial`, `model-dep`. */
interface AdapterSummary {
  readonly cli: string;
  readonly session: string;
  readonly stream: string;
  readonly fork: string;
  readonly thinking: string;
  readonly mcp: string;
  readonly skills: string;
  readonly plugins: string;
  readonly acp: string;
  readonly platforms: string;
}

/** How an installed agent is found and what its version really can do. */
export interface DetectRule {
  /** Arguments that make the CLI print its version. */
  readonly versionArgs: readonly string[];
  /** The version in what it printed; undefined when this is some other program of that name. */
  version(output: string): string | undefined;
  /** Abilities in which this version differs from the frozen profile. */
  effective(version: string): Partial<AgentCapabilities>;
  /** Why this version may not work as the profile says: it is not one that the adapter was tried with. Undefined where it is. */
  untested?(version: string): string | undefined;
}

/** How a user makes the agent know who they are. We look at names only, never into credential files. */
interface AuthRule {
  /** Variables that hold a credential the agent takes. */
  readonly envVars: readonly string[];
  /** Where it keeps its login today, relative to the home of the user. Only looked for, never opened. */
  readonly files?: readonly string[];
  readonly loginCommand?: string;
  readonly guidance: readonly string[];
  /** The agent's own login may be forwarded to its issuer through the gateway. */
  readonly forwardsLogin: boolean;
}

/** How an effort level becomes native parameters. */
export type ThinkingRule =
  /** A number of tokens; `max` is what the model allows. */
  | { readonly kind: 'budget'; readonly parameter: string }
  /** A word. */
  | { readonly kind: 'level'; readonly parameter: string; readonly words: Readonly<Record<ThinkingEffortLevel, string>> }
  /** Whatever the provider of the chosen model takes. */
  | { readonly kind: 'provider' }
  | { readonly kind: 'none'; readonly reason: string };

/** Native thinking parameters, before they are delivered: what table 8.1 says, with the override merged on top. */
export type NativeThinking = JsonObject;

/** How thinking parameters reach the model. `wire`: the gateway sets them on the agent's own requests. */
export interface ThinkingDelivery {
  readonly by: 'flag' | 'environment' | 'settings' | 'wire' | 'none';
  /** For people: what was set, or why nothing could be. */
  readonly detail: string;
  /** For `wire`, which the run engine decides on: what the gateway puts into the requests of the run. */
  readonly wire?: WireThinking;
}

/** Thinking parameters that the gateway puts into the requests of a run. */
export interface WireThinking {
  readonly effort?: string;
  readonly budgetTokens?: number;
}

/** The gateway an agent talks to during a run. */
export interface GatewayRoute {
  /** `http://127.0.0.1:8088`, without a slash at the end. */
  readonly origin: string;
  /** The engine that the run is pinned to, such as `gemini` or `sim:claude`. */
  readonly engine: string;
  /** The dialect that the engine speaks by itself. We set an agent to it where it can be set, so that nothing is translated. */
  readonly dialect?: string;
  /** A run key; it dies with the run. */
  readonly key: string;
  /** Tokens that the model takes, as far as its engine says; what the agent assumes of a model it does not know would be wrong. */
  readonly contextWindow?: number;
  /** The agent keeps its own login: `origin` already holds the key in its path, and no credential of ours is set. */
  readonly ownLogin?: boolean;
}

/** Everything an adapter needs to say how its agent is started for one run. Options have passed every gate. */
export interface SpawnPlan {
  readonly options: RunOptions;
  /** The model row, when the model is a known one. */
  readonly model?: ModelCapabilities;
  /** The model that the agent is started with: the canonical id of a known one, else the caller's own words. */
  readonly modelId?: string;
  readonly thinking: NativeThinking;
  /** Attachments of the prompt, read and of kinds that the agent takes. */
  readonly attachments?: readonly GivenAttachment[];
  /** The detected version. */
  readonly version?: string;
  /** A folder of this run alone, for configuration and sessions. It exists. */
  readonly runFolder: string;
  readonly cwd: string;
  /** Absent: the agent is left alone with its own configuration (`--direct`). */
  readonly gateway?: GatewayRoute;
  /** Somebody can answer approvals while the agent runs. */
  readonly answerable: boolean;
  /** A hook of the caller decides on tools before they run, where the agent can be made to wait for it. */
  readonly watched?: boolean;
  /** The agent runs in a room of ours: its own sandbox could not nest in it, and is off. */
  readonly confined?: boolean;
  /** Tools by name, for agents that take such rules; no allowed ones means all. */
  readonly tools?: { readonly allowed: readonly string[]; readonly denied: readonly string[] };
  /** The agent's own screen is shown (`abp launch`); there are no events to read. */
  readonly interactive: boolean;
}

/** A process to start. */
export interface SpawnSpec {
  readonly args: readonly string[];
  /** Beside the allowlisted environment; no secret stands in `args`. */
  readonly env: Readonly<Record<string, string>>;
  /** Files to write into the run folder before the start, by path relative to it. Never the user's own files. */
  readonly files: Readonly<Record<string, string>>;
  /**
   * Folders of the run folder that are links to folders of the user's home, made there if they are missing: what an agent with a
   * home of its own must still share, such as its sessions.
   */
  readonly links?: Readonly<Record<string, string>>;
  /** Files and folders that it needs in a room, beside its own installation. */
  readonly shows?: readonly string[];
  /** A command that it starts itself where that is installed, shown in a room with what it needs. */
  readonly wants?: string | undefined;
  /** `closed`: the agent must not wait for input. `open`: the dialogue writes to it. */
  readonly stdin: 'closed' | 'open';
  /** The prompt of an agent that reads one from its standard input, which ends with it: arguments can be read by every user of the machine. */
  readonly input?: string;
  readonly pty: boolean;
  readonly thinking: ThinkingDelivery;
  /** Options that this agent cannot honour although no gate refuses them, each with the reason. */
  readonly unhonoured: readonly { readonly option: string; readonly reason: string }[];
}

// Distributes over the union, so that each draft keeps the fields of its own type.
type Draft<N extends EventName> = N extends EventName
  ? Omit<EventOf<N>, 'runId' | 'agent' | 'timestamp' | 'accumulated' | 'inputAccumulated'>
  : never;

/** An event as the dialogue reads it; the run engine adds the run, the agent, the time and what has accumulated. */
export type EventDraft = Draft<EventName>;

/** A tool that the agent runs only when the caller's hook has let it. */
export interface WaitingTool {
  readonly waitId: string;
  readonly toolCallId?: string;
  readonly toolName: string;
  readonly input: Json;
}

/** An adapter's reading of one line: the events in it, and lines to write back where a protocol expects an answer. */
export interface Heard {
  readonly events: readonly EventDraft[];
  readonly send?: readonly string[];
  /** In a run that is watched. */
  readonly waiting?: readonly WaitingTool[];
  /** The agent has answered and only waits for more: its input can be closed. */
  readonly done?: boolean;
  /** It broke its protocol, and is ended. */
  readonly broken?: boolean;
  /** The rest of what the line says, where it takes long to read. The dialogue keeps the lines behind it meanwhile. */
  readonly later?: Promise<Heard>;
}

/** Something the caller wants to tell a running agent. */
export type Command =
  /** Taken now or, by agents that listen only between their answers, after the one under way. */
  | { readonly kind: 'message'; readonly text: string }
  /** Taken into the work under way, or not at all. */
  | { readonly kind: 'steer'; readonly text: string }
  /** `input`: instead of the one that was asked about, for agents that can take another. */
  | { readonly kind: 'approve'; readonly interactionId: string; readonly input?: JsonObject }
  | { readonly kind: 'deny'; readonly interactionId: string; readonly reason?: string }
  /** The hook lets a waiting tool run, with another input if it has one, or does not. */
  | { readonly kind: 'let'; readonly waitId: string; readonly input?: JsonObject }
  | { readonly kind: 'stop'; readonly waitId: string; readonly reason: string }
  | { readonly kind: 'interrupt' };

export interface ProcessExit {
  readonly code: number | null;
  readonly signal: string | null;
  /** The last part of its error output: some agents say only there why they did not begin. */
  readonly stderr?: string;
}

/** A limit at which an agent ends its run by itself. */
export type AgentLimit = 'turn_limit' | 'budget' | 'interrupted';

/** How a run ended, from what the agent said; exit codes of coding agents do not tell. */
export interface Outcome {
  readonly ok: boolean;
  /** A code of the run error table, when it failed. */
  readonly code?: string;
  readonly message?: string;
  /** The agent stopped before its work was done because of this limit of the run. */
  readonly limit?: AgentLimit;
  /** We ended the process because of this, so the signal that ended it tells nothing. */
  readonly broken?: true;
  /** A sidecar's own account of its run. */
  readonly told?: SidecarAccount;
}

/** The artefacts that a sidecar says it made, and its own receipt. */
export interface SidecarAccount {
  readonly artifacts: readonly { readonly kind: string; readonly path: string }[];
  readonly receipt: SidecarReceiptRecord;
}

/** Reads what one running agent prints. Pure but for its own memory; it never throws on a line it does not know. */
export interface Dialogue {
  /** Lines to write right after the start. */
  begin(): readonly string[];
  line(line: string): Heard;
  /** The lines that carry the command; undefined when this agent cannot be told so while it runs. */
  say(command: Command): readonly string[] | undefined;
  /** For a peer that speaks a protocol of ours: how long its lines may be, and what a line means that is none. */
  readonly strict?: { readonly mostBytes: number; fault(kind: LineFault): Heard };
  /** Lines that tell it to end by itself before it is ended; absent: it cannot be told. */
  cancel?(): readonly string[];
  /** Asked again and again while the process runs: whether it is late, and what to say to it. */
  readonly watch?: { readonly everyMs: number; look(): Heard };
  /** The output ended: what is left to report, and how it went. Also called after a kill. */
  end(exit: ProcessExit): { readonly events: readonly EventDraft[]; readonly outcome: Outcome };
}

/** A stored session, as the agent's own files tell it. */
export interface SessionSummary {
  readonly sessionId: string;
  readonly agent: AgentName;
  readonly title?: string;
  readonly cwd?: string;
  readonly model?: string;
  /** Milliseconds since the epoch. */
  readonly createdAt?: number;
  readonly updatedAt: number;
  readonly turnCount: number;
}

export interface SessionMessage {
  readonly role: 'user' | 'assistant' | 'system' | 'tool';
  readonly content: string;
  readonly timestamp?: number;
  readonly thinking?: string;
  readonly model?: string;
  readonly toolCalls?: readonly { readonly toolCallId: string; readonly toolName: string; readonly input: unknown }[];
  readonly toolResult?: { readonly toolCallId: string; readonly output: string; readonly isError: boolean };
}

/** One file of a session store. */
export interface SessionFile {
  /** Relative to the store's folder. */
  readonly path: string;
  readonly modifiedAt: number;
}

/** Where an agent keeps its sessions and how they read; the run engine does the reading of files. */
export type SessionRule =
  | {
      readonly kind: 'files';
      /** Relative to the home of the user, unless a variable of the agent moves it. */
      readonly folder: string;
      readonly folderVariable?: string;
      /** A glob under the folder. */
      readonly pattern: string;
      summary(file: SessionFile, text: string): SessionSummary | undefined;
      messages(text: string): readonly SessionMessage[];
    }
  | {
      readonly kind: 'sqlite';
      readonly file: string;
      readonly fileVariable?: string;
      readonly list: string;
      readonly read: string;
      summary(row: Readonly<Record<string, unknown>>): SessionSummary | undefined;
      messages(rows: readonly Readonly<Record<string, unknown>>[]): readonly SessionMessage[];
    }
  | { readonly kind: 'none'; readonly reason: string };

/** A row of an agent's table. `wish`: options of a run that make it the caller's own wish, which no table may drop. */
export type AgentTrafficRow = TrafficRow & { readonly wish?: readonly (keyof RunOptions)[] };

/** The requests of an agent as we have seen them on the wire, so that every engine can serve them. */
export interface Traffic {
  /** The dialect it speaks when nothing is configured otherwise. */
  readonly dialect: string;
  /** Every dialect it can be configured for. */
  readonly dialects: readonly string[];
  /** Capabilities that a run of this agent opts into emulating. */
  readonly emulate: readonly Capability[];
  /** Carried by the key of a run, so that a gateway of any version knows them. */
  readonly rows: readonly AgentTrafficRow[];
  /** Why its model calls cannot go through the gateway; the agent is then always left alone. Absent: they can. */
  readonly unserved?: string;
  /** It works without an engine of ours, also where nothing else can be reached. */
  readonly needsNone?: true;
}

/** How an agent takes messages while it runs. */
interface MessageRule {
  /** `steering`: in the midst of its work too. `between`: between its answers only. */
  readonly when: 'steering' | 'between';
  /** `always`: every run can be talked to. `asked`: one that is started with `nonInteractive: false`, or whose approvals are answered. */
  readonly held: 'always' | 'asked';
}

/** Before which tools an agent waits for its caller: all of them, those it asks about, or none. */
export type WaitsFor = 'every-tool' | 'what-it-asks' | 'nothing';

/** How one coding agent is driven and what it can do. */
export interface Adapter {
  readonly agent: AgentName;
  readonly displayName: string;
  readonly cliCommand: string;
  /** Frozen: the very object that the registry hands out. */
  readonly capabilities: AgentCapabilities;
  readonly summary: AdapterSummary;
  readonly notes: readonly DatedNote[];
  /** The way that works today, where the profile's own ways do not. */
  readonly today?: InstallMethod & { readonly date: string };
  readonly models: readonly ModelCapabilities[];
  readonly defaultModelId: string | null;
  /** ISO 8601 date of the bundled model data, and where it came from. */
  readonly modelsAsOf: string;
  readonly modelsSource: string;
  /** Arguments, and what to write to it, that make the CLI list its models as it knows them, and how to read that. */
  readonly discover?: { readonly args: readonly string[]; readonly input?: string; models(output: string): readonly ModelCapabilities[] };
  /** The engine whose list of models is the agent's, for a CLI that lists none itself. */
  readonly listing?: { readonly engine: string; readonly path: string /** The agent makes none of them think. */; readonly thinks?: false };
  readonly detect: DetectRule;
  /** By the profile. Absent means none. */
  readonly thinking?: ThinkingRule;
  /** In versions that think although the profile says they do not. */
  readonly thinkingToday?: ThinkingRule;
  readonly auth: AuthRule;
  /** Absent: it takes no messages while it runs. */
  readonly messages?: MessageRule;
  /** The most that it can be made to wait for, by its profile: whether a hook decides on its tools. Absent: nothing is said about that. */
  readonly waits?: WaitsFor;
  /** Hooks that would never be called, as the agent does not tell of what they are about. */
  readonly untold?: readonly HookType[];
  /** How attachments reach the model. Absent: the adapter of somebody else's code sees to that itself, for what its capabilities allow. */
  readonly attachments?: AttachmentRule;
  /** Its answers can carry another input for a tool. */
  readonly takesInput?: true;
  /** It can be started without tools that a rule names; some of them also by a pattern. */
  readonly takesToolRules?: true | 'patterns';
  /** Memory in MiB that one of its processes reserves at its start and mostly never uses, where that is more than a room gives by itself. */
  readonly reservesMb?: number;
  readonly traffic: Traffic;
  readonly sessions: SessionRule;
  /** The questions that an agent started so stops for until somebody answers. Absent: it never waits. */
  waitsFor?(plan: SpawnPlan): WaitsFor;
  spawn(plan: SpawnPlan): SpawnSpec;
  dialogue(plan: SpawnPlan): Dialogue;
}

import type { Json, JsonObject } from '../../base/json.ts';
import type { AgentName } from './coding-agent.ts';
import type { ExitReason } from './run-result.ts';

/** The points of a run at which its caller can be called. */
export const HOOK_TYPES = ['preToolUse', 'postToolUse', 'sessionStart', 'sessionEnd', 'stop', 'userPromptSubmit'] as const;
export type HookType = (typeof HOOK_TYPES)[number];

/** The power of a hook with an agent: nothing, hear of it, or decide. */
export const HOOK_SUPPORTS = ['unsupported', 'nonblocking', 'blocking'] as const;
type HookSupport = (typeof HOOK_SUPPORTS)[number];

/** The power of each hook with one agent. */
export type HookTable = Readonly<Record<HookType, HookSupport>>;

/** The data that each hook is told. */
export interface HookData {
  readonly preToolUse: { readonly toolCallId?: string; readonly toolName: string; readonly input: Json };
  readonly postToolUse: { readonly toolCallId: string; readonly toolName: string } & (
    | { readonly output: Json; readonly durationMs: number }
    | { readonly error: string }
  );
  readonly sessionStart: { readonly sessionId: string; readonly resumed: boolean; readonly forkedFrom?: string };
  readonly sessionEnd: { readonly turnCount: number; readonly exitReason: ExitReason };
  /** The agent has answered; what it has said so far, and whether this hook has made it go on before. */
  readonly stop: { readonly text: string; readonly turnCount: number; readonly continued: boolean };
  readonly userPromptSubmit: { readonly prompt: string };
}

/** One call of a hook. */
export interface HookCall<T extends HookType> {
  readonly agent: AgentName;
  readonly hookType: T;
  readonly runId: string;
  readonly sessionId?: string;
  /** Milliseconds since the epoch. */
  readonly timestamp: number;
  readonly data: HookData[T];
}

/** The answer of a hook; nothing is the same as `allow`, which objects to nothing and approves nothing. */
export type HookAnswer =
  | { readonly decision: 'allow'; readonly message?: string }
  | { readonly decision: 'deny'; readonly message?: string }
  /** Another input for the tool, or another prompt. */
  | { readonly decision: 'modify'; readonly message?: string; readonly modifiedInput: JsonObject | string };

// A hook that only looks returns nothing, and says so by this type.
// biome-ignore lint/suspicious/noConfusingVoidType: the return type of a function
type Answered = HookAnswer | undefined | void;

/** Functions of the caller, by the point at which they are called. */
export type RunHooks = { readonly [T in HookType]?: (call: HookCall<T>) => Answered | Promise<Answered> };

import type { Command, EventDraft, WaitingTool } from '../../../adapters/adapter.ts';
import { canonicalText } from '../../../base/canonical-json.ts';
import { isJsonObject, type Json, type JsonObject } from '../../../base/json.ts';
import { parseShallow } from '../../../base/json-limits.ts';
import type { AgentEvent } from '../../../contract/runs/event.ts';
import type { Deadlines } from '../process/deadlines.ts';
import { failed, type HookCalls } from './hook-calls.ts';
import { type OpenCall, OpenCalls } from './open-calls.ts';

/** The hook's verdict on one call, in the ways in which an agent can follow it. */
export type Verdict =
  | { readonly kind: 'pass' }
  | { readonly kind: 'deny'; readonly reason: string }
  | { readonly kind: 'change'; readonly input: JsonObject };

export interface WatchContext {
  readonly calls: HookCalls;
  /** Whether the agent can be given another input for a tool. */
  readonly takesInput: boolean;
  /** Silence is not counted while the hook decides. */
  readonly deadlines: Deadlines;
  tell(command: Command): boolean;
  emit(draft: EventDraft): void;
  remark(level: 'info' | 'warn', message: string): void;
}

const PASS: Verdict = { kind: 'pass' };

type Question = Extract<EventDraft, { type: 'approval_request' }>;

/** A call that the hook was shown. */
interface Shown extends OpenCall {
  readonly verdict: Promise<Verdict>;
  /** The verdict has reached the agent in time. */
  heeded: boolean;
}

interface Call {
  readonly toolCallId?: string | undefined;
  readonly toolName: string;
  readonly input: Json;
}

/** Shows every tool call to the hook, before it runs where the agent waits, and carries the verdict to the agent. */
export class ToolWatch {
  readonly #context: WatchContext;
  readonly #shown = new Map<string, Shown>();
  readonly #open = new OpenCalls<Shown>();
  /** Questions that are held back until the hook has decided. */
  readonly #held = new Set<string>();
  readonly #verdicts = new Map<string, Verdict>();
  /** The agent waits for answers in this run. */
  blocks = false;

  constructor(context: WatchContext) {
    this.#context = context;
  }

  heard(event: AgentEvent): void {
    if (!this.#context.calls.has('preToolUse')) return;
    if (event.type === 'tool_call_ready') this.#show(event, 'told');
    if (event.type === 'tool_result' || event.type === 'tool_error') this.#ended(event.toolCallId, event.toolName);
  }

  /** A tool waits for the hook and for nobody else. */
  waits(tool: WaitingTool): void {
    const shown = this.#show(tool, 'waits');
    void this.#decided(shown, tool).then((verdict) => {
      if (this.#context.tell(commandOf(tool.waitId, verdict))) this.#heed(shown, verdict);
    });
  }

  /** Whether the event is kept back: a question is asked when the hook has not denied it, and with the input that the hook leaves. */
  holds(draft: EventDraft): boolean {
    if (draft.type === 'approval_denied' || draft.type === 'approval_granted') this.#held.delete(draft.interactionId);
    if (draft.type !== 'approval_request' || !this.blocks || !this.#context.calls.has('preToolUse')) return false;
    const { interactionId } = draft;
    this.#held.add(interactionId);
    const call = callOf(draft);
    const shown = this.#show(call, 'asked');
    void this.#decided(shown, call).then((verdict) => {
      // The agent may have taken its question back.
      if (!this.#held.delete(interactionId)) return;
      this.#heed(shown, verdict);
      this.#verdicts.set(interactionId, verdict);
      this.#context.emit(verdict.kind === 'change' ? { ...draft, detail: JSON.stringify(verdict.input) } : draft);
    });
    return true;
  }

  /** The verdict on a question from before it was asked. */
  verdictOn(interactionId: string): Verdict | undefined {
    return this.#verdicts.get(interactionId);
  }

  /** The verdict is carried out; told once, although the agent may ask twice. */
  #heed(shown: Shown, verdict: Verdict): void {
    if (shown.heeded) return;
    shown.heeded = true;
    if (verdict.kind === 'deny') this.#context.remark('info', `the hook preToolUse denied ${shown.toolName}: ${verdict.reason}`);
    if (verdict.kind === 'change') this.#context.remark('info', `the hook preToolUse changed the input of ${shown.toolName}`);
  }

  #decided(shown: Shown, call: Call): Promise<Verdict> {
    return this.#unhurried(() => this.#verdictFor(shown, call));
  }

  /** Silence is not counted until the hook has decided. */
  async #unhurried(decide: () => Promise<Verdict>): Promise<Verdict> {
    this.#context.deadlines.hold();
    try {
      return await decide();
    } finally {
      this.#context.deadlines.release();
    }
  }

  /** A denial sticks, of whichever form of the call. What is asked about in other words than it was told is shown in those as well. */
  async #verdictFor(shown: Shown, call: Call): Promise<Verdict> {
    // A question that no call matches is about the one call that is open and was not asked about.
    const told = shown.told ? undefined : this.#open.onlyUnasked();
    if (told !== undefined) this.#open.mark(told, 'asked');
    const verdicts = await Promise.all([told?.verdict ?? PASS, shown.verdict]);
    if (told !== undefined) told.heeded = true;
    const first = verdicts.find(({ kind }) => kind === 'deny') ?? (await shown.verdict);
    const isSame = !isJsonObject(call.input) || canonicalText(call.input) === shown.words;
    return first.kind !== 'pass' || isSame ? first : await this.#ask(call);
  }

  /** The call as it was shown before, by whichever way the agent told of it first. */
  #show(call: Call, how: 'told' | 'asked' | 'waits'): Shown {
    const words = canonicalText(call.input);
    const mark = how === 'told' ? how : 'asked';
    // Questions may have ids of their own, so a call and its question also find each other by what they say.
    const alike = (): Shown | undefined => this.#open.without(mark, { toolName: call.toolName, words });
    const known = (call.toolCallId === undefined ? undefined : this.#shown.get(call.toolCallId)) ?? alike();
    const shown = known ?? this.#first(call, words);
    if (call.toolCallId !== undefined) this.#shown.set(call.toolCallId, shown);
    this.#open.mark(shown, mark);
    return shown;
  }

  #first(call: Call, words: string): Shown {
    // An agent that will wait for the verdict may tell of the call a moment before it asks: it is not silent meanwhile.
    const verdict = this.blocks ? this.#unhurried(() => this.#ask(call)) : this.#ask(call);
    const shown: Shown = { toolName: call.toolName, words, verdict, told: false, asked: false, heeded: false };
    this.#open.add(shown);
    return shown;
  }

  /** The call is over; a verdict that came too late, or that nobody waited for, was not honoured. */
  #ended(toolCallId: string, toolName: string): void {
    const shown = this.#shown.get(toolCallId);
    if (shown === undefined) return;
    this.#shown.delete(toolCallId);
    this.#open.remove(shown);
    void shown.verdict.then((verdict) => {
      if (shown.heeded || verdict.kind === 'pass') return;
      const wish = verdict.kind === 'deny' ? `denied ${toolName} (${verdict.reason})` : `changed the input of ${toolName}`;
      this.#context.remark('warn', `the hook preToolUse ${wish}, which is not honoured: the agent did not wait for it`);
    });
  }

  /** A hook that fails denies: what it would have said is not known. */
  async #ask({ toolCallId, toolName, input }: Call): Promise<Verdict> {
    const data = { toolName, input, ...(toolCallId !== undefined && { toolCallId }) };
    const answer = await this.#context.calls.ask('preToolUse', data).catch((error: unknown) => {
      const message = failed('preToolUse', error);
      this.#context.remark('warn', message);
      return { decision: 'deny', message } as const;
    });
    if (answer === undefined || answer.decision === 'allow') return PASS;
    if (answer.decision === 'deny') return { kind: 'deny', reason: answer.message ?? 'A hook of the caller denied this tool call.' };
    if (!this.#context.takesInput) return this.#unchangeable(`the input of ${toolName} cannot be changed for this agent`);
    if (!isJsonObject(answer.modifiedInput)) return this.#unchangeable(`the input that the hook gave for ${toolName} is no object`);
    return { kind: 'change', input: answer.modifiedInput };
  }

  /** A call that may not run as it is and cannot be changed does not run. */
  #unchangeable(reason: string): Verdict {
    this.#context.remark('warn', `the hook preToolUse said modify, which is not honoured: ${reason}; it counts as deny`);
    return { kind: 'deny', reason };
  }
}

function commandOf(waitId: string, verdict: Verdict): Command {
  if (verdict.kind === 'deny') return { kind: 'stop', waitId, reason: verdict.reason };
  return { kind: 'let', waitId, ...(verdict.kind === 'change' && { input: verdict.input }) };
}

/** The call that a question is about; some agents show its input as words only. */
function callOf({ toolCallId, toolName, action, detail }: Question): Call {
  const parsed = parseShallow(detail);
  return { toolCallId, toolName: toolName ?? action, input: parsed.ok ? parsed.value : detail };
}

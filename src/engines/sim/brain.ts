import { sha256 } from '../../base/canonical-json.ts';
import type { IrEvent } from '../../ir/event.ts';
import type { IrRequest } from '../../ir/request.ts';
import type { FinishReason } from '../../ir/response.ts';
import { countRequest, countTokens, cutToTokens } from '../../ir/token-estimate.ts';
import { NO_USAGE } from '../../ir/usage.ts';
import { answer } from './answer.ts';
import { FAILED_INSIDE, failure, OVERFLOW } from './failures.ts';
import type { PlannedCall, SimPlan, WholePart, Wrapping } from './plan.ts';
import type { Stage } from './stages.ts';
import { partEvents, stepsOf } from './stream.ts';
import { type Thought, thoughtFor } from './thinking.ts';
import { type Wonder, wonderParts } from './wonders.ts';

export type { SimPlan, SimStep } from './plan.ts';

/**
 * Plans the simulated model's answer: the same request always gives the same plan, streamed or not. The thinking part ends
 * with `meta.signature = { value }`, which a dialect carries as its own signature.
 */
export function think(request: IrRequest, dialect = 'claude'): SimPlan {
  const { text, calls, stage } = answer(request);
  const wrapping = wrappingOf(stage);
  if (stage.failStatus !== undefined) {
    const wait = stage.waitMs > 0 ? [{ kind: 'wait', ms: stage.waitMs } as const] : [];
    return { steps: [...wait, { kind: 'fail', error: failure(stage.failStatus) }], wrapping };
  }
  if (stage.troubles.has('overflow')) return { steps: [{ kind: 'fail', error: OVERFLOW }], wrapping };
  if (stage.troubles.has('failed-status')) return { steps: [{ kind: 'fail-inside', error: FAILED_INSIDE }], wrapping };
  const seed = seedOf(request);
  const thought = thoughtFor(request, seed);
  const kept = withinLimits(request, { text, calls, spent: thought?.tokens ?? 0 });
  const shown = stage.wonders.flatMap((wonder) => wonderParts(wonder, dialect) ?? [missing(wonder, dialect)]);
  const spoken = stage.troubles.has('refuse') ? [REFUSAL] : shown.length > 0 && stage.say === undefined ? [] : textParts(kept.text);
  const made = kept.calls.map((call, at) => callPart(call, seed, at));
  const parts = [...thoughtParts(thought), ...shown, ...spoken, ...made];
  const usage = { ...NO_USAGE, inputTokens: countRequest(request), webSearchRequests: stage.wonders.includes('search') ? 1 : 0 };
  const events: IrEvent[] = [
    { type: 'message-start', id: `msg_${seed.slice(0, 24)}`, model: request.model, usage },
    ...partEvents(parts),
    {
      type: 'message-end',
      finish: finishOf(stage, kept.finish, request),
      ...(kept.stopSequence === undefined ? {} : { stopSequence: kept.stopSequence }),
      usage: { ...usage, outputTokens: kept.tokens, thinkingTokens: thought?.tokens ?? 0 },
    },
  ];
  return { steps: stepsOf(events, stage), wrapping };
}

function wrappingOf({ troubles }: Stage): Wrapping {
  return { gzip: troubles.has('gzip'), mark: troubles.has('byte-order-mark'), page: troubles.has('html') };
}

const REFUSAL: WholePart = { start: { kind: 'refusal' }, text: 'sim refuses, as it was asked to' };

/** The sentence was understood, but the vendor of this dialect has no such thing. */
function missing(wonder: Wonder, dialect: string): WholePart {
  return { start: { kind: 'text' }, text: `answers of ${dialect} hold no ${wonder === 'document' ? 'document citation' : wonder}` };
}

function finishOf({ troubles, cutCall }: Stage, finish: FinishReason, { messages }: IrRequest): FinishReason {
  // A turn that was paused comes back as the last words of the conversation, and goes on.
  const goesOn = messages.at(-1)?.role === 'assistant';
  if (troubles.has('pause-always') || (troubles.has('pause') && !goesOn)) return 'pause';
  if (troubles.has('refuse')) return 'refusal';
  return cutCall === true ? 'length' : finish;
}

/** As much of a conversation tells it apart from itself at any other moment. */
const SEED_MESSAGES = 8;

/** How the answer is transported does not change it. A conversation counts by its length and its end, however long it is. */
function seedOf({ messages, ...request }: IrRequest): string {
  const end = messages.slice(-SEED_MESSAGES);
  return sha256(JSON.stringify({ ...request, stream: undefined, includeUsage: undefined, length: messages.length, end }));
}

interface Draft {
  readonly text: string;
  readonly calls: readonly PlannedCall[];
  readonly spent: number;
}

interface Kept {
  readonly text: string;
  readonly calls: readonly PlannedCall[];
  readonly finish: FinishReason;
  readonly stopSequence?: string;
  readonly tokens: number;
}

/** Applies stop sequences, then the token limit. A call that does not fit is left out whole: half of its arguments would be no JSON. */
function withinLimits(request: IrRequest, draft: Draft): Kept {
  const stopped = stopAt(draft.text, request.stop);
  const room = request.maxTokens === undefined ? Number.POSITIVE_INFINITY : request.maxTokens - draft.spent;
  const text = Number.isFinite(room) ? cutToTokens(stopped.text, room) : stopped.text;
  const spentOnText = draft.spent + countTokens(text);
  if (text !== stopped.text) return { text, calls: [], finish: 'length', tokens: spentOnText };
  if (stopped.sequence !== undefined) {
    return { text, calls: [], finish: 'stop-sequence', stopSequence: stopped.sequence, tokens: spentOnText };
  }
  const { calls, tokens } = fittingCalls(draft.calls, spentOnText, request.maxTokens ?? Number.POSITIVE_INFINITY);
  if (calls.length > 0) return { text, calls, finish: 'tool-calls', tokens };
  return { text, calls, finish: draft.calls.length > 0 ? 'length' : 'stop', tokens };
}

function fittingCalls(calls: readonly PlannedCall[], spent: number, limit: number): { calls: readonly PlannedCall[]; tokens: number } {
  let tokens = spent;
  for (const [at, call] of calls.entries()) {
    const cost = countTokens(call.name + call.arguments);
    if (tokens + cost > limit) return { calls: calls.slice(0, at), tokens };
    tokens += cost;
  }
  return { calls, tokens };
}

function stopAt(text: string, stops: readonly string[]): { text: string; sequence?: string } {
  let first: { text: string; sequence?: string } = { text };
  for (const sequence of stops) {
    const at = sequence === '' ? -1 : text.indexOf(sequence);
    if (at !== -1 && (first.sequence === undefined || at < first.text.length)) first = { text: text.slice(0, at), sequence };
  }
  return first;
}

function thoughtParts(thought: Thought | undefined): WholePart[] {
  if (thought === undefined) return [];
  return [{ start: { kind: 'thinking' }, text: thought.text, endMeta: { signature: { value: thought.signature } } }];
}

function textParts(text: string): WholePart[] {
  return text === '' ? [] : [{ start: { kind: 'text' }, text }];
}

function callPart(call: PlannedCall, seed: string, at: number): WholePart {
  const id = `call_${sha256(`${seed}:${at}`).slice(0, 24)}`;
  return { start: { kind: 'tool-call', id, name: call.name, ...(call.custom ? { custom: true } : {}) }, text: call.arguments };
}

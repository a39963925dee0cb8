import { type Clock, systemClock } from '../../base/clock.ts';
import type { JsonObject } from '../../base/json.ts';
import { parseShallowObject } from '../../base/json-limits.ts';
import type { Dialogue, EventDraft, Heard, ProcessExit, SpawnPlan } from '../adapter.ts';
import { RunAccount, type Voice } from '../families/jsonl/account.ts';
import { countAt, listAt, numberAt, objectAt, textAt } from '../families/lines/fields.ts';

const VOICE: Voice = {
  guidance: 'Run `openclaw onboard`, or set the API key variable of the provider.',
  tools: { mcp: () => undefined, effects: {} },
};

const WHOLE = 'the agent prints one object when it is done';

/** The agent prints one object over many lines, and nothing before it; log lines that slip in stand before its first brace. */
class Envelope {
  readonly #lines: string[] = [];
  #parsed = false;

  /** The object, once its last line is in. */
  take(line: string): JsonObject | undefined {
    if (this.#lines.length === 0 && !line.startsWith('{')) return undefined;
    this.#lines.push(line);
    if (!line.endsWith('}')) return undefined;
    const value = parseShallowObject(this.#lines.join('\n'));
    if (value !== undefined) this.#parsed = true;
    return value;
  }

  get isOpen(): boolean {
    return this.#lines.length > 0 && !this.#parsed;
  }
}

export function dialogue(plan: SpawnPlan, clock: Clock = systemClock): Dialogue {
  const account = new RunAccount(plan, VOICE, clock);
  const envelope = new Envelope();
  return {
    begin: () => [],
    line: (line) => hear(account, envelope, line),
    say: () => undefined,
    end: (exit) => end(account, envelope, exit),
  };
}

function hear(account: RunAccount, envelope: Envelope, line: string): Heard {
  const value = envelope.take(line);
  if (value !== undefined) return { events: read(account, value) };
  return { events: envelope.isOpen || line.trim() === '' ? [] : [{ type: 'log', source: 'stdout', line }] };
}

/** The envelope of `agent exec`; that of `agent --local` has the same under `meta.agentMeta`. */
function read(account: RunAccount, value: JsonObject): readonly EventDraft[] {
  const meta = objectAt(value.meta);
  const stats = { ...objectAt(meta.agentMeta), ...value };
  const fallbacks = (['text', 'thinking', 'tool_calls'] as const).map(
    (capability): EventDraft => ({ type: 'stream_fallback', capability, reason: WHOLE }),
  );
  const text = textAt(value.final) ?? textAt(meta.finalAssistantVisibleText) ?? payloadText(value);
  account.answered = value.ok !== false && meta.aborted !== true;
  if (!account.answered) account.fail(failureOf(value));
  const events = [
    ...account.begun(textAt(stats.sessionId)),
    ...fallbacks,
    ...account.turnStarts(),
    ...toolRemark(objectAt(value.toolSummary ?? meta.toolSummary)),
    ...(account.answered ? [...account.spoken.text(text), ...account.spoken.endText()] : []),
    ...used(account, objectAt(stats.usage), numberAt(stats.costUsd)),
    ...account.turnEnds(),
  ];
  account.turns = countAt(stats.assistantTurns) ?? account.turns;
  return events;
}

function payloadText(value: JsonObject): string {
  return listAt(value.payloads)
    .flatMap((payload) => textAt(objectAt(payload).text) ?? [])
    .join('\n');
}

function failureOf(value: JsonObject): { readonly message: string } {
  const error = objectAt(value.error);
  return { message: textAt(error.message) ?? (value.status === 'timeout' ? 'the agent ran out of time' : 'the agent failed') };
}

/** Calls are told as a sum; there is nothing to make single events of. */
function toolRemark(summary: JsonObject): readonly EventDraft[] {
  const calls = countAt(summary.calls) ?? 0;
  if (calls === 0) return [];
  const message = `tools used: ${listAt(summary.tools).join(', ')} (calls: ${calls}, failed: ${countAt(summary.failures) ?? 0})`;
  return [{ type: 'debug', level: 'info', message }];
}

function used(account: RunAccount, usage: JsonObject, costUsd: number | undefined): readonly EventDraft[] {
  const inputTokens = countAt(usage.input);
  const outputTokens = countAt(usage.output);
  if (inputTokens === undefined || outputTokens === undefined) return [];
  const thinkingTokens = countAt(usage.reasoningTokens);
  return account.spending.add({
    inputTokens,
    outputTokens,
    cacheReadTokens: countAt(usage.cacheRead) ?? 0,
    cacheWriteTokens: countAt(usage.cacheWrite) ?? 0,
    ...(thinkingTokens !== undefined && { thinkingTokens }),
    ...(costUsd !== undefined && { usd: costUsd }),
  });
}

function end(account: RunAccount, envelope: Envelope, exit: ProcessExit): ReturnType<Dialogue['end']> {
  if (envelope.isOpen) account.fail({ message: 'the output of the agent ended in the middle of its answer' });
  return account.close(exit);
}

import type { Json, JsonObject } from '../../base/json.ts';
import type { EventDraft } from '../adapter.ts';
import type { RunAccount } from '../families/jsonl/account.ts';
import { countAt, listAt, numberAt, objectAt, textAt } from '../families/lines/fields.ts';
import { textOfContent } from '../families/tools/effects.ts';

/** Claude Code tells the model in these words, older and newer, that a tool was not allowed. */
const REFUSALS = /^(?:Claude requested permissions? to|Permission to use|This command requires approval)/;

/** Gathers the lines of one run of Claude Code and makes events of them. */
export class ClaudeReader {
  readonly run: RunAccount;
  /** The caller has interrupted the agent. */
  interrupted = false;
  /** Messages that were sent after the prompt and have not come back yet. */
  unread = 0;
  /** The version sends messages back. */
  #replays = false;
  /** Tools run as soon as they are called: nobody is asked first. */
  readonly #free: boolean;
  #message: string | undefined;
  /** Messages whose pieces came one by one: their blocks come again as a whole. */
  readonly #streamed = new Set<string>();
  /** Calls by their place in the message under way. */
  readonly #places = new Map<number, string>();
  #usage: JsonObject = {};
  #counted = false;
  /** Calls that were not allowed, and for which that has been said. */
  readonly #refused = new Set<string>();

  constructor(run: RunAccount, free: boolean) {
    this.run = run;
    this.#free = free;
  }

  /** One event of the model's own stream. Those of sub-agents are not the answer of this run. */
  streamed(event: JsonObject): readonly EventDraft[] {
    const place = countAt(event.index) ?? -1;
    switch (event.type) {
      case 'message_start':
        return this.#messageStarts(objectAt(event.message));
      case 'content_block_start':
        return this.#blockStarts(place, objectAt(event.content_block));
      case 'content_block_delta':
        return this.#piece(place, objectAt(event.delta));
      case 'content_block_stop':
        return this.run.spoken.end();
      case 'message_delta':
        this.#usage = { ...this.#usage, ...objectAt(event.usage) };
        return [];
      case 'message_stop':
        return [...this.run.spoken.end(), ...this.#used(this.#usage)];
      default:
        return [];
    }
  }

  #messageStarts(message: JsonObject): readonly EventDraft[] {
    const id = textAt(message.id) ?? '';
    this.#streamed.add(id);
    this.#message = id;
    this.#places.clear();
    this.#usage = objectAt(message.usage);
    return this.run.turnStarts();
  }

  #blockStarts(place: number, block: JsonObject): readonly EventDraft[] {
    if (block.type !== 'tool_use' && block.type !== 'server_tool_use') return [];
    const id = textAt(block.id) ?? '';
    this.#places.set(place, id);
    return [...this.run.spoken.end(), ...this.run.calls.start(id, textAt(block.name) ?? '')];
  }

  #piece(place: number, delta: JsonObject): readonly EventDraft[] {
    if (delta.type === 'text_delta') return this.run.spoken.text(textAt(delta.text) ?? '');
    if (delta.type === 'thinking_delta') return this.run.spoken.thinking(textAt(delta.thinking) ?? '');
    return delta.type === 'input_json_delta' ? this.run.calls.piece(this.#places.get(place) ?? '', textAt(delta.partial_json) ?? '') : [];
  }

  /** One block of an answer as a whole. One message comes as several lines, one for each block. */
  answer(message: JsonObject): readonly EventDraft[] {
    const id = textAt(message.id) ?? '';
    const opening = this.#message === id ? [] : this.run.turnStarts();
    this.#message = id;
    return [...opening, ...listAt(message.content).flatMap((block) => this.#block(objectAt(block), this.#streamed.has(id)))];
  }

  #block(block: JsonObject, streamed: boolean): readonly EventDraft[] {
    switch (block.type) {
      case 'text':
        return streamed ? [] : [...this.run.spoken.text(textAt(block.text) ?? ''), ...this.run.spoken.endText()];
      case 'thinking':
        return streamed ? [] : [...this.run.spoken.thinking(textAt(block.thinking) ?? ''), ...this.run.spoken.endThinking()];
      case 'tool_use':
      case 'server_tool_use':
        return this.#called(textAt(block.id) ?? '', textAt(block.name) ?? '', block.input ?? {});
      default:
        // The result of a tool that the vendor runs stands in the answer itself.
        return textAt(block.tool_use_id) === undefined ? [] : this.#serverResult(block);
    }
  }

  #called(id: string, name: string, input: Json): readonly EventDraft[] {
    const made = this.#free ? this.run.calls.run(id, name, input) : this.run.calls.ready(id, name, input);
    const skillName = name === 'Skill' ? (textAt(objectAt(input).skill) ?? textAt(objectAt(input).command)) : undefined;
    return [...this.run.spoken.end(), ...made, ...(skillName === undefined ? [] : [{ type: 'skill_invoked' as const, skillName }])];
  }

  #serverResult(block: JsonObject): readonly EventDraft[] {
    const id = textAt(block.tool_use_id) ?? '';
    const code = textAt(objectAt(block.content).error_code);
    return this.run.calls.end(id, '', { failed: code !== undefined, text: code ?? JSON.stringify(block.content ?? '') });
  }

  /** The calls of a sub-agent are calls of the run; what it says comes back as the result of the call that started it. */
  subagent(message: JsonObject): readonly EventDraft[] {
    return listAt(message.content)
      .map(objectAt)
      .filter(({ type }) => type === 'tool_use')
      .flatMap((block) => this.#called(textAt(block.id) ?? '', textAt(block.name) ?? '', block.input ?? {}));
  }

  /** A message of ours came back: the model gets it now. */
  replayed(): void {
    if (this.#replays) this.unread = Math.max(0, this.unread - 1);
    this.#replays = true;
  }

  /** Whether the agent goes on after its answer, with a message that it has not read yet. */
  get goesOn(): boolean {
    return this.#replays && this.unread > 0;
  }

  /** Results of tools; `details` is the agent's own record of the one result in the line. */
  results(message: JsonObject, details: JsonObject): readonly EventDraft[] {
    return listAt(message.content)
      .map(objectAt)
      .filter(({ type }) => type === 'tool_result')
      .flatMap((block) => this.#result(block, details));
  }

  #result(block: JsonObject, details: JsonObject): readonly EventDraft[] {
    const id = textAt(block.tool_use_id) ?? '';
    const failed = block.is_error === true;
    const text = textOfContent(block.content);
    const denied = failed && REFUSALS.test(text) ? this.denied(id, text) : [];
    if (this.#refused.has(id)) return [...denied, ...this.run.calls.refused(id, '', text)];
    const exit = /^Exit code (\d+)/.exec(text)?.[1];
    const diff = unifiedDiff(details);
    return this.run.calls.end(id, '', {
      failed,
      text,
      created: details.type === 'create',
      ...(exit !== undefined && { exitCode: Number(exit) }),
      ...(diff !== undefined && { diff }),
    });
  }

  /** The agent did not allow a call, by its rules or because nobody could be asked. */
  denied(id: string, reason: string): readonly EventDraft[] {
    if (this.#refused.has(id)) return [];
    this.#refused.add(id);
    return [{ type: 'approval_denied', interactionId: id, reason }];
  }

  /** The caller did not allow a call, which is known already. */
  refuse(id: string): void {
    this.#refused.add(id);
  }

  /** Denials that the agent lists at the end and has not told before. */
  denials(list: Json | undefined): readonly EventDraft[] {
    return listAt(list)
      .map(objectAt)
      .flatMap((row) => this.denied(textAt(row.tool_use_id) ?? '', `${textAt(row.tool_name) ?? ''} was not allowed`));
  }

  /** Counts of one model call. The agent's counts leave out what came from a cache; ours hold everything the model read. */
  #used(usage: JsonObject): readonly EventDraft[] {
    const cacheReadTokens = countAt(usage.cache_read_input_tokens) ?? 0;
    const cacheWriteTokens = countAt(usage.cache_creation_input_tokens) ?? 0;
    const inputTokens = (countAt(usage.input_tokens) ?? 0) + cacheReadTokens + cacheWriteTokens;
    const outputTokens = countAt(usage.output_tokens) ?? 0;
    const thinkingTokens = countAt(objectAt(usage.output_tokens_details).thinking_tokens);
    if (inputTokens + outputTokens === 0) return [];
    this.#counted = true;
    const thought = thinkingTokens === undefined ? {} : { thinkingTokens };
    return this.run.spending.add({ inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, ...thought });
  }

  /** The totals of the last line: tokens only where no call has told its own. */
  totals(line: JsonObject): readonly EventDraft[] {
    const tokens = this.#counted ? [] : this.#used(objectAt(line.usage));
    const models = Object.values(objectAt(line.modelUsage)).map(objectAt);
    const sum = (...names: readonly string[]) =>
      models.reduce((all, row) => all + names.reduce((n, name) => n + (countAt(row[name]) ?? 0), 0), 0);
    const cacheReadTokens = sum('cacheReadInputTokens');
    const cost = this.run.spending.stands({
      totalUsd: numberAt(line.total_cost_usd) ?? 0,
      inputTokens: sum('inputTokens', 'cacheReadInputTokens', 'cacheCreationInputTokens'),
      outputTokens: sum('outputTokens'),
      cachedTokens: cacheReadTokens,
      cacheReadTokens,
      cacheCreationTokens: sum('cacheCreationInputTokens'),
    });
    return [...tokens, ...cost];
  }
}

/** The agent's own record of an edit as a unified diff; undefined when the result is not an edit. */
function unifiedDiff(details: JsonObject): string | undefined {
  const hunks = listAt(details.structuredPatch).map(objectAt);
  return hunks.length === 0 ? undefined : hunks.map(hunkText).join('');
}

function hunkText(hunk: JsonObject): string {
  const range = (mark: string, start: number | undefined, lines: number | undefined) => `${mark}${start ?? 0},${lines ?? 0}`;
  const head = `@@ ${range('-', countAt(hunk.oldStart), countAt(hunk.oldLines))} ${range('+', countAt(hunk.newStart), countAt(hunk.newLines))} @@`;
  return `${[head, ...listAt(hunk.lines).map((line) => textAt(line) ?? '')].join('\n')}\n`;
}

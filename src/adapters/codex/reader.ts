import type { JsonObject } from '../../base/json.ts';
import type { EventDraft } from '../adapter.ts';
import type { RunAccount } from '../families/jsonl/account.ts';
import { embeddedError } from '../families/jsonl/embedded-error.ts';
import type { Failure } from '../families/lines/failure.ts';
import { statusIn } from '../families/lines/failure.ts';
import { countAt, listAt, objectAt, textAt } from '../families/lines/fields.ts';
import { textOfContent } from '../families/tools/effects.ts';
import { callEnds, itemStarts } from './items.ts';
import { endOf, type WrittenCall, writtenCall } from './written-call.ts';

/** Gathers the lines of one run of Codex and makes events of them. */
export class CodexReader {
  readonly run: RunAccount;
  threadId: string | undefined;
  turnId: string | undefined;
  readonly #free: boolean;
  /** Items whose text came in pieces. */
  readonly #streamed = new Set<string>();
  /** Calls that an item tells of. */
  readonly #told = new Set<string>();
  /** Calls of the model as it wrote them. */
  readonly #written = new Map<string, WrittenCall>();
  readonly #changes = new Map<string, readonly string[]>();
  /** Output of running commands so far, by call: Codex tells it in pieces. */
  readonly #printed = new Map<string, string>();

  constructor(run: RunAccount, free: boolean) {
    this.run = run;
    this.#free = free;
  }

  turnStarts(turn: JsonObject): readonly EventDraft[] {
    this.turnId = textAt(turn.id);
    return [];
  }

  itemStarts(item: JsonObject): readonly EventDraft[] {
    if (item.type === 'userMessage') return [];
    const id = textAt(item.id) ?? '';
    this.#told.add(id);
    if (item.type === 'fileChange')
      this.#changes.set(
        id,
        listAt(item.changes).map((change) => textAt(objectAt(change).path) ?? ''),
      );
    return [...this.run.inTurn(), ...itemStarts(this.run, item, this.#free)];
  }

  /** The files of a change that waits for an approval; the question itself does not name them. */
  changesOf({ itemId }: JsonObject): readonly string[] {
    return this.#changes.get(textAt(itemId) ?? '') ?? [];
  }

  text(id: string, delta: string): readonly EventDraft[] {
    this.#streamed.add(id);
    return this.run.spoken.text(delta);
  }

  thinking(id: string, delta: string): readonly EventDraft[] {
    this.#streamed.add(id);
    return this.run.spoken.thinking(delta);
  }

  /** A summary comes in parts, with nothing between them. */
  thinkingPart(id: string): readonly EventDraft[] {
    return this.#streamed.has(id) ? this.run.spoken.thinking('\n\n') : [];
  }

  prints(id: string, delta: string): readonly EventDraft[] {
    const printed = (this.#printed.get(id) ?? '') + delta;
    this.#printed.set(id, printed);
    return this.run.calls.printed(id, printed);
  }

  itemEnds(item: JsonObject): readonly EventDraft[] {
    const id = textAt(item.id) ?? '';
    const { spoken } = this.run;
    switch (item.type) {
      case 'agentMessage':
        return [...(this.#streamed.has(id) ? [] : spoken.text(textAt(item.text) ?? '')), ...spoken.endText()];
      case 'reasoning':
        return [...(this.#streamed.has(id) ? [] : spoken.thinking(thoughtOf(item))), ...spoken.endThinking()];
      case 'contextCompaction':
        return [{ type: 'context_compacted', summary: '', tokensSaved: 0 }];
      case 'imageGeneration':
        return imageOf(item);
      default:
        return callEnds(this.run, item);
    }
  }

  /**
   * Items of the conversation as the model wrote and read them. We need them where no item tells of a call: tools without a trace, and
   * commands that the sandbox ended before they began.
   */
  raw(item: JsonObject): readonly EventDraft[] {
    const id = textAt(item.call_id) ?? '';
    const written = writtenCall(item);
    if (written !== undefined) this.#written.set(id, written);
    const call = this.#written.get(id);
    if (call === undefined || item.output === undefined || this.#told.has(id)) return [];
    const text = textAt(item.output) ?? textOfContent(item.output);
    return [
      ...this.run.inTurn(),
      ...this.run.spoken.end(),
      ...this.run.calls.ready(id, call.name, call.input),
      ...this.run.calls.end(id, call.name, endOf(text)),
    ];
  }

  /** The agent tells its counts after each model call, when the tools of that answer have run. */
  used({ last }: JsonObject): readonly EventDraft[] {
    const usage = objectAt(last);
    const tokens = this.run.spending.add({
      inputTokens: countAt(usage.inputTokens) ?? 0,
      outputTokens: countAt(usage.outputTokens) ?? 0,
      thinkingTokens: countAt(usage.reasoningOutputTokens) ?? 0,
      cacheReadTokens: countAt(usage.cachedInputTokens) ?? 0,
      cacheWriteTokens: countAt(usage.cacheWriteInputTokens) ?? 0,
    });
    return [...tokens, ...this.run.turnEnds()];
  }

  /** An error of a model call, which the agent may try to get over by itself. */
  erred(params: JsonObject): readonly EventDraft[] {
    const failure = failureOf(objectAt(params.error));
    if (params.willRetry !== true) {
      this.run.fail(failure);
      return [];
    }
    const [, attempt = '1', maxAttempts = '1'] = /(?<!\d)(\d+)\/(\d+)/.exec(failure.message) ?? [];
    const limited: readonly EventDraft[] = failure.status === 429 ? [{ type: 'rate_limited' }] : [];
    const counts = { attempt: Number(attempt), maxAttempts: Number(maxAttempts) };
    return [...limited, { type: 'retry', ...counts, reason: failure.message, delayMs: 0 }];
  }

  turnEnds(turn: JsonObject): readonly EventDraft[] {
    this.run.answered = true;
    this.turnId = undefined;
    this.run.limit = undefined;
    if (turn.status === 'completed') this.run.failure = undefined;
    if (turn.status === 'failed') this.run.fail(failureOf(objectAt(turn.error)));
    if (turn.status !== 'interrupted') return this.run.turnEnds();
    this.run.limit = 'interrupted';
    return [...this.run.turnEnds(), { type: 'interrupted' }];
  }
}

function thoughtOf(item: JsonObject): string {
  const parts = [...listAt(item.summary), ...listAt(item.content)];
  return parts.map((part) => textAt(part) ?? '').join('\n\n');
}

function imageOf(item: JsonObject): readonly EventDraft[] {
  const base64 = textAt(item.result);
  const filePath = textAt(item.savedPath);
  return [{ type: 'image_output', mimeType: 'image/png', ...(base64 && { base64 }), ...(filePath !== undefined && { filePath }) }];
}

const STATUS_OF: Readonly<Record<string, number>> = {
  unauthorized: 401,
  rateLimitExceeded: 429,
  usageLimitExceeded: 429,
  serverOverloaded: 529,
};

/** The kind of an error is a word, or an object of one member that may hold the HTTP status. */
function failureOf(error: JsonObject): Failure {
  const details = textAt(error.additionalDetails);
  const said = [textAt(error.message) ?? 'the turn failed', ...(details === undefined ? [] : [details])].join(': ');
  const { message } = embeddedError(said);
  const { codexErrorInfo: info } = error;
  if (info === 'contextWindowExceeded') return { message: `context window exceeded: ${message}` };
  const [inner] = Object.values(objectAt(info));
  const status = STATUS_OF[textAt(info) ?? ''] ?? countAt(objectAt(inner).httpStatusCode) ?? statusIn(said);
  return status === undefined ? { message } : { message, status };
}

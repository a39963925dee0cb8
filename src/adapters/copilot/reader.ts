import type { JsonObject } from '../../base/json.ts';
import type { EventDraft } from '../adapter.ts';
import type { RunAccount } from '../families/jsonl/account.ts';
import { embeddedError } from '../families/jsonl/embedded-error.ts';
import { countAt, listAt, objectAt, textAt } from '../families/lines/fields.ts';

/** The agent writes the exit code of a command under its output. */
const SHELL_END = /\n?<(?:shellId: \S+ )?(?:completed|exited) with exit code (\d+)>\s*$/;

/** Gathers the lines of one run of Copilot CLI and makes events of them. */
export class CopilotReader {
  readonly run: RunAccount;
  /** The message in hand has said its text, or its thoughts, in pieces. */
  #said = false;
  #thought = false;
  /** Output of running commands so far, by call: Copilot tells it in pieces. */
  readonly #printed = new Map<string, string>();
  #lastStatus: number | undefined;
  #retries = 0;

  constructor(run: RunAccount) {
    this.run = run;
  }

  text(data: JsonObject): readonly EventDraft[] {
    this.#said = true;
    return this.run.spoken.text(textAt(data.deltaContent) ?? '');
  }

  thinking(data: JsonObject): readonly EventDraft[] {
    this.#thought = true;
    return this.run.spoken.thinking(textAt(data.deltaContent) ?? '');
  }

  callPiece(data: JsonObject): readonly EventDraft[] {
    const id = textAt(data.toolCallId) ?? '';
    const started = this.run.calls.start(id, textAt(data.toolName) ?? '');
    return [...this.run.spoken.end(), ...started, ...this.run.calls.piece(id, textAt(data.inputDelta) ?? '')];
  }

  /** The whole of an answer. Its thoughts follow once more in a line of their own. */
  message(data: JsonObject): readonly EventDraft[] {
    const { spoken, calls } = this.run;
    const thoughts = this.#thought ? [] : spoken.thinking(textAt(data.reasoningText) ?? '');
    const text = this.#said ? [] : spoken.text(textAt(data.content) ?? '');
    const requests = listAt(data.toolRequests).map(objectAt);
    const ready = requests.flatMap((request) =>
      calls.ready(textAt(request.toolCallId) ?? '', textAt(request.name) ?? '', request.arguments ?? {}),
    );
    this.#said = false;
    this.#thought = true;
    this.#retries = 0;
    return [...thoughts, ...text, ...spoken.end(), ...ready];
  }

  thought(data: JsonObject): readonly EventDraft[] {
    const told = this.#thought;
    this.#thought = false;
    return told ? [] : [...this.run.spoken.thinking(textAt(data.content) ?? ''), ...this.run.spoken.endThinking()];
  }

  used(data: JsonObject): readonly EventDraft[] {
    const cacheReadTokens = countAt(data.cacheReadTokens) ?? 0;
    return this.run.spending.add({
      inputTokens: countAt(data.inputTokens) ?? 0,
      outputTokens: countAt(data.outputTokens) ?? 0,
      cacheReadTokens,
      cacheWriteTokens: countAt(data.cacheWriteTokens) ?? 0,
    });
  }

  callFailed(data: JsonObject): readonly EventDraft[] {
    this.#lastStatus = countAt(data.statusCode);
    const { message } = embeddedError(textAt(data.errorMessage) ?? '');
    this.run.fail({ message, ...(this.#lastStatus !== undefined && { status: this.#lastStatus }) });
    return [];
  }

  /** The agent goes on by itself; how often it will try is not told. */
  retries(data: JsonObject): readonly EventDraft[] {
    this.#retries += 1;
    this.run.failure = undefined;
    const limited: readonly EventDraft[] = this.#lastStatus === 429 ? [{ type: 'rate_limited' }] : [];
    const reason = textAt(data.reason) ?? 'the model call failed';
    return [...limited, { type: 'retry', attempt: this.#retries, maxAttempts: this.#retries, reason, delayMs: 0 }];
  }

  callRuns(data: JsonObject): readonly EventDraft[] {
    const id = textAt(data.toolCallId) ?? '';
    return [...this.run.spoken.end(), ...this.run.calls.run(id, textAt(data.toolName) ?? '', data.arguments ?? {})];
  }

  callPrints(data: JsonObject): readonly EventDraft[] {
    const id = textAt(data.toolCallId) ?? '';
    const delta = textAt(data.text) ?? '';
    const printed = (this.#printed.get(id) ?? '') + delta;
    this.#printed.set(id, printed);
    // Both streams are in the result, so both count as printed.
    const events = this.run.calls.printed(id, printed);
    return data.stream === 'stderr' && events.length > 0 ? [{ type: 'shell_stderr_delta', delta }] : events;
  }

  callEnds(data: JsonObject): readonly EventDraft[] {
    const id = textAt(data.toolCallId) ?? '';
    const result = objectAt(data.result);
    const error = objectAt(data.error);
    const failed = data.success !== true;
    const said = failed ? (textAt(error.message) ?? '') : (textAt(result.content) ?? '');
    const [ending = '', exit] = SHELL_END.exec(said) ?? [];
    const text = said.slice(0, said.length - ending.length);
    const diff = textAt(result.detailedContent);
    const created = listAt(data.fileEdits).some((edit) => objectAt(edit).kind === 'create');
    const end = { failed, text, created, ...(diff !== undefined && { diff }), ...(exit !== undefined && { exitCode: Number(exit) }) };
    if (error.code !== 'denied') return this.run.calls.end(id, '', end);
    return [{ type: 'approval_denied', interactionId: id, reason: text }, ...this.run.calls.refused(id, '', text)];
  }

  failed(data: JsonObject): readonly EventDraft[] {
    const status = countAt(data.statusCode);
    this.run.fail({ message: textAt(data.message) ?? 'the agent failed', ...(status !== undefined && { status }) });
    return [];
  }

  compacted(data: JsonObject): readonly EventDraft[] {
    const saved = (countAt(data.preCompactionTokens) ?? 0) - (countAt(data.postCompactionTokens) ?? 0);
    return [{ type: 'context_compacted', summary: textAt(data.summaryContent) ?? '', tokensSaved: Math.max(0, saved) }];
  }

  /** The agent was told to stop; its last line then says that all went well. */
  aborted(): readonly EventDraft[] {
    this.run.limit = 'interrupted';
    return [{ type: 'interrupted' }];
  }

  result(line: JsonObject): readonly EventDraft[] {
    const begun = this.run.begun(textAt(line.sessionId));
    this.run.answered = true;
    if (line.exitCode === 0) this.run.failure = undefined;
    else if (this.run.failure === undefined) this.run.fail({ message: `the agent ended with exit code ${countAt(line.exitCode) ?? '?'}` });
    return [...begun, ...this.run.turnEnds()];
  }
}

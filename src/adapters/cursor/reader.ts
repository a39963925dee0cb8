import type { JsonObject } from '../../base/json.ts';
import type { EventDraft } from '../adapter.ts';
import type { RunAccount } from '../families/jsonl/account.ts';
import { countAt, objectAt, textAt } from '../families/lines/fields.ts';
import { textOfContent } from '../families/tools/effects.ts';
import { callIn, endOf, refusalIn } from './results.ts';

/** Gathers the lines of one run of Cursor and makes events of them. */
export class CursorReader {
  readonly run: RunAccount;
  /** Tools run as soon as they are called: nobody is asked first. */
  readonly #free: boolean;
  /** All text of the run, and that of the answer under way. */
  #told = '';
  #answer = '';
  /** Text has come in pieces: whole messages only repeat them. */
  #inPieces = false;
  #modelCall: string | undefined;
  /** A tool has returned, so what the model says next is its next answer. */
  #returned = false;

  constructor(run: RunAccount, free: boolean) {
    this.run = run;
    this.#free = free;
  }

  thinks(line: JsonObject): readonly EventDraft[] {
    const delta = textAt(line.text) ?? '';
    return delta === '' ? [] : [...this.#turn(line), ...this.run.spoken.thinking(delta)];
  }

  /** A piece has a time and no model call. Each run of pieces is followed by the whole of it, with the model call or without a time. */
  says(line: JsonObject): readonly EventDraft[] {
    const text = textOfContent(objectAt(line.message).content);
    const isPiece = countAt(line.timestamp_ms) !== undefined && line.model_call_id === undefined;
    if (!isPiece) return [...this.#tell(line, this.#unsaid(text)), ...this.run.spoken.endText()];
    this.#inPieces = true;
    return this.#tell(line, text);
  }

  /** The end of a whole message that its pieces have not told yet. */
  #unsaid(text: string): string {
    if (!this.#inPieces) return text;
    if (this.#answer !== '') return text.startsWith(this.#answer) ? text.slice(this.#answer.length) : '';
    return this.#told.endsWith(text) ? '' : text;
  }

  #tell(line: JsonObject, text: string): readonly EventDraft[] {
    if (text === '') return [];
    const opening = this.#turn(line);
    this.#told += text;
    this.#answer += text;
    return [...opening, ...this.run.spoken.text(text)];
  }

  calls(line: JsonObject): readonly EventDraft[] {
    const { name, input } = callIn(line);
    const id = textAt(line.call_id) ?? '';
    const opening = [...this.#turn(line), ...this.run.spoken.end()];
    this.#answer = '';
    return [...opening, ...(this.#free ? this.run.calls.run(id, name, input) : this.run.calls.ready(id, name, input))];
  }

  returns(line: JsonObject): readonly EventDraft[] {
    const call = callIn(line);
    const id = textAt(line.call_id) ?? '';
    const known = this.run.calls.ready(id, call.name, call.input);
    this.#returned = true;
    this.#answer = '';
    const reason = refusalIn(call);
    if (reason === undefined) return [...known, ...this.run.calls.end(id, call.name, endOf(call))];
    return [...known, { type: 'approval_denied', interactionId: id, reason }, ...this.run.calls.refused(id, call.name, reason)];
  }

  /** The last line repeats all text of the run; what no line before it has told is told now. */
  ends(line: JsonObject): readonly EventDraft[] {
    const text = textAt(line.result) ?? '';
    const rest = text.startsWith(this.#told) ? text.slice(this.#told.length) : '';
    return [...this.#tell(line, rest), ...this.run.turnEnds(), ...this.#used(objectAt(line.usage))];
  }

  /** Calls of the same answer name the same call of the model. */
  #turn(line: JsonObject): readonly EventDraft[] {
    const modelCall = textAt(line.model_call_id);
    const isSame = modelCall !== undefined && modelCall === this.#modelCall;
    this.#modelCall = modelCall ?? this.#modelCall;
    if (!this.#returned || isSame) return this.run.inTurn();
    this.#returned = false;
    return this.run.turnStarts();
  }

  /** The agent's counts leave out what came from a cache; ours hold everything the model read. */
  #used(usage: JsonObject): readonly EventDraft[] {
    const cacheReadTokens = countAt(usage.cacheReadTokens) ?? 0;
    const cacheWriteTokens = countAt(usage.cacheWriteTokens) ?? 0;
    const inputTokens = (countAt(usage.inputTokens) ?? 0) + cacheReadTokens + cacheWriteTokens;
    const outputTokens = countAt(usage.outputTokens) ?? 0;
    if (inputTokens + outputTokens === 0) return [];
    return this.run.spending.add({ inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens });
  }
}

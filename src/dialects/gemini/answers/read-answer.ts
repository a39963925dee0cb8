import { sha256 } from '../../../base/canonical-json.ts';
import { isJsonObject, type Json, type JsonObject, listIn } from '../../../base/json.ts';
import type { IrEvent } from '../../../ir/event.ts';
import type { VendorMeta } from '../../../ir/part.ts';
import type { FinishReason, IrError } from '../../../ir/response.ts';
import { type IrUsage, NO_USAGE } from '../../../ir/usage.ts';
import { errorOf } from '../errors.ts';
import { CandidateReader } from './candidate-reader.ts';
import { FAILURES, FINISH, liftUsage } from './finish.ts';

/** Members of an answer that have a neutral form. */
const ANSWER = new Set(['candidates', 'usageMetadata', 'modelVersion', 'responseId']);

/**
 * Reads an answer chunk by chunk; a whole answer is one chunk. Parts are pieces to append, usage is cumulative, and the end of the
 * body is the end of the answer.
 */
export class AnswerReader {
  readonly #first = new CandidateReader();
  /** The further candidates, by number. */
  readonly #others = new Map<number, CandidateReader>();
  #started = false;
  #ended = false;
  #idSeed = '';
  #usage: JsonObject | undefined;
  #blocked = false;
  #own: Record<string, Json> = {};

  /** Events of one chunk, or of a list of them. */
  read(chunk: Json): IrEvent[] {
    if (Array.isArray(chunk)) return chunk.flatMap((one: Json) => this.read(one));
    if (this.#ended || !isJsonObject(chunk)) return [];
    if (isJsonObject(chunk.error)) return this.fail(errorOf(chunk, 200));
    const events = this.#frame(chunk);
    const candidates = listIn(chunk.candidates);
    for (const candidate of candidates) if (isJsonObject(candidate)) events.push(...this.#candidate(candidate));
    return events;
  }

  /** The body is over. A stream that never said why it stopped was cut; a whole answer was not. */
  end(whole = false): IrEvent[] {
    if (this.#ended) return [];
    const others = [...this.#others];
    const cut = !this.stopped || others.some(([, other]) => other.reason === undefined);
    if (cut && !(whole && this.#first.parts > 0))
      return this.fail(broken(whole ? 'the answer holds no candidate' : 'the engine closed the stream early'));
    const events: IrEvent[] = this.#first.close();
    const reason = this.#first.reason ?? '';
    if (FAILURES.has(reason) && this.#first.calls === 0) {
      return [...events, ...this.fail(broken(failureWords(reason, this.#first.own.finishMessage)))];
    }
    this.#ended = true;
    const finish = this.#blocked && this.#first.calls === 0 ? 'content-filter' : finishOf(this.#first);
    const further = others.flatMap(([choice, other]) => furtherEnd(choice, other));
    return [...events, ...further, { type: 'message-end', finish, usage: this.usage, ...metaOf(this.#first, this.#own) }];
  }

  /** The answer said why it stopped. */
  get stopped(): boolean {
    return this.#first.reason !== undefined || this.#blocked;
  }

  get hasUsage(): boolean {
    return this.#usage !== undefined;
  }

  get usage(): IrUsage {
    return liftUsage(this.#usage, this.#first.own.groundingMetadata);
  }

  #frame(chunk: JsonObject): IrEvent[] {
    const usage = chunk.usageMetadata;
    if (isJsonObject(usage) && (this.#usage === undefined || usage.promptTokenCount !== undefined)) this.#usage = usage;
    for (const key in chunk) if (!ANSWER.has(key)) this.#own[key] = chunk[key] ?? null;
    if (isJsonObject(chunk.promptFeedback) && chunk.promptFeedback.blockReason !== undefined) this.#blocked = true;
    if (this.#started) return [];
    this.#started = true;
    const { responseId: id, modelVersion: model } = chunk;
    this.#idSeed = typeof id === 'string' ? id : sha256(JSON.stringify(chunk)).slice(0, 24);
    return [
      {
        type: 'message-start',
        ...(typeof id === 'string' ? { id } : {}),
        ...(typeof model === 'string' ? { model } : {}),
        ...(this.#usage === undefined ? {} : { usage: this.usage }),
      },
    ];
  }

  /** A candidate without a number is the first. */
  #candidate(candidate: JsonObject): IrEvent[] {
    const choice = typeof candidate.index === 'number' ? candidate.index : 0;
    if (choice === 0) return this.#first.read(candidate, this.#idSeed);
    const known = this.#others.get(choice);
    const reader = known ?? new CandidateReader();
    this.#others.set(choice, reader);
    const begun: IrEvent[] = known === undefined ? [{ type: 'choice', choice, event: { type: 'message-start' } }] : [];
    const events = reader.read(candidate, `${this.#idSeed}_${choice}`);
    return [...begun, ...events.map((event): IrEvent => ({ type: 'choice', choice, event }))];
  }

  fail(error: IrError): IrEvent[] {
    if (this.#ended) return [];
    this.#ended = true;
    return [{ type: 'error', error }];
  }
}

function finishOf({ reason = '', calls }: CandidateReader): FinishReason {
  const finish = FAILURES.has(reason) ? 'error' : (FINISH[reason] ?? 'stop');
  return calls > 0 && (finish === 'stop' || finish === 'error') ? 'tool-calls' : finish;
}

function furtherEnd(choice: number, reader: CandidateReader): IrEvent[] {
  const end = { type: 'message-end', finish: finishOf(reader), usage: NO_USAGE, ...metaOf(reader, {}) } as const;
  return [...reader.close(), end].map((event): IrEvent => ({ type: 'choice', choice, event }));
}

/** Members of the answer that only Gemini has: grounding, ratings, and the filter that stopped it. */
function metaOf({ reason = '', own: members }: CandidateReader, others: Readonly<Record<string, Json>>): { meta?: VendorMeta } {
  const candidate = FINISH[reason] === 'content-filter' ? { finishReason: reason, ...members } : members;
  const own = { ...others, ...(Object.keys(candidate).length === 0 ? {} : { candidate }) };
  return Object.keys(own).length === 0 ? {} : { meta: { gemini: own } };
}

function broken(message: string): IrError {
  return { kind: 'server', message, status: 200 };
}

function failureWords(reason: string, message: Json | undefined): string {
  return `Gemini gave no answer (${reason})${typeof message === 'string' ? `: ${message}` : ''}`;
}

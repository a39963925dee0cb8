import { parseJson } from '../../base/json.ts';
import type { SseEvent } from '../../base/sse.ts';
import type { IrAnswerEvent, IrEvent } from '../../ir/event.ts';
import type { IrUsage } from '../../ir/usage.ts';
import type { AnswerContext, Emitter, Seen, Stepper } from '../dialect.ts';
import { compact } from '../members.ts';
import { isCutOff, unreadable } from '../stream-error.ts';
import { CandidateWriter } from './answers/candidate-writer.ts';
import { lowerUsage } from './answers/finish.ts';
import { AnswerReader } from './answers/read-answer.ts';
import { lowerError } from './errors.ts';

/** Reads a stream; every event is a chunk of the answer. */
export function stepper(seen?: Seen): Stepper {
  const reader = new AnswerReader();
  return {
    step: (event: SseEvent) => {
      const parsed = parseJson(event.data);
      if (!parsed.ok) return isCutOff(event.data) ? reader.fail(unreadable()) : [];
      seen?.(parsed.value);
      return reader.read(parsed.value);
    },
    end: () => reader.end(),
  };
}

/** Writes a stream: with `alt=sse` as events, else as one JSON array that grows. */
class ChunkEmitter implements Emitter {
  readonly contentType: string;
  readonly #sse: boolean;
  readonly #context: AnswerContext;
  readonly #candidate = new CandidateWriter(0);
  /** Writers of the further candidates, by number. */
  readonly #others = new Map<number, CandidateWriter>();
  /** Members that every chunk ends with; fixed once the answer has begun. */
  #tail = '';
  #id: string;
  #first = true;

  constructor(context: AnswerContext) {
    this.#context = context;
    this.#id = context.runHex;
    this.#sse = /[?&]alt=sse(?:&|$)/.test(context.query);
    this.contentType = this.#sse ? 'text/event-stream' : 'application/json; charset=UTF-8';
    this.#tail = this.#tailOf(undefined);
  }

  emit(event: IrEvent): string {
    switch (event.type) {
      case 'message-start':
        this.#id = event.id ?? this.#id;
        this.#tail = this.#tailOf(event.usage);
        return '';
      case 'part-start':
      case 'part-delta':
      case 'part-end':
        return this.#chunk(this.#candidate.part(event));
      case 'choice':
        return this.#further(event.choice, event.event);
      case 'message-end':
        return this.#frame(this.#last(event)) + this.#close();
      case 'error':
        return this.#frame(JSON.stringify(lowerError(event.error).body)) + this.#close();
      case 'keep-alive':
        return '';
    }
  }

  #further(choice: number, event: IrAnswerEvent): string {
    const writer = this.#others.get(choice) ?? new CandidateWriter(choice);
    this.#others.set(choice, writer);
    switch (event.type) {
      case 'part-start':
      case 'part-delta':
      case 'part-end':
        return this.#chunk(writer.part(event));
      case 'message-end':
        return this.#chunk(JSON.stringify(writer.ending(event)));
      default:
        return '';
    }
  }

  #last(event: Extract<IrEvent, { type: 'message-end' }>): string {
    const { candidate: _told, ...others } = event.meta?.gemini ?? {};
    const blocked = others.promptFeedback !== undefined && this.#candidate.written === 0;
    return JSON.stringify(
      compact({
        candidates: blocked ? undefined : [this.#candidate.ending(event)],
        usageMetadata: lowerUsage(event.usage),
        modelVersion: this.#context.model,
        responseId: this.#id,
        ...others,
      }),
    );
  }

  #chunk(candidate: string): string {
    return candidate === '' ? '' : this.#frame(`{"candidates":[${candidate}]${this.#tail}`);
  }

  #tailOf(usage: IrUsage | undefined): string {
    const told = usage === undefined ? '' : `,"usageMetadata":${JSON.stringify(lowerUsage(usage))}`;
    return `${told},"modelVersion":${JSON.stringify(this.#context.model)},"responseId":${JSON.stringify(this.#id)}}`;
  }

  #frame(json: string): string {
    if (this.#sse) return `data: ${json}\r\n\r\n`;
    const before = this.#first ? '[' : ',\r\n';
    this.#first = false;
    return `${before}${json}`;
  }

  #close(): string {
    return this.#sse ? '' : ']';
  }
}

export function emitter(context: AnswerContext): Emitter {
  return new ChunkEmitter(context);
}

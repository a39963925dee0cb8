import type { IrAnswerEvent, IrEvent, IrPartStart } from './event.ts';
import type { TokenLogprob } from './logprob.ts';
import type { Citation, IrPart, VendorMeta } from './part.ts';
import type { IrError, IrResponse } from './response.ts';

interface OpenPart {
  readonly start: IrPartStart;
  text: string;
  readonly logprobs: TokenLogprob[];
  meta: VendorMeta | undefined;
  citations?: readonly Citation[] | undefined;
}

/** Rebuilds a whole answer from its stream, part by part in the order they opened. */
export class Fold {
  readonly #parts = new Map<number, OpenPart>();
  #id: string | undefined;
  #model = '';
  #end: Extract<IrEvent, { type: 'message-end' }> | undefined;
  #error: IrError | undefined;
  /** The further answers, by number. */
  readonly #others = new Map<number, Fold>();

  push(event: IrEvent): void {
    switch (event.type) {
      case 'message-start':
        this.#id = event.id;
        this.#model = event.model ?? '';
        break;
      case 'part-start':
        this.#parts.set(event.index, {
          start: event.part,
          text: '',
          logprobs: [],
          meta: 'meta' in event.part ? event.part.meta : undefined,
        });
        break;
      case 'part-delta':
        this.#grow(event);
        break;
      case 'part-end':
        this.#close(event);
        break;
      case 'message-end':
        this.#end = event;
        break;
      case 'error':
        this.#error = event.error;
        break;
      case 'choice':
        this.#other(event.choice).push(event.event);
        break;
      case 'keep-alive':
        break;
    }
  }

  get error(): IrError | undefined {
    return this.#error;
  }

  /** The answer, or undefined while the stream has no end. */
  response(): IrResponse | undefined {
    const end = this.#end;
    if (end === undefined) return undefined;
    const alternatives = [...this.#others].sort(([a], [b]) => a - b).flatMap(([, other]) => this.#alternative(other));
    return {
      ...(this.#id === undefined ? {} : { id: this.#id }),
      model: this.#model,
      parts: [...this.#parts.values()].map(closePart),
      finish: end.finish,
      ...(end.stopSequence === undefined ? {} : { stopSequence: end.stopSequence }),
      usage: end.usage,
      ...(end.meta === undefined ? {} : { meta: end.meta }),
      ...(alternatives.length === 0 ? {} : { alternatives }),
    };
  }

  /** The model is told once, with the first answer. */
  #alternative(other: Fold): IrResponse[] {
    const response = other.response();
    return response === undefined ? [] : [{ ...response, model: this.#model }];
  }

  #other(choice: number): Fold {
    const known = this.#others.get(choice) ?? new Fold();
    this.#others.set(choice, known);
    return known;
  }

  #grow({ index, text, logprobs }: Extract<IrEvent, { type: 'part-delta' }>): void {
    const part = this.#parts.get(index);
    if (part === undefined) return;
    part.text += text;
    if (logprobs !== undefined) part.logprobs.push(...logprobs);
  }

  #close({ index, meta, citations }: Extract<IrEvent, { type: 'part-end' }>): void {
    const part = this.#parts.get(index);
    if (part === undefined) return;
    if (meta !== undefined) part.meta = { ...part.meta, ...meta };
    part.citations = citations;
  }
}

function closePart(open: OpenPart): IrPart {
  const meta = open.meta === undefined ? {} : { meta: open.meta };
  const { start } = open;
  switch (start.kind) {
    case 'text':
      return {
        kind: 'text',
        text: open.text,
        ...(open.logprobs.length === 0 ? {} : { logprobs: open.logprobs }),
        ...(open.citations === undefined ? {} : { citations: open.citations }),
        ...meta,
      };
    case 'refusal':
      return { kind: 'refusal', text: open.text, ...meta };
    case 'thinking':
      return { kind: 'thinking', text: open.text, ...(start.redacted ? { redacted: true } : {}), ...meta };
    case 'tool-call':
      return {
        kind: 'tool-call',
        id: start.id,
        name: start.name,
        arguments: open.text === '' && start.custom !== true ? '{}' : open.text,
        ...(start.custom ? { custom: true } : {}),
        ...meta,
      };
    case 'vendor':
      return { ...start, ...(open.text === '' ? {} : { text: open.text }), ...meta };
  }
}

/** Plays a whole answer as a stream: one delta per part. */
export function unfold(response: IrResponse): IrEvent[] {
  const events = answerEvents(response);
  const others = (response.alternatives ?? []).flatMap((other, at) =>
    answerEvents(other).map((event): IrEvent => ({ type: 'choice', choice: at + 1, event })),
  );
  return [...events.slice(0, -1), ...others, ...events.slice(-1)];
}

function answerEvents(response: IrResponse): IrAnswerEvent[] {
  const events: IrAnswerEvent[] = [
    { type: 'message-start', ...(response.id === undefined ? {} : { id: response.id }), model: response.model, usage: response.usage },
  ];
  response.parts.forEach((part, index) => {
    const opened = openPart(part);
    if (opened === undefined) return;
    events.push({ type: 'part-start', index, part: opened.start });
    const logprobs = part.kind === 'text' && part.logprobs !== undefined ? { logprobs: part.logprobs } : {};
    if (opened.text !== '' || 'logprobs' in logprobs) events.push({ type: 'part-delta', index, text: opened.text, ...logprobs });
    const citations = part.kind === 'text' && part.citations !== undefined ? { citations: part.citations } : {};
    events.push({ type: 'part-end', index, ...(part.meta === undefined ? {} : { meta: part.meta }), ...citations });
  });
  events.push({
    type: 'message-end',
    finish: response.finish,
    ...(response.stopSequence === undefined ? {} : { stopSequence: response.stopSequence }),
    usage: response.usage,
    ...(response.meta === undefined ? {} : { meta: response.meta }),
  });
  return events;
}

/** Images, documents and tool results are input only: an answer holds none, so they have no streamed form. */
function openPart(part: IrPart): { start: IrPartStart; text: string } | undefined {
  switch (part.kind) {
    case 'text':
    case 'refusal':
      return { start: { kind: part.kind }, text: part.text };
    case 'thinking':
      return { start: { kind: 'thinking', ...(part.redacted ? { redacted: true } : {}) }, text: part.text };
    case 'tool-call':
      return {
        start: { kind: 'tool-call', id: part.id, name: part.name, ...(part.custom ? { custom: true } : {}) },
        text: part.arguments,
      };
    case 'vendor': {
      const { text = '', ...start } = part;
      return { start, text };
    }
    default:
      return undefined;
  }
}

import type { JsonObject } from '../../../../base/json.ts';
import type { IrAnswerEvent, IrEvent } from '../../../../ir/event.ts';
import type { AnswerContext, Emitter } from '../../../dialect.ts';
import { errorBodyOf } from '../errors.ts';
import type { ChatFlavour } from '../flavour.ts';
import { answerId, isLegacy, lowerUsage, tierOf } from '../lower-response.ts';
import { ChoiceWriter } from './choice-writer.ts';

/** Writes a Chat stream: what all chunks share is written once and pasted around each delta. */
export class ChatEmitter implements Emitter {
  readonly contentType = 'text/event-stream; charset=utf-8';
  readonly #flavour: ChatFlavour;
  readonly #context: AnswerContext;
  readonly #first: ChoiceWriter;
  /** Writers of the further choices, by number. */
  readonly #others = new Map<number, ChoiceWriter>();
  #head = '';
  #tail = '';

  constructor(flavour: ChatFlavour, context: AnswerContext) {
    this.#flavour = flavour;
    this.#context = context;
    this.#first = this.#writer(0);
  }

  emit(event: IrEvent): string {
    switch (event.type) {
      case 'message-start':
        return this.#start(event.id);
      case 'part-start':
      case 'part-delta':
      case 'part-end':
        return this.#first.part(event);
      case 'choice':
        return this.#further(event.choice, event.event);
      case 'message-end':
        return this.#end(event);
      case 'error':
        return frame(errorBodyOf(this.#flavour, event.error));
      case 'keep-alive':
        return ': keep-alive\n\n';
    }
  }

  #writer(index: number): ChoiceWriter {
    return new ChoiceWriter(
      { flavour: this.#flavour, index, legacy: isLegacy(this.#context) },
      (choice) => `${this.#head}${choice}${this.#tail}`,
    );
  }

  #start(id: string | undefined): string {
    const shared = {
      id: answerId(this.#context, id),
      object: 'chat.completion.chunk',
      created: Math.floor(this.#context.createdAtMs / 1000),
      model: this.#context.model,
    };
    this.#head = `data: ${JSON.stringify(shared).slice(0, -1)},"choices":[`;
    // A caller that asked for usage gets it as null in every chunk but the one that has it.
    this.#tail = this.#context.includeUsage && this.#flavour.usage === 'own-chunk' ? '],"usage":null}\n\n' : ']}\n\n';
    return this.#first.start();
  }

  #further(choice: number, event: IrAnswerEvent): string {
    const writer = this.#others.get(choice) ?? this.#writer(choice);
    this.#others.set(choice, writer);
    switch (event.type) {
      case 'message-start':
        return writer.start();
      case 'part-start':
      case 'part-delta':
      case 'part-end':
        return writer.part(event);
      case 'message-end':
        return `${this.#head}${writer.ending(event.finish, '')}${this.#tail}`;
      default:
        return '';
    }
  }

  #end(event: Extract<IrEvent, { type: 'message-end' }>): string {
    const { usage: place } = this.#flavour;
    const usage = JSON.stringify(lowerUsage(this.#flavour, event.usage));
    const tier = members(tierOf(event.usage));
    const tail = place === 'finishing-chunk' ? `],"usage":${usage}}\n\n` : this.#tail;
    const last = `${this.#head}${this.#first.ending(event.finish, place === 'choice' ? `,"usage":${usage}` : '')}]${tier}${tail.slice(1)}`;
    const own = this.#context.includeUsage && place !== 'finishing-chunk' ? `${this.#head}]${tier},"usage":${usage}}\n\n` : '';
    return `${last}${own}data: [DONE]\n\n`;
  }
}

/** The members of an object, as they stand behind others. */
function members(object: JsonObject): string {
  return Object.entries(object)
    .map(([name, value]) => `,${JSON.stringify(name)}:${JSON.stringify(value)}`)
    .join('');
}

function frame(body: JsonObject): string {
  return `data: ${JSON.stringify(body)}\n\n`;
}

/** An event or a draft of one, as far as accumulation is concerned. */
interface Piece {
  readonly type?: unknown;
  readonly delta?: unknown;
  readonly toolCallId?: unknown;
}

/** The text so far, in the member that an event of its type has for it. */
export interface Accumulated {
  readonly accumulated?: string;
  readonly inputAccumulated?: string;
}

/** The text so far in the messages, thoughts and tool inputs of one run. */
export class Accumulator {
  text = '';
  thinking = '';
  readonly #inputs = new Map<unknown, string>();

  /** The members of an event that tell what has come so far, this event included. */
  fields(event: Piece): Accumulated {
    switch (event.type) {
      case 'message_start':
      case 'message_stop':
        this.text = '';
        return {};
      case 'thinking_start':
      case 'thinking_stop':
        this.thinking = '';
        return {};
      case 'text_delta':
        this.text += String(event.delta);
        return { accumulated: this.text };
      case 'thinking_delta':
        this.thinking += String(event.delta);
        return { accumulated: this.thinking };
      default:
        return this.#toolFields(event);
    }
  }

  #toolFields(event: Piece): Accumulated {
    switch (event.type) {
      case 'tool_call_start':
        this.#inputs.set(event.toolCallId, '');
        return { inputAccumulated: '' };
      case 'tool_input_delta': {
        const input = (this.#inputs.get(event.toolCallId) ?? '') + String(event.delta);
        this.#inputs.set(event.toolCallId, input);
        return { inputAccumulated: input };
      }
      case 'tool_result':
      case 'tool_error':
        this.#inputs.delete(event.toolCallId);
        return {};
      default:
        return {};
    }
  }
}

/**
 * The event, which a program can ask for what has accumulated. It stands in no JSON of the event: a stream whose pieces repeat what came
 * before would grow with the square of its text.
 */
export function withAccumulated<E extends object>(event: E, fields: Accumulated): E {
  for (const [name, value] of Object.entries(fields)) Object.defineProperty(event, name, { value, enumerable: false, configurable: true });
  return event;
}

/** Which texts a reader who came late has missed the beginning of; it is told once of each, with the next piece. */
export class Snapshots {
  readonly #accumulator = new Accumulator();
  readonly #missed = new Set<unknown>();

  /** Takes in an event that the reader does not get. */
  skip(event: Piece): void {
    this.#accumulator.fields(event);
    this.#note(event, true);
  }

  /** The members that this reader's event has beside its own: the text so far, where the reader has missed its beginning. */
  next(event: Piece): Accumulated {
    const fields = this.#accumulator.fields(event);
    const key = keyOf(event);
    const missed = key !== undefined && this.#missed.has(key);
    this.#note(event, false);
    return missed ? fields : {};
  }

  #note(event: Piece, skipped: boolean): void {
    const key = keyOf(event);
    if (key === undefined) return;
    if (skipped && DELTAS.has(event.type)) this.#missed.add(key);
    else this.#missed.delete(key);
  }
}

const DELTAS: ReadonlySet<unknown> = new Set(['text_delta', 'thinking_delta', 'tool_input_delta']);

/** The text that an event belongs to; undefined for events about no text. */
function keyOf({ type, toolCallId }: Piece): unknown {
  if (typeof type !== 'string') return undefined;
  if (type.startsWith('tool_')) return toolCallId;
  if (type === 'text_delta' || type.startsWith('message_')) return 'message';
  return type.startsWith('thinking_') ? 'thinking' : undefined;
}

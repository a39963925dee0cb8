/** An event or a draft of one, as far as accumulation is concerned. */
interface Piece {
  readonly type: string;
  readonly delta?: unknown;
  readonly toolCallId?: unknown;
}

/** The text so far in the messages, thoughts and tool inputs of one run. */
export class Accumulator {
  text = '';
  thinking = '';
  readonly #inputs = new Map<unknown, string>();

  /** The fields that the event has beside its own. */
  fields(event: Piece): { readonly accumulated?: string; readonly inputAccumulated?: string } {
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

  #toolFields(event: Piece): { readonly inputAccumulated?: string } {
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

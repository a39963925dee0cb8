import type { Observed, ObservedToolCall } from '../../dialects/dialect.ts';
import type { IrResponse } from '../../ir/response.ts';

/** The facts for the receipt in an answer that was read as a whole. */
export function observedOf(response: IrResponse): Observed {
  return {
    model: response.model,
    usage: response.usage,
    finish: response.finish,
    toolCalls: response.parts.flatMap((part): ObservedToolCall[] =>
      part.kind === 'tool-call' ? [{ id: part.id, name: part.name, arguments: part.arguments }] : [],
    ),
  };
}

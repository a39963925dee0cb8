import type { IrMessage } from '../ir/conversation.ts';
import type { IrEvent } from '../ir/event.ts';
import type { IrPart } from '../ir/part.ts';
import type { AnswerFilter } from './answer-filter.ts';

const PREFIX = 'abp_';

/** An id that fits any wire, from which the engine's own id can be restored when the caller sends it back. */
function encodeId(id: string): string {
  return `${PREFIX}${Buffer.from(id, 'utf8').toString('base64url')}`;
}

function decodeId(id: string): string {
  return id.startsWith(PREFIX) ? Buffer.from(id.slice(PREFIX.length), 'base64url').toString('utf8') : id;
}

/** The id as the target's wire takes it. An id that we had encoded for the caller becomes the engine's own again. */
export function idFor(id: string, rule: RegExp | undefined): string {
  const own = decodeId(id);
  return rule === undefined || rule.test(own) ? own : encodeId(own);
}

export function mapIds(messages: readonly IrMessage[], rule: RegExp | undefined): readonly IrMessage[] {
  return messages.map((message) => ({ ...message, parts: message.parts.map((part) => mapPart(part, rule)) }));
}

function mapPart(part: IrPart, rule: RegExp | undefined): IrPart {
  if (part.kind === 'tool-call') return { ...part, id: idFor(part.id, rule) };
  if (part.kind === 'tool-result') return { ...part, callId: idFor(part.callId, rule) };
  return part;
}

/** Ids of the engine as the caller's wire takes them. */
export function idFilter(rule: RegExp | undefined): AnswerFilter {
  return {
    filter: (event: IrEvent) => {
      if (rule === undefined || event.type !== 'part-start' || event.part.kind !== 'tool-call' || rule.test(event.part.id)) return [event];
      return [{ ...event, part: { ...event.part, id: encodeId(event.part.id) } }];
    },
  };
}

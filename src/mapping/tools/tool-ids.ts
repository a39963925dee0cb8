import { sha256 } from '../../base/canonical-json.ts';
import type { IrMessage } from '../../ir/conversation.ts';
import type { IrAnswerEvent } from '../../ir/event.ts';
import type { IrPart } from '../../ir/part.ts';
import type { AnswerFilter } from '../answer-filter.ts';

/** An id of letters, digits, `_` and `-`, from which the engine's own id can be restored. `copy` tells repeated ids apart. */
function encodeId(id: string, copy = 0): string {
  return `abp${copy === 0 ? '' : copy}_${Buffer.from(id, 'utf8').toString('base64url')}`;
}

/** The engine's own id in one of ours; any other id, also one that only begins like ours, is its own. */
function decodeId(id: string): string {
  const [, copy = '', code] = /^abp(\d*)_([\w-]+)$/.exec(id) ?? [];
  const own = code === undefined ? '' : Buffer.from(code, 'base64url').toString('utf8');
  return own !== '' && encodeId(own, Number(copy)) === id ? own : id;
}

/** An id for an engine that takes short ids only. Nobody sends it back, so nothing need be restored from it. */
function hashedId(id: string, copy: number): string {
  return `abph_${sha256(`${copy} ${id}`).slice(0, 32)}`;
}

/** The id as an engine's wire takes it. An id that we had encoded for the caller becomes the engine's own again. */
export function idFor(id: string, rule: RegExp | undefined, copy = 0): string {
  const own = decodeId(id);
  if (rule === undefined || (copy === 0 && rule.test(own))) return own;
  const encoded = encodeId(own, copy);
  return rule.test(encoded) ? encoded : hashedId(own, copy);
}

/** The id as a caller's wire takes it: it must lead back to the engine's own when the caller returns it, even where it is long. */
function idShown(id: string, rule: RegExp | undefined, copy = 0): string {
  if (rule === undefined) return id;
  if (copy > 0) return encodeId(id, copy);
  const encoded = encodeId(id);
  return rule.test(id) || !rule.test(encoded) ? id : encoded;
}

/** Ids of the calls of one conversation. A wire with a rule takes each id once; engines that count their calls anew repeat them. */
class CallIds {
  readonly #rule: RegExp | undefined;
  readonly #form: typeof idFor;
  readonly #taken: Set<string>;
  /** The form that the latest call of an id got; its result follows. */
  readonly #latest = new Map<string, string>();

  constructor(rule: RegExp | undefined, form: typeof idFor, taken: readonly string[] = []) {
    this.#rule = rule;
    this.#form = form;
    this.#taken = new Set(taken);
  }

  call(id: string): string {
    let free = this.#form(id, this.#rule, 0);
    for (let copy = 1; this.#rule !== undefined && this.#taken.has(free); copy += 1) free = this.#form(id, this.#rule, copy);
    this.#taken.add(free);
    this.#latest.set(id, free);
    return free;
  }

  result(id: string): string {
    return this.#latest.get(id) ?? this.#form(id, this.#rule, 0);
  }
}

/** All ids of a conversation as the target's wire takes them. */
export function mapIds(messages: readonly IrMessage[], rule: RegExp | undefined): readonly IrMessage[] {
  const ids = new CallIds(rule, idFor);
  return messages.map((message) =>
    message.parts.some(hasId) ? { ...message, parts: message.parts.map((part) => mapPart(part, ids)) } : message,
  );
}

function hasId({ kind }: IrPart): boolean {
  return kind === 'tool-call' || kind === 'tool-result';
}

function mapPart(part: IrPart, ids: CallIds): IrPart {
  if (part.kind === 'tool-call') return { ...part, id: ids.call(part.id) };
  if (part.kind === 'tool-result') return { ...part, callId: ids.result(part.callId) };
  return part;
}

/** The ids that a conversation has already. */
export function idsIn(messages: readonly IrMessage[]): string[] {
  return messages.flatMap(({ parts }) => parts.flatMap((part) => (part.kind === 'tool-call' ? [part.id] : [])));
}

/** Ids of the engine as the caller's wire takes them, none of which is taken already. */
export function idFilter(rule: RegExp, taken: readonly string[]): AnswerFilter {
  const ids = new CallIds(rule, idShown, taken);
  return {
    filter: (event: IrAnswerEvent) => {
      if (event.type !== 'part-start' || event.part.kind !== 'tool-call') return [event];
      return [{ ...event, part: { ...event.part, id: ids.call(event.part.id) } }];
    },
  };
}

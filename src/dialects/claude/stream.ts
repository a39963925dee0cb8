import { type Json, type JsonObject, parseJson } from '../../base/json.ts';
import { encodeSse, type SseEvent } from '../../base/sse.ts';
import type { IrEvent, IrPartStart } from '../../ir/event.ts';
import type { VendorMeta } from '../../ir/part.ts';
import type { FinishReason } from '../../ir/response.ts';
import { type IrUsage, NO_USAGE } from '../../ir/usage.ts';
import type { AnswerContext, Emitter, Stepper } from '../dialect.ts';
import { errorKind, errorType } from './errors.ts';
import { FINISH, liftUsage } from './lift.ts';
import { lowerUsage, STOP_REASON, signatureOf } from './lower.ts';
import * as wire from './wire.ts';

/** Reads a Messages stream. `message_delta` usage is cumulative and later values win; `message_start` only has a placeholder for output. */
export function stepper(): Stepper {
  let usage: IrUsage = NO_USAGE;
  let rawUsage: wire.Usage = {};
  let finish: FinishReason = 'stop';
  let stopSequence: string | undefined;
  let ended = false;
  const signatures = new Map<number, string>();

  const merge = (next: wire.Usage | undefined): void => {
    if (next === undefined) return;
    for (const [key, value] of Object.entries(next)) if (value !== null && value !== undefined) rawUsage = { ...rawUsage, [key]: value };
    usage = liftUsage(rawUsage);
  };

  const end = (): IrEvent[] => {
    ended = true;
    return [{ type: 'message-end', finish, ...(stopSequence === undefined ? {} : { stopSequence }), usage }];
  };

  const handle = (event: wire.StreamEvent): IrEvent[] => {
    switch (event.type) {
      case 'message_start':
        merge(event.message.usage);
        return [{ type: 'message-start', id: event.message.id, model: event.message.model, usage }];
      case 'content_block_start':
        return [{ type: 'part-start', index: event.index, part: startOf(event.content_block) }, ...seed(event.index, event.content_block)];
      case 'content_block_delta':
        return onDelta(event.index, event.delta, signatures);
      case 'content_block_stop':
        return [{ type: 'part-end', index: event.index, ...signatureMeta(signatures.get(event.index)) }];
      case 'message_delta':
        merge(event.usage);
        finish = FINISH[event.delta.stop_reason ?? ''] ?? finish;
        stopSequence = event.delta.stop_sequence ?? undefined;
        return [];
      case 'message_stop':
        return end();
      case 'ping':
        return [{ type: 'keep-alive' }];
      case 'error':
        ended = true;
        return [
          { type: 'error', error: { kind: errorKind(event.error.type), message: event.error.message ?? 'engine error', status: 200 } },
        ];
    }
  };

  return {
    step: (event: SseEvent) => {
      const parsed = parseJson(event.data);
      const known = parsed.ok ? wire.StreamEvent.safeParse(parsed.value) : undefined;
      return known?.success ? handle(known.data) : [];
    },
    end: () => (ended ? [] : [{ type: 'error', error: { kind: 'server', message: 'the engine closed the stream early', status: 200 } }]),
  };
}

function startOf(block: wire.AnyBlock): IrPartStart {
  switch (block.type) {
    case 'text':
      return { kind: 'text' };
    case 'thinking':
      return { kind: 'thinking' };
    case 'redacted_thinking':
      return { kind: 'thinking', redacted: true, meta: { claude: { data: block.data as Json } } }; // parsed JSON
    case 'tool_use':
      return { kind: 'tool-call', id: String(block.id), name: String(block.name) };
    default:
      return { kind: 'vendor', dialect: 'claude', type: block.type, meta: { claude: block as JsonObject } }; // parsed JSON
  }
}

/** Text that some engines already put into the opening block. */
function seed(index: number, block: wire.AnyBlock): IrEvent[] {
  const text = block.type === 'text' ? block.text : block.type === 'thinking' ? block.thinking : undefined;
  return typeof text === 'string' && text !== '' ? [{ type: 'part-delta', index, text }] : [];
}

const DELTA_TEXT: Readonly<Record<string, string>> = { text_delta: 'text', input_json_delta: 'partial_json', thinking_delta: 'thinking' };

function onDelta(
  index: number,
  delta: { readonly type: string; readonly [key: string]: unknown },
  signatures: Map<number, string>,
): IrEvent[] {
  if (delta.type === 'signature_delta') {
    signatures.set(index, (signatures.get(index) ?? '') + String(delta.signature ?? ''));
    return [];
  }
  const text = delta[DELTA_TEXT[delta.type] ?? ''];
  return typeof text === 'string' && text !== '' ? [{ type: 'part-delta', index, text }] : [];
}

function signatureMeta(signature: string | undefined): { meta?: VendorMeta } {
  return signature === undefined ? {} : { meta: { claude: { signature } } };
}

type Handlers = { readonly [T in IrEvent['type']]: (event: Extract<IrEvent, { type: T }>) => string };

/** Writes a Messages stream. Blocks are strictly sequential on this wire, so a part that opens while another is open waits for its turn. */
export function emitter(context: AnswerContext): Emitter {
  const numbers = new Map<number, number>();
  const kinds = new Map<number, IrPartStart>();
  let current: number | undefined;
  const waiting: IrEvent[] = [];

  const handlers: Handlers = {
    'message-start': (event) => frame('message_start', { message: startMessage(context, event) }) + frame('ping', {}),
    'part-start': (event) => {
      current = event.index;
      const number = numbers.size;
      numbers.set(event.index, number);
      kinds.set(event.index, event.part);
      return frame('content_block_start', { index: number, content_block: blockStart(event.part) });
    },
    'part-delta': (event) => {
      const delta = deltaOf(kinds.get(event.index), event.text);
      return delta === undefined ? '' : frame('content_block_delta', { index: numbers.get(event.index) ?? 0, delta });
    },
    'part-end': (event) => {
      current = undefined;
      const index = numbers.get(event.index) ?? 0;
      const thinking = kinds.get(event.index);
      const signed = thinking?.kind === 'thinking' && !thinking.redacted;
      const signature = signed
        ? frame('content_block_delta', { index, delta: { type: 'signature_delta', signature: signatureOf(event.meta) } })
        : '';
      return `${signature}${frame('content_block_stop', { index })}${drain()}`;
    },
    'message-end': (event) =>
      frame('message_delta', {
        delta: { stop_reason: STOP_REASON[event.finish], stop_sequence: event.stopSequence ?? null },
        usage: lowerUsage(event.usage),
      }) + frame('message_stop', {}),
    error: (event) => frame('error', { error: { type: errorType(event.error.kind), message: event.error.message } }),
    'keep-alive': () => frame('ping', {}),
  };

  const write = (event: IrEvent): string => {
    const handler = handlers[event.type] as (event: IrEvent) => string; // the key picks the handler of this event
    return handler(event);
  };

  const belongsElsewhere = (event: IrEvent): boolean => current !== undefined && 'index' in event && event.index !== current;

  const drain = (): string => {
    let text = '';
    for (
      let at = waiting.findIndex((event) => !belongsElsewhere(event));
      at !== -1;
      at = waiting.findIndex((event) => !belongsElsewhere(event))
    ) {
      const [event] = waiting.splice(at, 1);
      if (event !== undefined) text += write(event);
    }
    return text;
  };

  return {
    emit: (event) => {
      if (belongsElsewhere(event) || (waiting.length > 0 && 'index' in event && event.index !== current)) {
        waiting.push(event);
        return '';
      }
      return write(event);
    },
  };
}

function frame(type: string, members: JsonObject): string {
  return encodeSse({ event: type, data: JSON.stringify({ type, ...members }) });
}

function startMessage(context: AnswerContext, event: Extract<IrEvent, { type: 'message-start' }>): JsonObject {
  return {
    id: event.id ?? `msg_${context.runHex}`,
    type: 'message',
    role: 'assistant',
    model: context.model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: lowerUsage(event.usage ?? NO_USAGE),
  };
}

function blockStart(part: IrPartStart): JsonObject {
  switch (part.kind) {
    case 'text':
    case 'refusal':
      return { type: 'text', text: '' };
    case 'thinking':
      return part.redacted
        ? { type: 'redacted_thinking', data: '', ...part.meta?.claude }
        : { type: 'thinking', thinking: '', signature: '' };
    case 'tool-call':
      return { type: 'tool_use', id: part.id, name: part.name, input: {} };
    case 'vendor':
      return part.meta?.claude ?? { type: part.type };
  }
}

function deltaOf(part: IrPartStart | undefined, text: string): JsonObject | undefined {
  switch (part?.kind) {
    case 'text':
    case 'refusal':
      return { type: 'text_delta', text };
    case 'thinking':
      return { type: 'thinking_delta', thinking: text };
    case 'tool-call':
      return { type: 'input_json_delta', partial_json: text };
    default:
      return undefined;
  }
}

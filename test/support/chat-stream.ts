import fc from 'fast-check';
import type { JsonObject } from '../../src/base/json.ts';
import { decodeSse, SseFrames } from '../../src/base/sse.ts';
import type { AnswerContext, Dialect } from '../../src/dialects/dialect.ts';
import type { IrEvent, IrPartStart } from '../../src/ir/event.ts';
import { Fold } from '../../src/ir/fold.ts';
import { NO_USAGE } from '../../src/ir/usage.ts';

/** What the caller of a test stream asked for. */
export const ANSWER_CONTEXT: AnswerContext = {
  runHex: 'ab'.repeat(16),
  createdAtMs: 1_767_225_600_500,
  model: 'gpt-5',
  includeUsage: true,
  query: '',
};

/** Events of a stream given as its chunks; a text goes in as it is. */
export function stepsOf(dialect: Dialect, chunks: readonly (JsonObject | string)[]): IrEvent[] {
  const stepper = dialect.stepper();
  const data = chunks.map((chunk) => (typeof chunk === 'string' ? chunk : JSON.stringify(chunk)));
  return [...data.flatMap((text) => stepper.step({ event: '', data: text })), ...stepper.end()];
}

export function foldOf(events: readonly IrEvent[]): Fold {
  const all = new Fold();
  for (const event of events) all.push(event);
  return all;
}

/** A chunk with one choice. */
export function chunk(delta: JsonObject, finish?: string): JsonObject {
  return { id: 'chatcmpl-7', model: 'm', choices: [{ index: 0, delta, finish_reason: finish ?? null }] };
}

export function emitted(dialect: Dialect, events: readonly IrEvent[], context: Partial<AnswerContext> = {}): string {
  const emitter = dialect.emitter({ ...ANSWER_CONTEXT, ...context });
  return events.map((event) => emitter.emit(event)).join('');
}

/** Events of a stream whose bytes arrive in pieces of one size. */
export function stepsOfBytes(dialect: Dialect, bytes: Buffer, size: number): IrEvent[] {
  const frames = new SseFrames();
  const stepper = dialect.stepper();
  const found: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += size) found.push(...frames.push(bytes.subarray(at, at + size)));
  return [...[...found, ...frames.flush()].flatMap((frame) => stepper.step(decodeSse(frame))), ...stepper.end()];
}

interface AnswerPart {
  readonly id: string;
  readonly call: boolean;
  readonly texts: readonly string[];
}

/** Any well-formed answer: text and calls in any order, never two texts in a row, calls with ids of their own. */
export const anyAnswer: fc.Arbitrary<IrEvent[]> = fc
  .uniqueArray(
    fc.record({
      id: fc.stringMatching(/^[a-z]{1,8}$/),
      call: fc.boolean(),
      texts: fc.array(fc.string({ unit: 'binary', minLength: 1 }), { minLength: 1, maxLength: 4 }),
    }),
    { selector: ({ id }) => id, maxLength: 6 },
  )
  .map((parts) => eventsOf(parts.filter((part, index) => part.call || parts[index - 1]?.call !== false)));

function eventsOf(parts: readonly AnswerPart[]): IrEvent[] {
  const spoken = parts.flatMap(({ id, call, texts }, index): IrEvent[] => {
    const part: IrPartStart = call ? { kind: 'tool-call', id, name: 'look' } : { kind: 'text' };
    return [
      { type: 'part-start', index, part },
      ...texts.map((text): IrEvent => ({ type: 'part-delta', index, text: call ? JSON.stringify({ text }) : text })),
      { type: 'part-end', index },
    ];
  });
  const finish = parts.some(({ call }) => call) ? 'tool-calls' : 'stop';
  return [{ type: 'message-start', id: 'x', model: 'gpt-5' }, ...spoken, { type: 'message-end', finish, usage: NO_USAGE }];
}

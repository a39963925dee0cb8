import { describe, expect, test } from 'vitest';
import { decodeSse, SseFrames } from '../../src/base/sse.ts';
import type { AnswerContext, Dialect } from '../../src/dialects/dialect.ts';
import { dialects } from '../../src/dialects/index.ts';
import type { IrEvent } from '../../src/ir/event.ts';
import { Fold } from '../../src/ir/fold.ts';
import { Ledger } from '../../src/ir/ledger.ts';
import type { IrRequest } from '../../src/ir/request.ts';
import { withoutPaths } from '../support/ir.ts';
import { type Fixture, fixturesOf } from './dialect-fixtures.ts';

const REQUIRED = ['text', 'streaming', 'tool-call', 'parallel-tools', 'tool-loop', 'thinking', 'structured-output', 'unicode', 'error'];
const context: AnswerContext = {
  runHex: '0'.repeat(32),
  createdAtMs: 0,
  model: 'claude-sonnet-4-5',
  includeUsage: true,
  query: '?alt=sse',
};
const lower = { lacks: new Set<never>(), traits: new Set<string>(), defaultMaxTokens: 4096 };

function address(fixture: Fixture): { model: string; stream: boolean } {
  const { model, stream } = fixture.ir as unknown as IrRequest; // a fixture's ir.json is an IrRequest
  return { model, stream };
}

function lift(dialect: Dialect, fixture: Fixture, body = fixture.request): IrRequest {
  return dialect.liftRequest(body, { ledger: new Ledger(), ...address(fixture) });
}

function steps(dialect: Dialect, stream: Buffer, sizes: number): IrEvent[] {
  const frames = new SseFrames();
  const stepper = dialect.stepper();
  const found: Buffer[] = [];
  for (let at = 0; at < stream.length; at += sizes) found.push(...frames.push(stream.subarray(at, at + sizes)));
  found.push(...frames.flush());
  return [...found.flatMap((frame) => stepper.step(decodeSse(frame))), ...stepper.end()];
}

function fold(events: readonly IrEvent[]): Fold {
  const all = new Fold();
  for (const event of events) all.push(event);
  return all;
}

/** Start, parts that open before they grow and close once, exactly one end; the same for each further answer, before the end of the first. */
function wellFormed(events: readonly IrEvent[]): void {
  expect(events.at(-1)?.type).not.toBe('choice');
  const further = events.flatMap((event) => (event.type === 'choice' ? [event] : []));
  for (const number of new Set(further.map(({ choice }) => choice)))
    wellFormed(further.flatMap(({ choice, event }) => (choice === number ? [event] : [])));
  const real = events.filter((event) => event.type !== 'keep-alive' && event.type !== 'choice');
  expect(real[0]?.type).toBe('message-start');
  expect(real.filter((event) => event.type === 'message-end' || event.type === 'error')).toHaveLength(1);
  expect(['message-end', 'error']).toContain(real.at(-1)?.type);
  const open = new Set<number>();
  const seen = new Set<number>();
  for (const event of real) {
    if (event.type === 'part-start') {
      expect(seen.has(event.index)).toBe(false);
      seen.add(event.index);
      open.add(event.index);
    } else if (event.type === 'part-delta') expect(open.has(event.index)).toBe(true);
    else if (event.type === 'part-end') expect(open.delete(event.index)).toBe(true);
    else if (event.type === 'message-end') expect([...open]).toEqual([]);
  }
}

describe.each(dialects)('$id', (dialect) => {
  const fixtures = fixturesOf(dialect.id);
  const answered = fixtures.filter((fixture) => fixture.response !== undefined);
  const streamed = fixtures.filter((fixture) => fixture.stream !== undefined);

  test('has a fixture for every required case', () => {
    expect(fixtures.map(({ name }) => name)).toEqual(expect.arrayContaining(REQUIRED));
  });

  test.each(fixtures)('lifts the request of $name', (fixture) => {
    expect(lift(dialect, fixture)).toEqual(fixture.ir);
  });

  test.each(fixtures)('lowers the request of $name to one that lifts to the same', (fixture) => {
    const once = lift(dialect, fixture);
    const lowered = dialect.lowerRequest(once, lower);
    expect(withoutPaths(lift(dialect, fixture, lowered.body))).toEqual(withoutPaths(once));
  });

  test.each(fixtures)('lowers the request of $name to the same bytes every time', (fixture) => {
    const bytes = new Set(Array.from({ length: 100 }, () => JSON.stringify(dialect.lowerRequest(lift(dialect, fixture), lower).body)));
    expect(bytes.size).toBe(1);
  });

  test.each(answered)('lifts the answer of $name and lowers it to one that lifts to the same', (fixture) => {
    const response = dialect.liftResponse(fixture.response ?? null);
    if (fixture.responseIr !== undefined) expect(response).toEqual(fixture.responseIr);
    const again = dialect.liftResponse(dialect.lowerResponse(response, { ...context, model: response.model }));
    expect(withoutPaths(again)).toEqual(withoutPaths(response));
  });

  test.each(streamed)('steps through the stream of $name, however it is cut', (fixture) => {
    const whole = steps(dialect, fixture.stream ?? Buffer.alloc(0), 1 << 20);
    expect(whole).toEqual(fixture.events);
    wellFormed(whole);
    for (const size of [1, 7, 64]) expect(steps(dialect, fixture.stream ?? Buffer.alloc(0), size)).toEqual(whole);
  });

  test.each(streamed)('emits the stream of $name so that stepping through it rebuilds the same answer', (fixture) => {
    const events = steps(dialect, fixture.stream ?? Buffer.alloc(0), 1 << 20);
    const before = fold(events);
    const emitter = dialect.emitter({ ...context, model: before.response()?.model ?? context.model });
    const text = events.map((event) => emitter.emit(event)).join('');
    const after = fold(steps(dialect, Buffer.from(text), 1 << 20));
    expect(withoutPaths(after.response())).toEqual(withoutPaths(before.response()));
    expect(after.error?.kind).toEqual(before.error?.kind);
  });

  test.each(streamed)('observes in the stream of $name what stepping finds', (fixture) => {
    const frames = new SseFrames();
    const observer = dialect.observeStream();
    for (const frame of [...frames.push(fixture.stream ?? Buffer.alloc(0)), ...frames.flush()]) observer.frame(frame);
    const response = fold(steps(dialect, fixture.stream ?? Buffer.alloc(0), 1 << 20)).response();
    if (response === undefined) return;
    const observed = observer.done();
    expect(observed.usage).toEqual(response.usage);
    const calls = response.parts.flatMap((part) => (part.kind === 'tool-call' ? [[part.name, part.arguments]] : []));
    expect(observed.toolCalls.map((call) => [call.name, call.arguments])).toEqual(calls);
  });

  test.each(answered)('observes in the answer of $name what lifting finds', (fixture) => {
    const response = dialect.liftResponse(fixture.response ?? null);
    const observed = dialect.observeBody(JSON.stringify(fixture.response));
    expect(observed.usage).toEqual(response.usage);
    expect(observed.toolCalls.map(({ name }) => name)).toEqual(
      response.parts.flatMap((part) => (part.kind === 'tool-call' ? [part.name] : [])),
    );
  });
});

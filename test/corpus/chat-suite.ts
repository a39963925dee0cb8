import { describe, expect, test } from 'vitest';
import { isJsonObject, type Json, type JsonObject, parseJsonObject } from '../../src/base/json.ts';
import { decodeSse, SseFrames } from '../../src/base/sse.ts';
import type { AnswerContext, Dialect, Observed } from '../../src/dialects/dialect.ts';
import type { IrEvent } from '../../src/ir/event.ts';
import { Fold } from '../../src/ir/fold.ts';
import { Ledger } from '../../src/ir/ledger.ts';
import type { IrRequest } from '../../src/ir/request.ts';
import { type Exchange, exchangesOf, hasCorpus, NO_CORPUS } from '../support/corpus.ts';
import { withoutPaths } from '../support/ir.ts';
import { needing } from '../support/needs.ts';

const lower = { lacks: new Set<never>(), traits: new Set<string>(), defaultMaxTokens: 4096 };
const context = (model: string): AnswerContext => ({ runHex: '0'.repeat(32), createdAtMs: 0, model, includeUsage: true, query: '' });

/** What a member of the Chat family says about its recordings. */
export interface ChatRecordings {
  readonly dialect: Dialect;
  readonly folder: string;
  /** How many requests, answers and streams there are at least. */
  readonly least: readonly [requests: number, answers: number, streams: number];
  /** Recorded members that the vendor itself does not know. */
  readonly unclaimed: RegExp;
  /** Complaints of the vendor's API description about what we write, where there is one that can be read. */
  readonly check?: (type: 'request' | 'answer' | 'chunk', value: Json) => readonly string[];
}

function frames(stream: Buffer): Buffer[] {
  const cutter = new SseFrames();
  return [...cutter.push(stream), ...cutter.flush()];
}

function fold(events: readonly IrEvent[]): Fold {
  const all = new Fold();
  for (const event of events) all.push(event);
  return all;
}

/** Chunks of a recorded stream, read without our code. */
function chunksOf(stream: Buffer): JsonObject[] {
  return frames(stream)
    .map((frame) => parseJsonObject(decodeSse(frame).data))
    .filter((chunk) => chunk !== undefined);
}

function firstChoices(body: JsonObject): JsonObject[] {
  const choices: readonly Json[] = Array.isArray(body.choices) ? body.choices : [];
  return choices.filter(isJsonObject).filter((choice) => choice.index === undefined || choice.index === 0);
}

/** All text of the first answer, read without our code. */
function recordedText(bodies: readonly JsonObject[], member: 'delta' | 'message'): string {
  return bodies
    .flatMap(firstChoices)
    .map((choice) => choice[member])
    .map((message) => (isJsonObject(message) && typeof message.content === 'string' ? message.content : ''))
    .join('');
}

function textOf(response: ReturnType<Fold['response']>): string {
  return (response?.parts ?? []).map((part) => (part.kind === 'text' ? part.text : '')).join('');
}

function leaves(value: Json, path = ''): string[] {
  const members = Array.isArray(value)
    ? value.map((item: Json, index) => [`${path}[${index}]`, item] as const)
    : Object.entries(isJsonObject(value) ? value : {}).map(([key, member]) => [path === '' ? key : `${path}.${key}`, member] as const);
  return members.length === 0 ? [path] : members.flatMap(([at, member]) => leaves(member, at));
}

function isClaimed(ledger: Ledger, path: string): boolean {
  return [...ledger.claims.keys()].some((at) => path === at || path.startsWith(`${at}.`) || path.startsWith(`${at}[`));
}

/** The same suite for every member of the family. */
export function describeRecordings({ dialect, folder, least, unclaimed, check = () => [] }: ChatRecordings): void {
  const all = exchangesOf(folder).filter(({ url }) => url.includes('/chat/completions'));
  const lift = (body: Json, ledger = new Ledger()): IrRequest => dialect.liftRequest(body, { ledger });
  const steps = (stream: Buffer): IrEvent[] => {
    const stepper = dialect.stepper();
    return [...frames(stream).flatMap((frame) => stepper.step(decodeSse(frame))), ...stepper.end()];
  };
  const observe = (stream: Buffer): Observed => {
    const observer = dialect.observeStream();
    for (const frame of frames(stream)) observer.frame(frame);
    return observer.done();
  };

  describe.skipIf(!hasCorpus)(needing(`recorded ${dialect.id} exchanges`, hasCorpus ? undefined : NO_CORPUS), () => {
    const requests = all.filter((one): one is Exchange & { request: Json } => isJsonObject(one.request));
    const answers = all.filter(({ body }) => isJsonObject(body) && Array.isArray(body.choices));
    const streams = all.filter((one): one is Exchange & { stream: Buffer } => one.stream !== undefined);
    const whole = streams.filter(({ features }) => !features.some((name) => /midstream-error|truncated/.test(name)));
    const errors = all.filter(({ status }) => status >= 400);

    test('there are enough of them to mean something', () => {
      [requests, answers, streams].forEach((list, index) => {
        expect(list.length).toBeGreaterThanOrEqual(least[index] ?? 0);
      });
    });

    test.each(requests.filter(({ status }) => status < 300))('the request of $id lifts, lowers, and lifts to the same', ({ request }) => {
      const once = lift(request);
      const lowered = dialect.lowerRequest(once, lower);
      // A stream is always asked to tell its usage.
      expect(withoutPaths(lift(lowered.body))).toEqual(withoutPaths({ ...once, ...(once.stream ? { includeUsage: true } : {}) }));
      expect(check('request', lowered.body)).toEqual([]);
    });

    test.each(requests.filter(({ status }) => status < 300))('every leaf of the request of $id is claimed', ({ request }) => {
      const ledger = new Ledger();
      lift(request, ledger);
      expect(leaves(request).filter((path) => !isClaimed(ledger, path) && !unclaimed.test(path))).toEqual([]);
    });

    test.each(answers)('the answer of $id lifts, lowers, and lifts to the same', ({ body }) => {
      const once = dialect.liftResponse(body ?? null);
      expect(textOf(once)).toBe(recordedText([body as JsonObject], 'message'));
      const lowered = dialect.lowerResponse(once, context(once.model));
      expect(withoutPaths(dialect.liftResponse(lowered))).toEqual(withoutPaths({ id: `chatcmpl-${'0'.repeat(32)}`, ...once }));
      expect(check('answer', lowered)).toEqual([]);
      const seen = dialect.observeBody(JSON.stringify(body));
      expect([seen.usage, seen.finish]).toEqual([once.usage, once.finish]);
    });

    test.each(whole)('the stream of $id steps to one answer with all its text', ({ stream }) => {
      const events = steps(stream);
      expect(events[0]?.type).toBe('message-start');
      expect(events.filter(({ type }) => type === 'message-end' || type === 'error')).toHaveLength(1);
      expect(textOf(fold(events).response())).toBe(recordedText(chunksOf(stream), 'delta'));
    });

    test.each(streams.filter((one) => !whole.includes(one)))('the stream of $id ends in one error', ({ stream }) => {
      expect(steps(stream).filter(({ type }) => type === 'message-end' || type === 'error')).toMatchObject([{ type: 'error' }]);
    });

    test.each(whole)('the stream of $id, written again, steps to the same events, each answer’s in their order', ({ stream }) => {
      const events = steps(stream);
      const start = events.find((event) => event.type === 'message-start');
      const emitter = dialect.emitter(context(start?.model ?? ''));
      const text = events.map((event) => emitter.emit(event)).join('');
      const again = steps(Buffer.from(text));
      for (const choice of choicesOf(events)) expect(eventsOf(again, choice)).toEqual(eventsOf(events, choice));
      expect(again).toHaveLength(events.length);
      for (const chunk of chunksOf(Buffer.from(text))) expect(check('chunk', chunk)).toEqual([]);
    });

    test.each(whole)('observing the stream of $id tells what stepping finds', ({ stream }) => {
      const response = fold(steps(stream)).response();
      const seen = observe(stream);
      expect([seen.finish, seen.model]).toEqual([response?.finish, response?.model]);
      if (seen.usage !== undefined) expect(seen.usage).toEqual(response?.usage);
      else expect(response?.usage.inputTokens).toBe(0);
      expect(seen.toolCalls).toEqual(
        response?.parts.flatMap((part) => (part.kind === 'tool-call' ? [{ id: part.id, name: part.name, arguments: part.arguments }] : [])),
      );
    });

    test.each(errors)('the error of $id keeps its message, and its kind when written again', ({ status, responseBytes }) => {
      const error = dialect.liftError(status, {}, responseBytes?.toString() ?? '');
      expect(responseBytes?.toString().replaceAll('\\"', '"')).toContain(error.message.slice(0, 40));
      const again = dialect.lowerError(error, { requestId: 'req_0' });
      expect(dialect.liftError(again.status, {}, JSON.stringify(again.body)).kind).toBe(error.kind);
    });
  });
}

function choicesOf(events: readonly IrEvent[]): Set<number> {
  return new Set(events.map((event) => (event.type === 'choice' ? event.choice : 0)));
}

/** What belongs to one of several answers. */
function eventsOf(events: readonly IrEvent[], choice: number): IrEvent[] {
  return events.flatMap((event) =>
    event.type !== 'choice' ? (choice === 0 ? [event] : []) : event.choice === choice ? [event.event] : [],
  );
}

import { describe, expect, test } from 'vitest';
import { isJsonObject, type Json } from '../../src/base/json.ts';
import { decodeSse, SseFrames } from '../../src/base/sse.ts';
import type { AnswerContext, Observed } from '../../src/dialects/dialect.ts';
import { openaiResponses } from '../../src/dialects/openai-responses/dialect.ts';
import type { IrEvent } from '../../src/ir/event.ts';
import { Fold } from '../../src/ir/fold.ts';
import { Ledger } from '../../src/ir/ledger.ts';
import type { IrResponse } from '../../src/ir/response.ts';
import { exchangesOf, hasCorpus, NO_CORPUS } from '../support/corpus.ts';
import { withoutPaths } from '../support/ir.ts';
import { needing } from '../support/needs.ts';

/** Copilot serves this dialect too, under ids that change from event to event. */
const exchanges = [...exchangesOf('openai-responses'), ...exchangesOf('copilot').filter(({ url }) => url.endsWith('/responses'))].filter(
  ({ url }) => /\/responses(?:\/input_tokens)?(?:\?|$)/.test(url) || url === '',
);
const lower = { lacks: new Set<never>(), traits: new Set<string>(), defaultMaxTokens: 4096 };
const lift = (body: Json) => openaiResponses.liftRequest(body, { ledger: new Ledger() });
const context = (model: string): AnswerContext => ({ runHex: '0', createdAtMs: 0, model, includeUsage: true, query: '' });

function frames(stream: Buffer): Buffer[] {
  const cutter = new SseFrames();
  return [...cutter.push(stream), ...cutter.flush()];
}

function steps(stream: Buffer): IrEvent[] {
  const stepper = openaiResponses.stepper();
  return [...frames(stream).flatMap((frame) => stepper.step(decodeSse(frame))), ...stepper.end()];
}

function fold(events: readonly IrEvent[]): Fold {
  const all = new Fold();
  for (const event of events) all.push(event);
  return all;
}

function observe(stream: Buffer): Observed {
  const observer = openaiResponses.observeStream();
  for (const frame of frames(stream)) observer.frame(frame);
  return observer.done();
}

/** The last event of a stream repeats the whole answer. */
function wholeAnswer(stream: Buffer): Json | undefined {
  const last = frames(stream)
    .map((frame) => decodeSse(frame))
    .findLast(({ event }) => event === 'response.completed' || event === 'response.incomplete');
  const value = last === undefined ? undefined : (JSON.parse(last.data) as Json); // a recorded event
  return isJsonObject(value) ? value.response : undefined;
}

/** Which kind of search it was goes to the receipt alone. */
function withoutPreviews(answer: IrResponse): IrResponse {
  const { previewSearches = 0, ...details } = answer.usage.details ?? {};
  if (previewSearches === 0) return answer;
  const { details: _with, ...counts } = answer.usage;
  return { ...answer, usage: Object.keys(details).length === 0 ? counts : { ...counts, details } };
}

describe.skipIf(!hasCorpus)(needing('recorded Responses exchanges', hasCorpus ? undefined : NO_CORPUS), () => {
  const requests = exchanges.filter(({ request }) => isJsonObject(request) && request.model !== undefined);
  const answers = exchanges.filter(({ body, status }) => status < 300 && isJsonObject(body) && body.object === 'response');
  const errors = exchanges.filter(({ body, status }) => status >= 400 && isJsonObject(body));
  // Some recordings hold several answers in one file.
  const streams = exchanges.filter(
    ({ stream, status }) => status < 300 && stream?.toString().split('event: response.created').length === 2,
  );

  test('there are enough of them to mean something', () => {
    expect([requests.length, answers.length, streams.length].every((count) => count >= 20)).toBe(true);
  });

  test.each(requests.filter(({ status }) => status < 300))('$id lifts, and lift after lower is a fixed point', ({ request }) => {
    const once = lift(request ?? null);
    expect(withoutPaths(lift(openaiResponses.lowerRequest(once, lower).body))).toEqual(withoutPaths(once));
  });

  test.each(requests.filter(({ status }) => status < 300))('$id has no leaf that nobody claims', ({ request }) => {
    const ledger = new Ledger();
    openaiResponses.liftRequest(request ?? null, { ledger });
    const claimed = [...ledger.claims.keys()];
    // A member that is null says nothing, so nobody has to claim it.
    const said = JSON.parse(JSON.stringify(request ?? null, (_, value) => value ?? undefined));
    const unclaimed = leaves(said, '').filter(
      (leaf) => !claimed.some((path) => leaf === path || (/^[.[]/.test(leaf.slice(path.length)) && leaf.startsWith(path))),
    );
    expect(unclaimed).toEqual([]);
  });

  test.each(answers)('$id lifts and lowers to an answer that lifts to the same', ({ body }) => {
    const once = openaiResponses.liftResponse(body ?? null);
    const again = openaiResponses.liftResponse(openaiResponses.lowerResponse(once, context(once.model)));
    expect(withoutPaths(again)).toEqual(withoutPaths(withoutPreviews(once)));
    const observed = openaiResponses.observeBody(JSON.stringify(body));
    expect(observed.finish).toBe(once.finish);
    if (observed.usage !== undefined) expect(observed.usage).toEqual(once.usage);
  });

  test.each(errors)('$id is an error whose kind its own words tell', ({ body, status }) => {
    const error = openaiResponses.liftError(status, {}, JSON.stringify(body));
    expect(openaiResponses.lowerError(error, { requestId: 'req_0' }).status).toBe(status);
    expect(error.message).not.toBe('');
  });

  test.each(streams)('$id steps to one answer, which re-emitted steps to the same events', ({ stream = Buffer.alloc(0), features }) => {
    const events = steps(stream);
    const before = fold(events);
    if (features.includes('midstream-error') || features.includes('truncated-stream')) {
      expect(before.error).toBeDefined();
      expect(events.filter(({ type }) => type === 'error' || type === 'message-end')).toHaveLength(1);
      return;
    }
    const response = before.response();
    expect(response).toBeDefined();
    const whole = wholeAnswer(stream);
    if (isJsonObject(whole) && Array.isArray(whole.output) && whole.output.length > 0) {
      const lifted = openaiResponses.liftResponse(whole);
      if (features.includes('item-id-rotation'))
        expect(response?.parts.map(({ kind }) => kind)).toEqual(lifted.parts.map(({ kind }) => kind));
      else expect(comparable(response)).toBe(comparable(lifted));
    }
    const emitter = openaiResponses.emitter(context(response?.model ?? ''));
    const again = steps(Buffer.from(events.map((event) => emitter.emit(event)).join('')));
    if (features.includes('item-id-rotation')) expect(texts(again)).toEqual(texts(events));
    else expect(withoutPaths(again)).toEqual(withoutPaths(events));
    const observed = observe(stream);
    expect(observed.finish).toBe(response?.finish);
    if (observed.usage !== undefined) expect(observed.usage).toEqual(response?.usage);
  });
});

function texts(events: readonly IrEvent[]): string[] {
  return events.flatMap((event) => (event.type === 'part-delta' ? [event.text] : []));
}

/** The vendor encrypts anew each time it tells an item, so equal states differ in their bytes. */
/** The vendor rounds logprobs in the whole item to six places, and not in the deltas. */
function comparable(response: unknown): string {
  return JSON.stringify(withoutPaths(response), sorted).replaceAll(/gAAAA[\w=-]+/g, 'gAAAA');
}

function sorted(key: string, value: Json): Json {
  if (key === 'logprob' && typeof value === 'number') return Math.abs(value) < 5e-7 ? 0 : Number(value.toFixed(6));
  return isJsonObject(value) ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) : value;
}

function leaves(value: Json, path: string): string[] {
  const members: (readonly [string, Json])[] = Array.isArray(value)
    ? value.map((item: Json, index) => [`${path}[${index}]`, item] as const)
    : isJsonObject(value)
      ? Object.entries(value).map(([key, member]) => [path === '' ? key : `${path}.${key}`, member] as const)
      : [];
  return members.length === 0 ? [path] : members.flatMap(([at, member]) => leaves(member, at));
}

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseJson, parseJsonObject } from '../../base/json.ts';
import type { IrEvent } from '../../ir/event.ts';
import { Fold } from '../../ir/fold.ts';
import type { IrPart } from '../../ir/part.ts';
import type { IrRequest, IrTool } from '../../ir/request.ts';
import type { IrResponse } from '../../ir/response.ts';
import { countTokens } from '../../ir/token-estimate.ts';
import { type SimPlan, think } from './brain.ts';

const look: IrTool = {
  kind: 'function',
  name: 'look',
  schema: { type: 'object', properties: { city: { type: 'string' }, days: { type: 'integer', minimum: 2 } }, required: ['city', 'days'] },
};
const count: IrTool = { kind: 'function', name: 'count', schema: { type: 'object', properties: {} } };
const note: IrTool = { kind: 'custom', name: 'note' };

function ask(prompt: string, members: Partial<IrRequest> = {}): IrRequest {
  const messages: IrRequest['messages'] = [{ role: 'user', parts: [{ kind: 'text', text: prompt }] }];
  return { model: 'sim-1', stream: true, tools: [], stop: [], sampling: {}, vendor: {}, messages, ...members };
}

function eventsOf(plan: SimPlan): IrEvent[] {
  return plan.steps.flatMap((step) => (step.kind === 'event' ? [step.event] : []));
}

function answerTo(request: IrRequest): IrResponse {
  const fold = new Fold();
  for (const event of eventsOf(think(request))) fold.push(event);
  const response = fold.response();
  if (response === undefined) throw new Error('the stream has no end');
  return response;
}

test('streams an answer word by word with usage at both ends', () => {
  expect(think(ask('say hello dear world')).steps).toEqual([
    {
      kind: 'event',
      event: {
        type: 'message-start',
        id: expect.stringMatching(/^msg_[0-9a-f]{24}$/),
        model: 'sim-1',
        usage: { inputTokens: 5, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0, thinkingTokens: 0, webSearchRequests: 0 },
      },
    },
    { kind: 'event', event: { type: 'part-start', index: 0, part: { kind: 'text' } } },
    { kind: 'event', event: { type: 'part-delta', index: 0, text: 'hello ' } },
    { kind: 'event', event: { type: 'part-delta', index: 0, text: 'dear ' } },
    { kind: 'event', event: { type: 'part-delta', index: 0, text: 'world' } },
    { kind: 'event', event: { type: 'part-end', index: 0 } },
    {
      kind: 'event',
      event: {
        type: 'message-end',
        finish: 'stop',
        usage: { inputTokens: 5, outputTokens: 4, cacheReadTokens: 0, cacheWriteTokens: 0, thinkingTokens: 0, webSearchRequests: 0 },
      },
    },
  ]);
});

test.each([
  [400, 'invalid-request'],
  [401, 'authentication'],
  [403, 'permission'],
  [404, 'not-found'],
  [500, 'server'],
  [503, 'overloaded'],
  [504, 'timeout'],
  [529, 'overloaded'],
])('fails with %i before any event', (status, kind) => {
  expect(think(ask(`fail with ${status}`)).steps).toEqual([
    { kind: 'fail', error: { kind, status, message: `sim was asked to fail with ${status}` } },
  ]);
});

test('a rate limit says when to come back', () => {
  expect(think(ask('wait 5 ms and fail with 429')).steps).toEqual([
    { kind: 'wait', ms: 5 },
    { kind: 'fail', error: { kind: 'rate-limit', status: 429, message: 'sim was asked to fail with 429', retryAfterMs: 1000 } },
  ]);
});

test('a cut stream breaks off in the middle of the answer', () => {
  const { steps } = think(ask('say "one two three four" and cut the stream'));
  expect(steps.slice(1)).toEqual([
    { kind: 'event', event: { type: 'part-start', index: 0, part: { kind: 'text' } } },
    { kind: 'event', event: { type: 'part-delta', index: 0, text: 'one ' } },
    { kind: 'event', event: { type: 'part-delta', index: 0, text: 'two ' } },
    { kind: 'cut' },
  ]);
});

test('waits before the answer and between its words', () => {
  const kinds = think(ask('wait 20 ms, wait 3 ms between words, say a b')).steps.map((step) =>
    step.kind === 'event' ? step.event.type : step,
  );
  expect(kinds).toEqual([
    { kind: 'wait', ms: 20 },
    'message-start',
    'part-start',
    'part-delta',
    { kind: 'wait', ms: 3 },
    'part-delta',
    'part-end',
    'message-end',
  ]);
});

test('thinks first, with a signature for the dialect to carry', () => {
  const request = ask('say hi', { thinking: { mode: 'enabled', budgetTokens: 1024 } });
  const response = answerTo(request);
  expect(response.parts).toEqual([
    {
      kind: 'thinking',
      text: 'I read the request, look at what is offered and decide what to d',
      meta: { signature: { value: expect.stringMatching(/^[\w+/]{43}=$/) } },
    },
    { kind: 'text', text: 'hi' },
  ]);
  expect(response.usage).toMatchObject({ outputTokens: 17, thinkingTokens: 16 });
});

test('stops before the first stop sequence', () => {
  const response = answerTo(ask('say one two three', { stop: ['three', ' two', ''] }));
  expect(response).toMatchObject({ parts: [{ text: 'one' }], finish: 'stop-sequence', stopSequence: ' two' });
});

test('ends at the token limit', () => {
  expect(answerTo(ask('say abcdefghij', { maxTokens: 2 }))).toMatchObject({
    parts: [{ text: 'abcdefgh' }],
    finish: 'length',
    usage: { outputTokens: 2 },
  });
  expect(answerTo(ask('call the tool look', { tools: [look], maxTokens: 3 }))).toMatchObject({ parts: [], finish: 'length' });
});

const sentence = fc.oneof(
  fc.constantFrom(
    'call the tool look with {"city":"a","days":2}',
    'then call the tool count with {}',
    'call the tool nothing',
    'write the text a b into the file c.txt',
    'cut the stream',
    'wait 3 ms between words',
    'fail with 503',
    'say one two three',
    '<system-reminder>x</system-reminder>',
  ),
  fc.string({ unit: 'grapheme' }),
);
const textPart = fc.array(sentence, { maxLength: 4 }).map((parts): IrPart => ({ kind: 'text', text: parts.join('. ') }));
const anyPart: fc.Arbitrary<IrPart> = fc.oneof(
  textPart,
  fc.record({
    kind: fc.constant('tool-result' as const),
    callId: fc.constantFrom('c1', 'c2'),
    parts: fc.array(textPart, { maxLength: 2 }),
    isError: fc.boolean(),
  }),
  fc.record({
    kind: fc.constant('tool-call' as const),
    id: fc.constantFrom('c1', 'c2'),
    name: fc.constant('look'),
    arguments: fc.string(),
  }),
);
const anyRequest: fc.Arbitrary<IrRequest> = fc
  .record({
    messages: fc.array(fc.record({ role: fc.constantFrom('system', 'user', 'assistant'), parts: fc.array(anyPart, { maxLength: 3 }) }), {
      maxLength: 5,
    }),
    members: fc.record(
      {
        stop: fc.array(fc.string({ maxLength: 2 }), { maxLength: 2 }),
        tools: fc.subarray([look, count, note]),
        toolChoice: fc.constantFrom<NonNullable<IrRequest['toolChoice']>>(
          { kind: 'auto' },
          { kind: 'none' },
          { kind: 'required' },
          { kind: 'tool', name: 'look' },
        ),
        parallelToolCalls: fc.boolean(),
        maxTokens: fc.nat(60),
        effort: fc.constantFrom('none', 'low', 'high', 'max'),
        thinking: fc.record(
          { mode: fc.constantFrom('enabled', 'adaptive', 'disabled'), budgetTokens: fc.nat(5000) },
          { requiredKeys: ['mode'] },
        ),
        output: fc.constantFrom<NonNullable<IrRequest['output']>>({ kind: 'json' }, { kind: 'json-schema', schema: look.schema }),
      },
      { requiredKeys: [] },
    ),
  })
  .map(({ messages, members }) => ask('', { messages, ...members }));

/** The kinds of events as one letter each, a part in brackets: the whole grammar of a stream fits one expression. */
function outline(events: readonly IrEvent[]): string {
  const letters = {
    'message-start': 'S',
    'part-start': '[',
    'part-delta': 'd',
    'part-end': ']',
    'message-end': 'E',
    error: '!',
    'keep-alive': 'k',
    choice: 'c',
  };
  return events.map((event) => letters[event.type]).join('');
}

/** The index each part event carries, and the one its place in the stream gives it. */
function indices(events: readonly IrEvent[]): { carried: number[]; expected: number[] } {
  const parts = events.filter((event) => 'index' in event);
  let opened = -1;
  const expected = parts.map((event) => {
    if (event.type === 'part-start') opened += 1;
    return opened;
  });
  return { carried: parts.map((event) => event.index), expected };
}

test('any request gives a well-formed stream, an error or a broken stream', () => {
  fc.assert(
    fc.property(anyRequest, (request) => {
      const { steps } = think(request);
      const last = steps.at(-1)?.kind;
      const events = eventsOf({ steps, wrapping: { gzip: false, mark: false, page: false } });
      expect(steps.slice(0, -1).filter((step) => step.kind === 'fail' || step.kind === 'cut')).toEqual([]);
      if (last === 'fail') expect(events).toEqual([]);
      else expect(outline(events)).toMatch(last === 'cut' ? /^S(?:\[d*\])*(?:\[d+)?$/ : /^S(?:\[d*\])*E$/);
      const { carried, expected } = indices(events);
      expect(carried).toEqual(expected);
    }),
    { numRuns: 500 },
  );
});

test('any answer keeps to the token limit and counts what it wrote', () => {
  fc.assert(
    fc.property(anyRequest, (request) => {
      const end = eventsOf(think(request)).at(-1);
      fc.pre(end?.type === 'message-end');
      const { parts, usage } = answerTo(request);
      const written = parts.map((part) => (part.kind === 'tool-call' ? part.name + part.arguments : 'text' in part ? part.text : ''));
      expect(usage.outputTokens).toBe(written.reduce((sum, text) => sum + countTokens(text), 0));
      expect(usage.outputTokens).toBeLessThanOrEqual(request.maxTokens ?? Number.POSITIVE_INFINITY);
    }),
    { numRuns: 500 },
  );
});

test('any answer in JSON that is not cut short is JSON, and function arguments always are', () => {
  fc.assert(
    fc.property(anyRequest, (request) => {
      fc.pre(eventsOf(think(request)).at(-1)?.type === 'message-end');
      const { parts, finish } = answerTo(request);
      for (const part of parts) {
        if (part.kind === 'tool-call' && part.custom !== true) expect(parseJsonObject(part.arguments)).toBeDefined();
        if (part.kind === 'text' && request.output !== undefined && finish === 'stop')
          expect(parseJson(part.text)).toMatchObject({ ok: true });
      }
    }),
    { numRuns: 500 },
  );
});

test('the same request gives the same plan a hundred times, streamed or not', () => {
  fc.assert(
    fc.property(anyRequest, (request) => {
      const first = JSON.stringify(think(request));
      for (let round = 0; round < 100; round += 1) {
        expect(JSON.stringify(think({ ...structuredClone(request), stream: round % 2 === 0 }))).toBe(first);
      }
    }),
    { numRuns: 20 },
  );
});

test('ids differ inside an answer and between requests', () => {
  const ids = (text: string) =>
    answerTo(ask(text, { tools: [count] })).parts.flatMap((part) => (part.kind === 'tool-call' ? [part.id] : []));
  const all = [...ids('call the tool count with {} and call the tool count with {}'), ...ids('call the tool count with {}')];
  expect(new Set(all).size).toBe(3);
});

test('a long answer has a bounded number of deltas and loses nothing', () => {
  const words = Array.from({ length: 5000 }, (_, at) => `w${at}`).join(' ');
  const request = ask(`say ${words}`);
  expect(answerTo(request).parts).toEqual([{ kind: 'text', text: words }]);
  expect(eventsOf(think(request)).filter((event) => event.type === 'part-delta').length).toBe(250);
});

test('an answer with a call ends for that reason and its id is safe for every vendor', () => {
  expect(answerTo(ask('call the tool note with hi', { tools: [note] }))).toMatchObject({
    parts: [{ kind: 'tool-call', id: expect.stringMatching(/^call_[0-9a-f]{24}$/), name: 'note', arguments: 'hi', custom: true }],
    finish: 'tool-calls',
  });
});

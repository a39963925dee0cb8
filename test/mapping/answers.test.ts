import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { AnswerContext, Dialect } from '../../src/dialects/dialect.ts';
import { dialects } from '../../src/dialects/index.ts';
import type { IrEvent } from '../../src/ir/event.ts';
import { Fold, unfold } from '../../src/ir/fold.ts';
import type { TokenLogprob } from '../../src/ir/logprob.ts';
import type { IrPart, TextPart } from '../../src/ir/part.ts';
import type { IrResponse } from '../../src/ir/response.ts';
import { NO_USAGE } from '../../src/ir/usage.ts';
import { stepsOfBytes } from '../support/chat-stream.ts';
import { runs } from './runs.ts';

const context: AnswerContext = { runHex: 'ab'.repeat(16), createdAtMs: 0, model: 'm', includeUsage: true, query: '?alt=sse' };
const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 });

const chance = fc.record({ token: text, logprob: fc.constantFrom(-0.25, -1.5, -9999) });
const token: fc.Arbitrary<TokenLogprob> = fc
  .record({ chosen: chance, top: fc.array(chance, { maxLength: 2 }) })
  .map(({ chosen, top }) => ({ ...chosen, top }));

/** Any answer: thoughts, words with their tokens and calls, in the order all dialects keep, and further answers beside it. */
const anyAnswer: fc.Arbitrary<IrResponse> = fc
  .record({
    thought: fc.option(text, { nil: undefined }),
    said: fc.option(fc.array(token, { minLength: 1, maxLength: 6 }), { nil: undefined }),
    others: fc.array(fc.array(token, { minLength: 1, maxLength: 3 }), { maxLength: 2 }),
    calls: fc.array(fc.dictionary(fc.stringMatching(/^[a-z]{1,5}$/), fc.jsonValue({ maxDepth: 1 }), { maxKeys: 2 }), { maxLength: 3 }),
    limited: fc.boolean(),
    read: fc.nat(5000),
    cached: fc.nat(1000),
    written: fc.nat(5000),
  })
  .map(({ thought, said, others, calls, limited, read, cached, written }) => {
    const parts: IrPart[] = [
      ...(thought === undefined ? [] : [{ kind: 'thinking', text: thought } as const]),
      ...(said === undefined ? [] : [spoken(said)]),
      ...calls.map((input, at) => ({ kind: 'tool-call', id: `call_${at}`, name: `tool_${at}`, arguments: JSON.stringify(input) }) as const),
    ];
    const usage = {
      inputTokens: read + cached,
      outputTokens: written,
      cacheReadTokens: cached,
      cacheWriteTokens: 0,
      thinkingTokens: 0,
      webSearchRequests: 0,
    };
    const alternatives = others.map((tokens) => ({ model: 'm', parts: [spoken(tokens)], finish: 'stop', usage: NO_USAGE }) as const);
    return {
      id: 'answer-1',
      model: 'm',
      parts,
      finish: calls.length > 0 ? 'tool-calls' : limited ? 'length' : 'stop',
      usage,
      ...(alternatives.length === 0 ? {} : { alternatives }),
    };
  });

function spoken(logprobs: readonly TokenLogprob[]): TextPart {
  return { kind: 'text', text: logprobs.map(({ token: said }) => said).join(''), logprobs };
}

function emitted(dialect: Dialect, events: readonly IrEvent[]): Buffer {
  const emitter = dialect.emitter(context);
  return Buffer.from(events.map((event) => emitter.emit(event)).join(''));
}

function folded(events: readonly IrEvent[]): IrResponse | undefined {
  const fold = new Fold();
  for (const event of events) fold.push(event);
  return fold.response();
}

/** What a caller has in the end; wires differ in how many parts they cut it into. */
function gist(response: IrResponse | undefined): unknown {
  const textOf = (kind: 'text' | 'thinking'): string =>
    (response?.parts ?? []).map((part) => (part.kind === kind ? part.text : '')).join('');
  const calls = (response?.parts ?? []).flatMap((part) =>
    part.kind === 'tool-call' ? [[part.id, part.name, JSON.parse(part.arguments)]] : [],
  );
  return {
    ...{ thoughts: textOf('thinking'), text: textOf('text'), calls, finish: response?.finish, usage: response?.usage },
    tokens: tokensOf(response),
    others: (response?.alternatives ?? []).map((other) => ({ parts: other.parts.length, finish: other.finish, tokens: tokensOf(other) })),
  };
}

function tokensOf(response: IrResponse | undefined): unknown[] {
  const tokens = (response?.parts ?? []).flatMap((part) => (part.kind === 'text' ? (part.logprobs ?? []) : []));
  return tokens.map((one) => [one.token, one.logprob, one.top.map((other) => [other.token, other.logprob])]);
}

/** The answer as far as both dialects have a form for what is beyond words and calls. */
function carriedBy(answer: IrResponse, engine: Dialect, caller: Dialect): { tokens?: unknown[]; others: unknown[] } {
  const both = (concept: 'logprobs' | 'count'): boolean => engine.names[concept] !== undefined && caller.names[concept] !== undefined;
  const others = both('count') ? (answer.alternatives ?? []) : [];
  const tokens = (one: IrResponse): { tokens?: unknown[] } => (both('logprobs') ? { tokens: tokensOf(one) } : {});
  return { ...tokens(answer), others: others.map((other) => ({ parts: 1, finish: 'stop', ...tokens(other) })) };
}

const pairs = dialects.flatMap((engine) =>
  dialects.filter(({ id }) => id !== engine.id).map((caller) => ({ engine, caller, name: `${engine.id} → ${caller.id}` })),
);

describe('an answer says the same streamed and whole', () => {
  test.each(pairs)('$name', ({ engine, caller }) => {
    fc.assert(
      fc.property(anyAnswer, fc.integer({ min: 1, max: 400 }), (answer, size) => {
        const whole = caller.liftResponse(caller.lowerResponse(engine.liftResponse(engine.lowerResponse(answer, context)), context));
        const relayed = stepsOfBytes(engine, emitted(engine, unfold(answer)), size);
        const streamed = folded(stepsOfBytes(caller, emitted(caller, relayed), size));
        expect(gist(streamed)).toEqual(gist(whole));
        expect(gist(whole)).toMatchObject({
          text: answer.parts.map((part) => (part.kind === 'text' ? part.text : '')).join(''),
          usage: answer.usage,
          ...carriedBy(answer, engine, caller),
        });
      }),
      { numRuns: runs(60) },
    );
  });
});

test.each(pairs)('arguments keep a member whose name means something to JavaScript: $name', ({ engine, caller }) => {
  const args = '{"a":{"__proto__":false},"constructor":1}';
  const call = { kind: 'tool-call', id: 'call_0', name: 'tool_0', arguments: args } as const;
  const usage = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0, thinkingTokens: 0, webSearchRequests: 0 };
  const answer: IrResponse = { id: 'answer-1', model: 'm', parts: [call], finish: 'tool-calls', usage };
  const whole = caller.liftResponse(caller.lowerResponse(engine.liftResponse(engine.lowerResponse(answer, context)), context));
  expect(whole.parts.map((part) => (part.kind === 'tool-call' ? part.arguments : ''))).toEqual([args]);
});

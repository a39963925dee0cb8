import { describe, expect, test } from 'vitest';
import { type Json, parseJson } from '../../src/base/json.ts';
import type { AnswerContext } from '../../src/dialects/dialect.ts';
import { dialects } from '../../src/dialects/index.ts';
import { unfold } from '../../src/ir/fold.ts';
import type { IrRequest } from '../../src/ir/request.ts';
import type { IrResponse } from '../../src/ir/response.ts';
import { NO_USAGE } from '../../src/ir/usage.ts';
import { emitted, foldOf, stepsOfBytes } from '../support/chat-stream.ts';
import { mapTo, targetOf } from '../support/mapping.ts';

/** Numbers that a double changes. */
const NUMBERS = ['12345678901234567890', '-9007199254740993', '9223372036854775808', '0.314159265358979323846264338327', '1e400', '1e-401'];
const ARGUMENTS = `{"list":[${NUMBERS.join(',')}]}`;
const context: AnswerContext = { runHex: 'ab'.repeat(16), createdAtMs: 0, model: 'm', includeUsage: true, query: '?alt=sse' };

function read(text: string): Json {
  const parsed = parseJson(text);
  if (!parsed.ok) throw new Error(parsed.message);
  return parsed.value;
}

/** A request with such numbers wherever a caller may write its own: a schema, arguments, a result. */
const asked: IrRequest = {
  model: 'm',
  stream: false,
  stop: [],
  sampling: {},
  vendor: {},
  maxTokens: 100,
  tools: [
    { kind: 'function', name: 'store', schema: read(`{"type":"object","properties":{"n":{"enum":[${NUMBERS.join(',')}]}}}`) as never }, // an object
  ],
  messages: [
    { role: 'user', parts: [{ kind: 'text', text: 'store them' }] },
    { role: 'assistant', parts: [{ kind: 'tool-call', id: 'call_1', name: 'store', arguments: ARGUMENTS }] },
    { role: 'user', parts: [{ kind: 'tool-result', callId: 'call_1', isError: false, parts: [{ kind: 'text', text: ARGUMENTS }] }] },
  ],
};

const answer: IrResponse = {
  id: 'answer-1',
  model: 'm',
  parts: [{ kind: 'tool-call', id: 'call_1', name: 'store', arguments: ARGUMENTS }],
  finish: 'tool-calls',
  usage: NO_USAGE,
};

function times(text: string, number: string): number {
  return text.split(number).length - 1;
}

const pairs = dialects.flatMap((from) => dialects.map((to) => ({ from, to, name: `${from.id} → ${to.id}` })));

describe('numbers that a double would change', () => {
  test.each(dialects.filter(({ id }) => id !== 'claude'))(
    'are told where a hosted call of an earlier answer becomes text: $id',
    ({ id }) => {
      const call = `{"type":"server_tool_use","id":"srvtoolu_1","name":"calculator","input":${ARGUMENTS}}`;
      const turns = `{"role":"user","content":"hi"},{"role":"assistant","content":[${call}]},{"role":"user","content":"go on"}`;
      const { upstream, error } = mapTo(
        targetOf(`sim:${id}`, 'sim-1'),
        'claude',
        read(`{"model":"m","max_tokens":50,"messages":[${turns}]}`),
      );
      expect(error).toBeUndefined();
      for (const number of NUMBERS) expect(times(JSON.stringify(upstream?.body), number)).toBeGreaterThan(0);
    },
  );

  test.each(pairs)('reach the engine as the caller wrote them: $name', ({ from, to }) => {
    const body = read(JSON.stringify(from.lowerRequest(asked, { lacks: new Set(), traits: new Set(), defaultMaxTokens: 100 }).body));
    const { upstream, error } = mapTo(targetOf(`sim:${to.id}`, 'sim-1'), from.id, body);
    expect(error).toBeUndefined();
    const text = JSON.stringify(upstream?.body);
    for (const number of NUMBERS) expect(times(text, number)).toBe(3);
  });

  test.each(pairs)('reach the caller as the engine wrote them: $name', ({ from: engine, to: caller }) => {
    const body = read(JSON.stringify(engine.lowerResponse(answer, context)));
    const text = JSON.stringify(caller.lowerResponse(engine.liftResponse(body), context));
    for (const number of NUMBERS) expect(times(text, number)).toBe(1);
  });

  test.each(pairs)('reach the caller of a stream as the engine wrote them: $name', ({ from: engine, to: caller }) => {
    const told = emitted(caller, stepsOfBytes(engine, Buffer.from(emitted(engine, unfold(answer), context)), 64), context);
    const fold = foldOf(stepsOfBytes(caller, Buffer.from(told), 64));
    const [call] = fold.response()?.parts ?? [];
    expect(call?.kind === 'tool-call' && call.arguments).toBe(ARGUMENTS);
  });
});

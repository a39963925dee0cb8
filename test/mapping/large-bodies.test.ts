import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { isJsonObject, type Json } from '../../src/base/json.ts';
import { translateWhole } from '../../src/calls/answers/translate.ts';
import { LargeBodies } from '../../src/calls/large-bodies/large-bodies.ts';
import { AbpError } from '../../src/contract/errors.ts';
import type { AnswerContext } from '../../src/dialects/dialect.ts';
import { dialects } from '../../src/dialects/index.ts';
import type { IrRequest } from '../../src/ir/request.ts';
import { AnswerChanges } from '../../src/mapping/answer-changes.ts';
import type { AnswerChange } from '../../src/mapping/answer-filter.ts';
import { type Prepared, type PrepareInput, prepare } from '../../src/mapping/prepare.ts';
import { patchText } from '../../src/mapping/thinking-override.ts';
import { type Fixture, fixturesOf } from '../conformance/dialect-fixtures.ts';
import { type MappingTarget, targetOf } from '../support/mapping.ts';

const TARGETS: readonly MappingTarget[] = [
  targetOf('claude', 'claude-sonnet-4-5'),
  targetOf('openai:openai-chat', 'gpt-4o'),
  targetOf('openai:openai-responses', 'gpt-5'),
  targetOf('gemini', 'gemini-3-pro'),
  targetOf('kimi', 'kimi-k2.5'),
  targetOf('copilot', 'gpt-4.1'),
];

function inputOf(
  target: MappingTarget,
  source: (typeof dialects)[number],
  { ir }: Fixture,
  more: Partial<PrepareInput> = {},
): PrepareInput {
  const { model, stream } = ir as unknown as IrRequest; // a fixture's ir.json is an IrRequest
  return {
    source,
    address: { model, stream },
    engine: target.engine,
    target: target.dialect,
    model: target.model,
    compatibility: 'best_effort',
    emulate: new Set(['extended_thinking']),
    requirements: { required: [{ capability: 'streaming', min_support: 'native' }] },
    unknownLeaves: 'report',
    ...more,
  };
}

/** An error is compared by what a caller sees of it. */
function seen({ error, ...prepared }: Prepared): unknown {
  return { ...prepared, error: error === undefined ? null : [error.code, error.message, error.details] };
}

const large = new LargeBodies();
afterAll(() => large.close());

describe('a request that is translated on another thread', () => {
  test.each(dialects)('comes out as it does on this one, to the byte and to the last line of its account: $id', async (source) => {
    for (const target of TARGETS.filter(({ dialect }) => dialect.id !== source.id)) {
      for (const fixture of fixturesOf(source.id)) {
        const text = Buffer.from(JSON.stringify(fixture.request), 'utf8');
        const counting = { operation: 'count-tokens', compatibility: 'strict' } as const;
        for (const input of [inputOf(target, source, fixture), inputOf(target, source, fixture, counting)]) {
          const { prepared } = await large.prepare(text, input);
          expect([fixture.name, seen(prepared)]).toEqual([fixture.name, seen(prepare(text, input))]);
        }
      }
    }
  });

  test('is refused the same way when it is no JSON, and the hash is that of its text', async () => {
    const [fixture] = fixturesOf('claude');
    const [claude] = dialects;
    const [, target] = TARGETS;
    if (fixture === undefined || claude === undefined || target === undefined) throw new Error('there is a first of everything');
    const { prepared, textSha256 } = await large.prepare(Buffer.from('{"a":'), inputOf(target, claude, fixture));
    expect(prepared.error).toMatchObject({ code: 'invalid_request' });
    expect(textSha256).toBe('ffb38b22ee3e0ca90325ebce953a9846990f292faf44c50498771602e31cb61f');
  });
});

describe('a request that gets the thinking of its run on another thread', () => {
  test.each(TARGETS)('has the same bytes and the same account as on this one: $name', async ({ engine, dialect, model }) => {
    for (const { request } of fixturesOf(dialect.id)) {
      const text = Buffer.from(JSON.stringify(request), 'utf8');
      const input = { dialect, engine, model, address: { model, stream: false }, override: { effort: 'high' } } as const;
      expect(await large.patch(text, input)).toEqual(patchText(text, input));
    }
  });

  test('is refused the same way when it is no object', async () => {
    const { engine, dialect, model } = targetOf('claude', 'claude-sonnet-4-5');
    const input = { dialect, engine, model, address: { model }, override: { budgetTokens: 2048 } };
    await expect(large.patch(Buffer.from('[]'), input)).rejects.toMatchObject({ code: 'invalid_request' });
  });
});

const context: AnswerContext = { runHex: 'ab'.repeat(16), createdAtMs: 0, model: 'm', includeUsage: true, query: '' };
const changes: AnswerChange[] = [
  { kind: 'input-estimate', tokens: 7 },
  { kind: 'tool-names', renames: new Map([['look/up', 'look']]) },
  { kind: 'custom-tools', names: new Set(['patch']) },
  { kind: 'single-call' },
  { kind: 'stop-cut', stop: ['END'] },
  { kind: 'tool-ids', rule: /^[a-zA-Z0-9_-]+$/, taken: ['call_1'] },
];

/** What comes of a translation, be it an error: some answers have no form in some dialects. */
async function told(translate: () => Promise<{ text: string | Buffer; observed: unknown }>): Promise<unknown> {
  const { text, observed } = await translate().catch((error: Error) => ({ text: error.message, observed: null }));
  return [text.toString(), observed];
}

describe('an answer that is translated on another thread', () => {
  test.each(dialects)('of $id comes out as it does on this one', async (engine) => {
    for (const { response } of fixturesOf(engine.id)) {
      if (!isJsonObject(response ?? null)) continue;
      for (const caller of dialects.filter(({ id }) => id !== engine.id)) {
        const body = Buffer.from(JSON.stringify(response), 'utf8');
        const here = await told(async () => translateWhole(body, { engine, caller, context, filter: new AnswerChanges(changes) }));
        const there = await told(() => large.translate(body, { engine: engine.id, caller: caller.id, context, changes, headers: [] }));
        expect(there).toEqual(here);
      }
    }
  });

  test('that cannot be read is an error with the same words', async () => {
    const way = { engine: 'openai-chat', caller: 'claude', context, changes: [], headers: [] };
    await expect(large.translate(Buffer.from('<html>'), way)).rejects.toThrow(/^The engine's answer is not JSON but: /);
  });

  test('that says that the engine failed is that failure, not a fault of ours', async () => {
    const way = { engine: 'openai-responses', caller: 'claude', context, changes: [], headers: [] };
    const failed = { id: 'resp_1', status: 'failed', error: { code: 'rate_limit_exceeded', message: 'Slow down.' }, output: [] };
    await expect(large.translate(Buffer.from(JSON.stringify(failed)), way)).rejects.toMatchObject({
      reason: { error: { kind: 'rate-limit', message: expect.stringContaining('Slow down.') } },
    });
  });

  test('has an account of the headers that came with it', async () => {
    const way = { engine: 'openai-chat', caller: 'claude', context, changes: [], headers: ['x-request-id', 'req_1'] };
    const answer = {
      id: 'c',
      object: 'chat.completion',
      choices: [{ index: 0, message: { role: 'assistant', content: 'x' }, finish_reason: 'stop' }],
    };
    const {
      record: { fidelity },
    } = await large.translate(Buffer.from(JSON.stringify(answer)), way);
    expect(fidelity).toContainEqual(expect.objectContaining({ path: '(header x-request-id)', code: 'header_of_engine' }));
  });
});

/** A request whose size is in the number of its values. */
function manyMessages(count: number): Json {
  return {
    model: 'm',
    messages: Array.from({ length: count }, (_, at) => ({ role: at % 2 === 0 ? 'user' : 'assistant', content: `${at}` })),
  };
}

describe('the threads', () => {
  const chat = targetOf('openai:openai-chat', 'gpt-4o');
  const input = (): PrepareInput => ({
    ...inputOf(targetOf('claude', 'claude-sonnet-4-5'), chat.dialect, { ir: { model: 'm', stream: false } } as unknown as Fixture),
    emulate: new Set(),
  });
  const text = (count: number): Buffer => Buffer.from(JSON.stringify(manyMessages(count)), 'utf8');

  test('end with a body that does not fit into their memory, and only its request fails', async () => {
    const small = new LargeBodies({ heapMb: 24 });
    onTestFinished(() => small.close());
    const tooMuch = small.prepare(text(200_001), input());
    const other = small.prepare(text(3), input());
    await expect(tooMuch).rejects.toMatchObject({ code: 'internal', message: expect.stringContaining('large bodies ended') });
    expect((await other).prepared.error).toBeUndefined();
    expect((await small.prepare(text(5), input())).prepared.upstream?.body.length).toBeGreaterThan(100);
  });

  test('have a queue with an end', async () => {
    const busy = new LargeBodies({ mostWaiting: 1 });
    onTestFinished(() => busy.close());
    const accepted = [1, 2, 3].map(() => busy.prepare(text(1001), input()));
    const refused = await busy.prepare(text(1), input()).catch((error: unknown) => error);
    expect(AbpError.is(refused) && refused.code).toBe('overloaded');
    expect((await Promise.all(accepted)).map(({ prepared }) => prepared.error)).toEqual([undefined, undefined, undefined]);
  });

  test('end with the process that holds them, and nobody waits for an answer that will not come', async () => {
    const closing = new LargeBodies();
    const jobs = [1, 2, 3].map(() => closing.prepare(text(50_001), input()));
    const settled = Promise.allSettled(jobs);
    await closing.close();
    expect((await settled).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    await expect(closing.prepare(text(1), input())).rejects.toMatchObject({ code: 'internal' });
  });
});

import { expect, it } from 'vitest';
import type { JsonObject } from '../../base/json.ts';
import type { IrEvent } from '../../ir/event.ts';
import { NO_USAGE } from '../../ir/usage.ts';
import { claude } from './dialect.ts';

const context = { runHex: '0'.repeat(32), createdAtMs: 0, model: 'm', includeUsage: false, query: '' };
const usage = { ...NO_USAGE, inputTokens: 3, outputTokens: 2 };

function emitted(events: readonly IrEvent[]): string[] {
  const emitter = claude.emitter(context);
  const text = events.map((event) => emitter.emit(event)).join('');
  return [...text.matchAll(/"content_block":(\{.*?\})\}/g)].map(([, block]) => block ?? '');
}

it('a block that only another vendor knows is not shown, neither in a stream nor in a whole answer', () => {
  const search = {
    kind: 'vendor',
    dialect: 'openai-responses',
    type: 'web_search_call',
    meta: { 'openai-responses': { id: 'ws_1' } },
  } as const;
  const events: IrEvent[] = [
    { type: 'message-start', id: 'a', model: 'm', usage },
    { type: 'part-start', index: 0, part: search },
    { type: 'part-end', index: 0 },
    { type: 'part-start', index: 1, part: { kind: 'text' } },
    { type: 'part-delta', index: 1, text: 'found' },
    { type: 'part-end', index: 1 },
    { type: 'message-end', finish: 'stop', usage },
  ];
  expect(emitted(events)).toEqual(['{"type":"text","text":""}']);
  const response = { id: 'a', model: 'm', parts: [search, { kind: 'text', text: 'found' } as const], finish: 'stop', usage } as const;
  expect(claude.lowerResponse(response, context).content).toEqual([{ type: 'text', text: 'found' }]);
});

it('a call that the model made directly carries nothing, in a stream as in a whole answer; any other caller is kept', () => {
  const liftBoth = (caller: JsonObject): unknown[] => {
    const block = { type: 'tool_use', id: 't', name: 'f', input: {}, caller };
    const data = JSON.stringify({ type: 'content_block_start', index: 0, content_block: block });
    const [started] = claude.stepper().step({ event: 'content_block_start', data });
    const body = { id: 'm1', model: 'm', content: [block], stop_reason: 'tool_use', usage: { input_tokens: 1, output_tokens: 1 } };
    const [part] = claude.liftResponse(body).parts;
    return [started?.type === 'part-start' && 'meta' in started.part ? started.part.meta : undefined, part?.meta];
  };
  expect(liftBoth({ type: 'direct' })).toEqual([undefined, undefined]);
  const program = { type: 'code_execution_20250825', tool_id: 'srvtoolu_1' };
  expect(liftBoth(program)).toEqual([{ claude: { caller: program } }, { claude: { caller: program } }]);
});

it('a call that the token limit cut off is left out of a whole answer, which stays an answer', () => {
  const part = (text: string) => ({ kind: 'tool-call', id: text, name: 'f', arguments: text }) as const;
  const parts = [{ kind: 'text', text: 'so' } as const, part('{"a":1}'), part('{"a":')];
  const answer = claude.lowerResponse({ id: 'a', model: 'm', parts, finish: 'length', usage }, context);
  expect([answer.stop_reason, answer.content]).toEqual([
    'max_tokens',
    [
      { type: 'text', text: 'so' },
      { type: 'tool_use', id: '{"a":1}', name: 'f', input: { a: 1 } },
    ],
  ]);
});

it('a block that only Claude has is told once all of its pieces have come', () => {
  const events: JsonObject[] = [
    { type: 'content_block_start', index: 0, content_block: { type: 'compaction', content: null } },
    { type: 'content_block_delta', index: 0, delta: { type: 'compaction_delta', content: 'We spoke ' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'compaction_delta', content: 'of trees.' } },
    { type: 'content_block_stop', index: 0 },
  ];
  const reader = claude.stepper();
  expect(events.flatMap((event) => reader.step({ event: '', data: JSON.stringify(event) }))).toEqual([
    {
      type: 'part-start',
      index: 0,
      part: {
        kind: 'vendor',
        dialect: 'claude',
        type: 'compaction',
        meta: { claude: { type: 'compaction', content: 'We spoke of trees.' } },
      },
    },
    { type: 'part-end', index: 0 },
  ]);
});

it('what comes behind the end of an answer is counted and not told', () => {
  const seen: unknown[] = [];
  const reader = claude.stepper((value) => seen.push(value));
  const told = [{ type: 'message_stop' }, { type: 'message_stop' }].flatMap((event) =>
    reader.step({ event: '', data: JSON.stringify(event) }),
  );
  expect(told.map(({ type }) => type)).toEqual(['message-end']);
  expect(seen).toHaveLength(2);
});

it('a block that only Claude has is told at the end of the answer where its own end is missing', () => {
  const block = { type: 'compaction', content: 'We spoke of trees.' };
  const reader = claude.stepper();
  const told = [{ type: 'content_block_start', index: 0, content_block: block }, { type: 'message_stop' }].flatMap((event) =>
    reader.step({ event: '', data: JSON.stringify(event) }),
  );
  expect(told.map((event) => (event.type === 'part-start' && 'meta' in event.part ? event.part.meta : event.type))).toEqual([
    { claude: block },
    'part-end',
    'message-end',
  ]);
});

it.each([
  ['the words alone', { type: 'error', error: 'the disk is full' }],
  ['words beside the type of the event', { type: 'error', message: 'the disk is full' }],
  ['a body without a type', { error: 'the disk is full' }],
])('an error keeps its words in the form of %s, mapped and seen from aside', (_, event) => {
  const data = JSON.stringify(event);
  expect(claude.stepper().step({ event: 'error', data })).toEqual([
    { type: 'error', error: { kind: 'server', message: 'the disk is full', status: 200 } },
  ]);
  const observer = claude.observeStream();
  observer.frame(Buffer.from(`event: error\ndata: ${data}\n\n`));
  expect(observer.done().error).toBe('the disk is full');
});

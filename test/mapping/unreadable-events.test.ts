import { describe, expect, test } from 'vitest';
import { dialects } from '../../src/dialects/index.ts';
import { EngineFailure } from '../../src/ir/engine-failure.ts';
import { streamedAnswer, wholeAnswer } from '../support/answer-translation.ts';
import { fixtureStreams } from '../truth/sources.ts';

const streams = fixtureStreams().map(({ id, from, stream }) => ({ id, from, events: stream.toString('utf8').split(/(?<=\r?\n\r?\n)/) }));

/** A frame whose data ends in the middle, as a proxy leaves it that breaks a line off. */
function cut(frame: string): string | undefined {
  const [, before = '', data = '', after = ''] = /^(.*?data: ?)(\{[^\r\n]*)(.*)$/s.exec(frame) ?? [];
  return data === '' ? undefined : `${before}${data.slice(0, Math.ceil(data.length / 2))}${after}`;
}

/** Cuts each event of a stream in turn. What comes behind the end of an answer is not read, so that its last two may be missing. */
function silentCuts({ id, from, events }: (typeof streams)[number], caller: string): readonly { at: string; silent: boolean }[] {
  const whole = streamedAnswer(from, caller, Buffer.from(events.join('')));
  if (whole.error !== undefined) return [];
  return events.flatMap((frame, at) => {
    const broken = cut(frame);
    if (broken === undefined) return [];
    const { error, text } = streamedAnswer(from, caller, Buffer.from(events.with(at, broken).join('')));
    const silent = error === undefined && (text !== whole.text || at < events.length - 2);
    return [{ at: `${id}, event ${at}`, silent }];
  });
}

describe.each(dialects.map(({ id }) => id))('in a stream of %s', (engine) => {
  const own = streams.filter(({ from }) => from === engine);
  const caller = engine === 'claude' ? 'openai-chat' : 'claude';

  test('an event that was cut off ends the answer with an error: its words would be missing without a sign', () => {
    const tried = own.flatMap((stream) => silentCuts(stream, caller));
    expect(tried.filter(({ silent }) => silent).map(({ at }) => at)).toEqual([]);
    expect(tried.length).toBeGreaterThan(5);
  });

  test('text that is no JSON keeps the connection alive and says nothing', () => {
    for (const { events } of own) {
      const text = streamedAnswer(engine, caller, Buffer.from(events.join(''))).text;
      const lines = events.flatMap((frame) => ['data: keep-alive\n\n', ': comment\n\n', frame]).join('');
      expect(streamedAnswer(engine, caller, Buffer.from(lines)).text).toBe(text);
    }
  });
});

const chunk = (delta: object) => ({
  id: 'c',
  object: 'chat.completion.chunk',
  model: 'm',
  choices: [{ index: 0, delta, finish_reason: null }],
});
const END = { id: 'c', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] };

test.each([
  ['openai-chat', [chunk({ content: 'Yes' }), chunk({ content: 5 }), END]],
  ['kimi', [chunk({ tool_calls: [{ index: 0, id: 'c1', function: { name: 'f', arguments: { a: 1 } } }] }), END]],
  ['copilot', [chunk({ tool_calls: 'none' }), END]],
  ['claude', [{ type: 'content_block_start', index: '0', content_block: { type: 'text', text: '' } }, { type: 'message_stop' }]],
])('a piece of %s that has another form than the vendor says ends the answer with an error that names the place', (engine, events) => {
  const { error } = streamedAnswer(engine, 'gemini', JSON.parse(JSON.stringify(events)) as never);
  expect(error).toMatch(/^an event of the engine's stream cannot be read: (?:choices\[0\]\.delta|index)/);
});

test('an event in whose middle the stream ends is told as the early end that it is', () => {
  const bytes = Buffer.from(`data: ${JSON.stringify(chunk({ content: 'He' }))}\n\ndata: {"id":"c","choices":[{"index":0,"del`);
  expect(streamedAnswer('openai-chat', 'claude', bytes).error).toBe('the engine closed the stream early');
});

test('an odd chunk that says nothing of the answer is passed over', () => {
  const odd = { id: 7, choices: [], usage: 'none' };
  const { error } = streamedAnswer('openai-chat', 'claude', [chunk({ content: 'Yes' }), odd, END] as never);
  expect(error).toBeUndefined();
});

test.each(dialects.map(({ id }) => id))('a caller of %s reads why the engine behind OpenRouter gave up, whole and streamed', (caller) => {
  const error = { code: 429, message: 'the provider is out of breath' };
  const whole = { id: 'c', model: 'm', choices: [{ index: 0, message: { content: 'half' }, finish_reason: 'error', error }] };
  expect(() => wholeAnswer('openai-chat', caller, whole)).toThrow(
    new EngineFailure({ kind: 'rate-limit', message: error.message, status: 200 }),
  );
  const told = streamedAnswer('openai-chat', caller, [
    { ...whole, choices: [{ index: 0, delta: { content: 'half' }, finish_reason: 'error', error }] },
  ]);
  expect(told.error).toBe('the provider is out of breath');
  expect(told.text).toContain('out of breath');
});

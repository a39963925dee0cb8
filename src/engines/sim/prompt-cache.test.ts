import { expect, it } from 'vitest';
import type { IrRequest } from '../../ir/request.ts';
import { PromptCache, prefixesOf } from './prompt-cache.ts';

const clock = { time: 0, now: () => clock.time };
const message = (role: 'user' | 'assistant', text: string) => ({ role, parts: [{ kind: 'text' as const, text }] });
const request = (...texts: string[]): IrRequest => ({
  model: 'm',
  stream: false,
  tools: [],
  stop: [],
  sampling: {},
  vendor: {},
  messages: texts.map((text, at) => message(at % 2 === 0 ? 'user' : 'assistant', text)),
});
const part = (cache: PromptCache, one: IrRequest, body = ''): number => cache.use(prefixesOf(one), Buffer.from(body));

it('remembers the beginning of a prompt message by message, and nothing of another one', () => {
  const cache = new PromptCache(clock);
  const [long, other] = ['one '.repeat(100), 'two '.repeat(100)];
  expect(part(cache, request(long))).toBe(0);
  const again = part(cache, request(long, 'answer', 'more'));
  expect(again).toBeGreaterThan(0.5);
  expect(part(cache, request(long, 'answer', 'more', 'answer', 'and more'))).toBeGreaterThan(again);
  expect(part(cache, request(other))).toBeLessThan(0.2);
});

it('forgets after five minutes, or after an hour where the request asks for that', () => {
  const cache = new PromptCache(clock);
  const asks = (model: string, ttl: string): number => part(cache, { ...request('words', 'a', 'b'), model }, `{"ttl":"${ttl}"}`);
  asks('short', '5m');
  asks('long', '1h');
  clock.time += 6 * 60_000;
  expect(asks('short', '5m')).toBe(0);
  expect(asks('long', '5m')).toBeGreaterThan(0);
  clock.time += 61 * 60_000;
  expect(asks('long', '5m')).toBe(0);
});

import { describe, expect, it } from 'vitest';
import { type OpenCall, OpenCalls } from './open-calls.ts';

const call = (toolName: string, words = '{}'): OpenCall => ({ toolName, words, told: false, asked: false });

describe('open calls', () => {
  it('are found by what they say, the oldest first, until they have the mark', () => {
    const open = new OpenCalls();
    const [first, second, other] = [call('read'), call('read'), call('write')];
    for (const one of [first, second, other]) open.add(one);
    expect(open.without('asked', call('read'))).toBe(first);
    open.mark(first, 'asked');
    expect(open.without('asked', call('read'))).toBe(second);
    expect(open.without('told', call('read'))).toBe(first);
    open.remove(second);
    expect(open.without('asked', call('read'))).toBeUndefined();
    expect(open.without('asked', call('read', '{"a":1}'))).toBeUndefined();
  });

  it('tell which one was told of and not asked about, if it is one alone', () => {
    const open = new OpenCalls();
    const [first, second] = [call('a'), call('b')];
    for (const one of [first, second]) open.add(one);
    expect(open.onlyUnasked()).toBeUndefined();
    open.mark(first, 'told');
    expect(open.onlyUnasked()).toBe(first);
    open.mark(second, 'told');
    expect(open.onlyUnasked()).toBeUndefined();
    open.mark(first, 'asked');
    expect(open.onlyUnasked()).toBe(second);
    open.remove(second);
    open.mark(second, 'told');
    expect(open.onlyUnasked()).toBeUndefined();
  });

  it('are looked at one by one only where they are asked for: twenty thousand cost as many looks', () => {
    let looks = 0;
    const watched = (): OpenCall => ({
      ...call('read'),
      get words() {
        looks += 1;
        return '{}';
      },
    });
    const open = new OpenCalls();
    const calls = Array.from({ length: 20_000 }, watched);
    for (const one of calls) {
      open.add(one);
      open.mark(one, 'asked');
      open.without('asked', one);
      open.onlyUnasked();
    }
    expect(looks).toBeLessThan(20 * calls.length);
  });
});

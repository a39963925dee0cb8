import { describe, expect, it } from 'vitest';
import { Load } from './load.ts';

const clock = { time: 1_000_000, now: () => clock.time };
const fresh = (ownKey = true): Load => new Load(clock, { ownKey });

describe('a deployment', () => {
  it('that limits one model is left alone for that model, as long as it asks', () => {
    const load = fresh();
    load.answered(429, ['retry-after', '20'], 'opus');
    expect([load.restFor('opus', clock.now()), load.restFor('haiku', clock.now())]).toEqual([20_000, 0]);
    load.answered(200, [], 'opus');
    expect(load.restFor('opus', clock.now())).toBe(0);
  });

  it('that fails without a word rests twice as long each time, and calls that fail together count once', () => {
    const load = fresh();
    const pauses = Array.from({ length: 7 }, () => {
      load.failed('unreachable');
      load.answered(503, [], 'opus');
      const pause = load.restFor(null, clock.now());
      clock.time += pause;
      return pause;
    });
    expect(pauses).toEqual([1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]);
    load.answered(200, [], null);
    load.failed('broken');
    expect(load.restFor(null, clock.now())).toBe(1000);
  });

  it.each([429, 529])('that answered %i rests on when a call that was asked before is answered well after all', (status) => {
    const load = fresh();
    const [early, refused] = [load.begin(), load.begin()];
    load.answered(status, ['retry-after', '30'], 'opus', refused);
    load.answered(200, [], 'opus', early);
    expect(load.restFor('opus', clock.now())).toBe(30_000);
    load.answered(200, [], 'opus', load.begin());
    expect(load.restFor('opus', clock.now())).toBe(0);
  });

  it.each([429, 529])(
    'that answered %i to calls under way together rests as long as it told one of them, and then as told last',
    (status) => {
      const load = fresh();
      const calls = Array.from({ length: 8 }, () => load.begin());
      for (const [at, call] of calls.entries()) load.answered(status, ['retry-after', String(at === 0 ? 60 : 1)], 'opus', call);
      expect(load.restFor('opus', clock.now())).toBe(60_000);
      load.answered(status, ['retry-after', '2'], 'opus', load.begin());
      expect(load.restFor('opus', clock.now())).toBe(2000);
      // All of these count as two times: without a word the third pause follows.
      clock.time += 2000;
      load.answered(status, [], 'opus', load.begin());
      expect(load.restFor('opus', clock.now())).toBe(status === 429 ? 20_000 : 4000);
    },
  );

  it('that fails rests by itself, whatever it tells of its limits', () => {
    const load = fresh();
    load.answered(500, ['x-ratelimit-remaining-tokens', '29000', 'x-ratelimit-reset-tokens', '6ms'], 'opus');
    expect(load.restFor('opus', clock.now())).toBe(1000);
  });

  it('that does not take our key rests altogether', () => {
    const load = fresh();
    load.answered(401, [], 'opus');
    expect(load.rests(clock.now())).toEqual([{ reason: 'key_refused', until: clock.now() + 60_000, model: null }]);
  });

  it('that forbids something rests for that model, longer with every time, and not at all where no model is asked for', () => {
    const load = fresh();
    load.answered(403, [], null);
    expect(load.rests(clock.now())).toEqual([]);
    load.answered(403, [], 'opus');
    expect(load.rests(clock.now())).toEqual([{ reason: 'key_refused', until: clock.now() + 1000, model: 'opus' }]);
    expect(load.restFor('haiku', clock.now())).toBe(0);
    clock.time += 1000;
    load.answered(403, [], 'opus');
    expect(load.restFor('opus', clock.now())).toBe(2000);
    load.answered(200, [], 'opus');
    expect(load.rests(clock.now())).toEqual([]);
  });

  it('is not blamed for the key or the limits of a caller', () => {
    const load = fresh(false);
    load.answered(401, [], 'opus');
    load.answered(403, [], 'opus');
    load.answered(429, ['retry-after', '9'], 'opus');
    expect(load.rests(clock.now())).toEqual([]);
  });

  it('is not blamed for a caller who leaves, nor for requests that it does not understand', () => {
    const load = fresh();
    load.failed('aborted');
    load.failed('busy');
    load.answered(400, [], 'opus');
    expect(load.rests(clock.now())).toEqual([]);
  });

  it('remembers the limits of no more than some models', () => {
    const load = fresh();
    for (let at = 0; at < 1000; at += 1) load.answered(429, ['retry-after', '60'], `model-${at}`);
    expect(load.rests(clock.now())).toHaveLength(256);
    expect(load.restFor('model-999', clock.now())).toBe(60_000);
  });
});

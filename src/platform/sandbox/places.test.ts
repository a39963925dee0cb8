import { setImmediate } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { Places } from './places.ts';

it('lets no more in than there are places, in the order in which they came', async () => {
  const places = new Places(2);
  const began: number[] = [];
  const gates = [0, 1, 2, 3].map(() => Promise.withResolvers<void>());
  const works = gates.map((gate, index) =>
    places.hold(async () => {
      began.push(index);
      await gate.promise;
    }),
  );
  expect(began).toEqual([0, 1]);
  gates[1]?.resolve();
  await works[1];
  await setImmediate();
  expect(began).toEqual([0, 1, 2]);
  for (const gate of gates) gate.resolve();
  await Promise.all(works);
  expect(began).toEqual([0, 1, 2, 3]);
});

it('gives a place back when the work fails', async () => {
  const places = new Places(1);
  await expect(places.hold(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(await places.hold(() => Promise.resolve(1))).toBe(1);
});

it('does not let somebody in before those who wait', async () => {
  const places = new Places(1);
  const order: string[] = [];
  const first = places.hold(() => Promise.resolve());
  const second = places.hold(() => Promise.resolve(order.push('second')));
  await first;
  await Promise.all([second, places.hold(() => Promise.resolve(order.push('third')))]);
  expect(order).toEqual(['second', 'third']);
});

it('refuses when too many wait', async () => {
  const places = new Places(1);
  const gate = Promise.withResolvers<void>();
  const waiting = Array.from({ length: 101 }, () => places.hold(() => gate.promise));
  await expect(places.hold(() => Promise.resolve())).rejects.toMatchObject({ code: 'overloaded' });
  gate.resolve();
  await Promise.all(waiting);
});

it('lets somebody who gives up leave the line, and those behind move up', async () => {
  const places = new Places(1);
  const gate = Promise.withResolvers<void>();
  const first = places.hold(() => gate.promise);
  const impatient = new AbortController();
  const second = places.hold(() => Promise.resolve('never'), impatient.signal);
  const third = places.hold(() => Promise.resolve('third'));
  impatient.abort();
  expect(await second).toBeUndefined();
  expect(await places.hold(() => Promise.resolve('late'), impatient.signal)).toBeUndefined();
  gate.resolve();
  await first;
  expect(await third).toBe('third');
});

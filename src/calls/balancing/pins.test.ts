import { expect, it } from 'vitest';
import type { Deployment } from '../deployment.ts';
import { Pins } from './pins.ts';

const place = {} as Deployment; // nothing of it is looked at

it('forgets the conversation that was quiet longest, and never remembers more than it may', () => {
  const pins = new Pins(3);
  for (const key of [1, 2, 3]) pins.set({ key, lifetimeMs: 1000 }, place, 0);
  pins.set({ key: 1, lifetimeMs: 1000 }, place, 1);
  pins.set({ key: 4, lifetimeMs: 1000 }, place, 2);
  expect([1, 2, 3, 4].map((key) => pins.get(key, 3) === place)).toEqual([true, false, true, true]);
  expect(pins.size).toBe(3);
});

it('keeps the longest life that a conversation asked for', () => {
  const pins = new Pins();
  pins.set({ key: 1, lifetimeMs: 3_600_000 }, place, 0);
  pins.set({ key: 1, lifetimeMs: 300_000 }, place, 10);
  expect(pins.get(1, 3_599_999)).toBe(place);
  expect(pins.get(1, 3_600_000)).toBeUndefined();
});

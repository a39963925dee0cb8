import { expect, test } from 'vitest';
import { Health } from './health.ts';

function at(start: number): { clock: { now(): number }; pass(ms: number): void } {
  let now = start;
  const pass = (ms: number): void => {
    now += ms;
  };
  return { clock: { now: () => now }, pass };
}

const policy = { failures: 2, openMs: 1000 };

test('without a policy an engine is always called, and its failures are still counted', () => {
  const health = new Health(undefined, at(0).clock);
  for (let count = 0; count < 10; count += 1) health.failed('unreachable', 'refused');
  expect(health.admits()).toBe(true);
  expect(health.snapshot()).toMatchObject({ state: 'closed', failuresInARow: 10, lastFailure: 'refused' });
});

test('a run of failures opens the breaker, one call probes it later, and its success closes it', () => {
  const { clock, pass } = at(0);
  const health = new Health(policy, clock);
  health.answered(503);
  expect(health.admits()).toBe(true);
  health.failed('timeout', 'too slow');
  expect(health.admits()).toBe(false);
  pass(1000);
  expect(health.snapshot().state).toBe('half_open');
  expect(health.admits()).toBe(true);
  expect(health.admits()).toBe(false);
  health.answered(200);
  expect(health.snapshot()).toMatchObject({ state: 'closed', failuresInARow: 0 });
});

test('a probe that fails keeps the breaker open for another while', () => {
  const { clock, pass } = at(0);
  const health = new Health(policy, clock);
  health.answered(500);
  health.answered(500);
  pass(1000);
  expect(health.admits()).toBe(true);
  health.answered(500);
  expect(health.admits()).toBe(false);
});

test('a caller who leaves and a full connection pool are not the engine’s failures', () => {
  const health = new Health(policy, at(0).clock);
  health.failed('aborted', 'gone');
  health.failed('busy', 'full');
  health.failed('aborted', 'gone');
  expect(health.snapshot()).toMatchObject({ state: 'closed', failuresInARow: 0 });
});

test('a success in between starts the count anew', () => {
  const health = new Health(policy, at(0).clock);
  health.answered(500);
  health.answered(200);
  health.answered(500);
  expect(health.snapshot().state).toBe('closed');
});

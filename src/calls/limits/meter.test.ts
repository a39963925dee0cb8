import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Meter } from './meter.ts';

const MINUTE = 60_000;

describe('a meter', () => {
  it('lets the whole measure through at once, and then as much as runs off', () => {
    const meter = new Meter(60);
    for (let at = 0; at < 60; at += 1) {
      expect(meter.waitFor(1, 1000)).toBe(0);
      meter.use(1, 1000);
    }
    expect(meter.waitFor(1, 1000)).toBe(1000);
    expect(meter.waitFor(1, 2000)).toBe(0);
    expect(meter.waitFor(2, 2000)).toBe(1000);
  });

  it('lets more than the whole measure through once nothing is used, and then waits for as long as it takes', () => {
    const meter = new Meter(100);
    expect(meter.waitFor(250, 0)).toBe(0);
    meter.use(250, 0);
    expect(meter.waitFor(1, 0)).toBe(90_600);
    meter.use(-250, 0);
    expect(meter.waitFor(1, 0)).toBe(0);
  });

  it('never lets more than twice the measure through in a minute, whatever the arrivals', () => {
    const arrivals = fc.array(fc.record({ gap: fc.nat(5000), amount: fc.integer({ min: 1, max: 50 }) }), { maxLength: 200 });
    fc.assert(
      fc.property(fc.integer({ min: 50, max: 500 }), arrivals, (limit, all) => {
        const meter = new Meter(limit);
        const taken: { at: number; amount: number }[] = [];
        let now = 1;
        for (const { gap, amount } of all) {
          now += gap;
          if (meter.waitFor(amount, now) > 0) continue;
          meter.use(amount, now);
          taken.push({ at: now, amount });
        }
        for (const { at } of taken) {
          const inMinute = taken.filter((one) => one.at >= at && one.at < at + MINUTE).reduce((sum, one) => sum + one.amount, 0);
          expect(inMinute).toBeLessThanOrEqual(2 * limit + 1);
        }
      }),
    );
  });

  it('fits what it said to wait for, once that time has passed', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1000 }), fc.nat(3000), fc.integer({ min: 1, max: 1000 }), (limit, used, amount) => {
        const meter = new Meter(limit);
        meter.use(used, 0);
        expect(meter.waitFor(amount, meter.waitFor(amount, 0))).toBe(0);
      }),
    );
  });
});

import fc from 'fast-check';
import { expect, it } from 'vitest';
import { NODE_TIMING, NodeWatch } from './node-watch.ts';

const LOST_MS = 120_000;
const beatOf = (beat: number | null) => [{ node: 'node_a', beat }];

/** Looks every ten seconds from a time on; the time of the first look that finds the node lost. */
function firstLost(watch: NodeWatch, from: number, beatAt: (time: number) => number | null): number | undefined {
  for (let time = from; time <= from + 10 * LOST_MS; time += 10_000) if (watch.look(beatOf(beatAt(time)), time).length > 0) return time;
  return undefined;
}

it('waits for two minutes, and nodes speak often enough for that', () => {
  expect(NODE_TIMING).toEqual({ beatMs: 10_000, lostMs: 120_000 });
});

it('takes a node for lost when it has been silent for the whole time', () => {
  expect(firstLost(new NodeWatch(LOST_MS), 0, () => 7)).toBe(LOST_MS);
});

it('takes a node that is not remembered for silent', () => {
  expect(firstLost(new NodeWatch(LOST_MS), 0, () => null)).toBe(LOST_MS);
});

it('counts from the last time that the node spoke', () => {
  expect(firstLost(new NodeWatch(LOST_MS), 0, (time) => Math.min(time, 60_000))).toBe(60_000 + LOST_MS);
});

it('hears a clock of the database that was set back', () => {
  expect(firstLost(new NodeWatch(LOST_MS), 0, (time) => 1_000_000 - time)).toBeUndefined();
});

it('has nobody lost who speaks again', () => {
  const watch = new NodeWatch(LOST_MS);
  const lost = firstLost(watch, 0, () => 7) ?? Number.NaN;
  expect(watch.look(beatOf(8), lost + 10_000)).toEqual([]);
});

it('starts over after a time in which it did not look, and when its clock is set back', () => {
  for (const gap of [61_000, 5 * 60_000, -10_000]) {
    const watch = new NodeWatch(LOST_MS);
    for (let time = 0; time <= 110_000; time += 10_000) watch.look(beatOf(7), time);
    expect(firstLost(watch, 110_000 + gap, () => 7)).toBe(110_000 + gap + LOST_MS);
  }
});

it('never takes a node for lost that spoke within the time, however it looks', () => {
  const pauses = fc.array(fc.integer({ min: 1, max: 200_000 }), { maxLength: 60 });
  fc.assert(
    fc.property(pauses, fc.integer({ min: 1000, max: 110_000 }), (looks, everyMs) => {
      const watch = new NodeWatch(LOST_MS);
      let time = 0;
      for (const pause of looks) {
        time += pause;
        expect(watch.look(beatOf(Math.floor(time / everyMs)), time)).toEqual([]);
      }
    }),
  );
});

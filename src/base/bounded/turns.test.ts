import { expect, it } from 'vitest';
import { endsTurn, ownTurn } from './turns.ts';

/** How many turns of the event loop have passed. */
function countTurns(): { readonly now: () => number; stop(): void } {
  let turns = 0;
  let over = false;
  const count = (): void => {
    turns += 1;
    if (!over) setImmediate(count);
  };
  setImmediate(count);
  return {
    now: () => turns,
    stop: () => {
      over = true;
    },
  };
}

it('gives each slice a turn of its own, in the order in which they were asked for', async () => {
  const { now, stop } = countTurns();
  const order: string[] = [];
  const turns: number[] = [];
  const work = async (name: string): Promise<void> => {
    for (let slice = 1; slice <= 3; slice += 1) {
      await ownTurn();
      order.push(`${name}${slice}`);
      turns.push(now());
    }
  };
  await Promise.all([work('a'), work('b'), work('c')]);
  stop();
  expect(order).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'c2', 'a3', 'b3', 'c3']);
  expect(new Set(turns).size).toBe(turns.length);
});

it('lets small amounts pass, and has those who read more go on in the next turn', async () => {
  const goneOn: string[] = [];
  expect(endsTurn(1000, () => goneOn.push('small'))).toBe(false);
  expect(endsTurn(300 * 1024, () => goneOn.push('large'))).toBe(true);
  expect(endsTurn(1, () => goneOn.push('late'))).toBe(true);
  expect(goneOn).toEqual([]);
  await new Promise((resolve) => setImmediate(resolve));
  await expect.poll(() => goneOn).toEqual(['large', 'late']);
});

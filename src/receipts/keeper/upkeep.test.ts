import { expect, it } from 'vitest';
import { Upkeep } from './upkeep.ts';

it('work that fails is told once, is tried again after a second, and keeps nothing else from its turn', async () => {
  const [done, told]: [string[], string[]] = [[], []];
  let refused = 'no right to do so';
  const upkeep = new Upkeep(
    [
      {
        failed: 'first',
        run: async () => {
          done.push('first');
          if (refused !== '') throw new Error(refused);
        },
      },
      { failed: 'second', run: async () => void done.push('second') },
    ],
    (message) => told.push(message),
  );
  for (const at of [0, 500, 1000]) await upkeep.turn(at);
  expect([done, told]).toEqual([['first', 'second', 'second', 'first', 'second'], ['first: no right to do so']]);
  refused = 'no room';
  await upkeep.turn(2000);
  refused = '';
  await upkeep.turn(3000);
  refused = 'no room';
  await upkeep.turn(3001);
  expect([told, upkeep.isFaulty]).toEqual([['first: no right to do so', 'first: no room', 'first: no room'], true]);
});

it('work that failed is tried at once where the clock was set back', async () => {
  let tries = 0;
  const upkeep = new Upkeep([{ failed: 'only', run: () => Promise.reject(new Error(`${++tries}`)) }], () => undefined);
  for (const at of [10_000_000, 5_000_000]) await upkeep.turn(at);
  expect(tries).toBe(2);
});

import { expect, it } from 'vitest';
import { endAll, endInTurn } from './end-all.ts';

it('takes every step in turn, also after one that fails, and tells what went wrong', async () => {
  const taken: number[] = [];
  const step =
    (number: number, fails = false) =>
    async () => {
      taken.push(number);
      if (fails) throw new Error(`step ${number}`);
    };
  expect(await endAll([step(1), step(2, true), step(3), step(4, true)])).toEqual([new Error('step 2'), new Error('step 4')]);
  expect(taken).toEqual([1, 2, 3, 4]);
  await expect(endInTurn(step(5, true), step(6))).rejects.toEqual(new Error('step 5'));
  await expect(endInTurn(step(7, true), step(8, true), step(9))).rejects.toMatchObject({
    errors: [new Error('step 7'), new Error('step 8')],
  });
  await endInTurn(step(10));
  expect(taken).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
});

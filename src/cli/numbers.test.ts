import { expect, it } from 'vitest';
import { compact, counted } from './numbers.ts';

it('columns show three figures of a number', () => {
  expect([999, 1000, 18_234, 253_900_000, 4_100_000_000].map(compact)).toEqual(['999', '1.0k', '18.2k', '254M', '4.1G']);
});

it('sentences say a number of things exactly', () => {
  expect([counted(1, 'receipt'), counted(1011, 'receipt'), counted(0, 'call has', 'calls have')]).toEqual([
    '1 receipt',
    '1,011 receipts',
    '0 calls have',
  ]);
});

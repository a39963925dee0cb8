import { expect, it } from 'vitest';
import { EgressBook } from './egress-book.ts';

it('names a place that was reached behind any number of places that were refused, and counts what it does not name', () => {
  const book = new EgressBook();
  for (let at = 0; at < 1005; at += 1) book.add({ host: `h${at}.invalid`, port: 443, refused: 'has no address' });
  expect(book.add({ host: 'example.com', port: 443 })).toBe(true);
  expect(book.add({ host: 'example.com', port: 443 })).toBe(false);
  const rules = book.rules();
  expect(rules.slice(-2)).toEqual([
    { rule: 'network', by: 'os', detail: 'example.com:443 (2 times)' },
    { rule: 'network', by: 'os', detail: '5 more connections were refused, to further places' },
  ]);
  expect(rules[0]).toEqual({ rule: 'network', by: 'os', detail: 'h0.invalid:443 refused: it has no address' });
  expect(rules.length).toBe(1002);
});

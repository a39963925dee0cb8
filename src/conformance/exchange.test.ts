import { expect, it } from 'vitest';
import { addresses } from './exchange.ts';

it.each([
  ['http://a.test', 'http://a.test', 'http://a.test'],
  ['http://a.test/v1/', 'http://a.test', 'http://a.test'],
  ['http://a.test/v1beta', 'http://a.test', 'http://a.test'],
  ['http://a.test/e/sim', 'http://a.test/e/sim', 'http://a.test'],
  ['http://a.test/sub/k/abp_1/e/sim:gemini/v1', 'http://a.test/sub/k/abp_1/e/sim:gemini', 'http://a.test/sub'],
])('%s is asked at %s, and its own routes at %s', (url, base, root) => {
  expect(addresses(url)).toEqual({ base, root });
});

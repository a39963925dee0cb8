import { expect, it } from 'vitest';
import { hostPattern, matchesHost, withinHosts } from './host-patterns.ts';

it.each([
  ['example.com', 'example.com'],
  ['EXAMPLE.com.', 'example.com'],
  ['bücher.example', 'xn--bcher-kva.example'],
  ['*.bücher.example', 'a.xn--bcher-kva.example'],
  ['1.1', '1.0.0.1'],
  ['0x01010101', '1.1.1.1'],
  ['10.*', '10.1.2.3'],
  ['2606:4700::1111', '2606:4700::1111'],
  ['[2606:4700:0::1111]:443', '2606:4700::1111'],
  ['2606:4700:*', '2606:4700::1111'],
  ['my_host', 'my_host'],
])('%s means the host %s, as a URL writes it', (pattern, host) => {
  expect(hostPattern(pattern)).toBeDefined();
  expect(matchesHost(pattern, host, 443, 'any')).toBe(true);
});

it.each([
  '',
  ' ',
  'https://example.com',
  'example.com/path',
  'example.com:abc',
  'example.com:0',
  'example.com:99999',
  'example.com:*',
  '10.0.0.0/8',
  '2606:4700::/32',
  '{a,b}.example.com',
  'b*ü.example',
  'a b.example',
  'user@example.com',
  '.example.com',
  'a..example.com',
  '[example.com]',
  '999.1.1.1',
])('%j names no host, and is not taken for a rule', (pattern) => {
  expect(() => hostPattern(pattern)).toThrow('names no host');
});

it.each<[string, string, string | undefined]>([
  ['*', 'example.com', 'example.com'],
  ['*.example.com', 'API.example.com', 'API.example.com'],
  ['*.example.com', '*.a.example.com', '*.a.example.com'],
  ['example.com', '*', undefined],
  ['*', 'example.com:443', 'example.com:443'],
  ['*', 'example.com:8443', undefined],
  ['*:8443', 'example.com:8443', 'example.com:8443'],
  ['example.com:443', 'example.com', 'example.com:443'],
  ['example.com:8443', 'example.com', undefined],
  ['*', '127.0.0.1', undefined],
  ['*', '[::1]:443', undefined],
  ['127.0.0.1', '127.0.0.1', '127.0.0.1'],
  ['127.0.0.1:9000', '127.0.0.1:9000', '127.0.0.1:9000'],
  ['127.0.0.1', '127.0.0.1:9000', undefined],
  ['*', '1.1.1.1', '1.1.1.1'],
])('of what %s allows, %s takes %s', (outer, wished, within) => {
  expect(withinHosts(outer, wished)).toBe(within);
});

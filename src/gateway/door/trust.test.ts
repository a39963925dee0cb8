import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from 'vitest';
import { Config } from '../config.ts';
import { isLoopbackAddress, isLoopbackHost, trustCheck } from './trust.ts';

function verdict(headers: Record<string, string>, server: object = {}): string {
  const check = trustCheck(Config.parse({ server }), () => 8088);
  try {
    check({ headers, rawHeaders: Object.entries(headers).flat() } as unknown as IncomingMessage); // the check reads nothing but headers
    return 'passes';
  } catch (error) {
    return (error as { code: string }).code; // the check throws AbpError alone
  }
}

describe('the Host header', () => {
  it.each(['127.0.0.1:8088', 'localhost:8088', 'LOCALHOST:8088', '[::1]:8088'])('%s is ours', (host) => {
    expect(verdict({ host })).toBe('passes');
  });

  it.each(['evil.test', 'evil.test:8088', '127.0.0.1', '127.0.0.1:80', 'localhost.evil.test:8088', '127.0.0.1:8088.evil.test', ''])(
    '"%s" is not',
    (host) => {
      expect(verdict({ host })).toBe('misdirected_request');
    },
  );

  it('must be there', () => {
    expect(verdict({})).toBe('invalid_request');
    expect(verdict({}, { trust_proxy: true })).toBe('invalid_request');
  });

  it('may be a configured name, with and without the port, in any case', () => {
    const server = { hosts: ['Abp.Example.test'] };
    expect(verdict({ host: 'abp.example.test' }, server)).toBe('passes');
    expect(verdict({ host: 'ABP.example.test:8088' }, server)).toBe('passes');
    expect(verdict({ host: 'abp.example.test:1' }, server)).toBe('misdirected_request');
  });

  it('is the proxy’s affair behind one', () => {
    expect(verdict({ host: 'public.test' }, { trust_proxy: true })).toBe('passes');
  });
});

describe('the Origin header', () => {
  const host = '127.0.0.1:8088';

  it.each(['http://127.0.0.1:8088', 'https://127.0.0.1:8088'])('%s is our own', (origin) => {
    expect(verdict({ host, origin })).toBe('passes');
  });

  it.each(['null', 'http://127.0.0.1:9000', 'http://localhost:8088', 'http://evil.test', 'file://', 'http://127.0.0.1:8088.evil.test', ''])(
    '"%s" is somebody else’s',
    (origin) => {
      expect(verdict({ host, origin })).toBe('forbidden');
    },
  );

  it('may be a configured one, also from another site', () => {
    const server = { origins: ['https://app.test'] };
    expect(verdict({ host, origin: 'https://app.test', 'sec-fetch-site': 'cross-site' }, server)).toBe('passes');
    expect(verdict({ host, origin: 'https://app.test.evil.test' }, server)).toBe('forbidden');
  });
});

describe('Sec-Fetch-Site', () => {
  it.each([
    ['cross-site', 'forbidden'],
    ['same-site', 'forbidden'],
    ['same-origin', 'passes'],
    ['none', 'passes'],
  ])('%s %s', (site, expected) => {
    expect(verdict({ host: '127.0.0.1:8088', 'sec-fetch-site': site })).toBe(expected);
  });
});

it('knows loopback addresses', () => {
  expect(['127.0.0.1', '127.9.9.9', '::1', '::ffff:127.0.0.1'].filter(isLoopbackAddress)).toHaveLength(4);
  expect(['10.0.0.1', '0.0.0.0', '::', '::ffff:10.0.0.1', undefined, ''].filter(isLoopbackAddress)).toEqual([]);
  expect(['127.0.0.1', 'localhost', '::1', '[::1]'].filter(isLoopbackHost)).toHaveLength(4);
  expect(['0.0.0.0', '::', '', 'example.test'].filter(isLoopbackHost)).toEqual([]);
});

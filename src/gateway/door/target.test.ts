import { describe, expect, it } from 'vitest';
import { parseTarget } from './target.ts';

describe('parseTarget', () => {
  it.each([
    ['/v1/messages', { path: '/v1/messages', query: '' }],
    ['/v1/messages?beta=true&a=%2F', { path: '/v1/messages', query: '?beta=true&a=%2F' }],
    ['/e/sim/v1/messages', { path: '/v1/messages', query: '', engine: 'sim' }],
    ['/e/sim', { path: '/', query: '', engine: 'sim' }],
    ['/e/sim%3Aclaude/v1', { path: '/v1', query: '', engine: 'sim:claude' }],
    ['/k/abp_x/v1/messages', { path: '/v1/messages', query: '', key: 'abp_x' }],
    ['/k/abp_x/e/sim/v1/messages?a', { path: '/v1/messages', query: '?a', key: 'abp_x', engine: 'sim' }],
    ['/v1/models/a.b..c', { path: '/v1/models/a.b..c', query: '' }],
    ['/v1/a?b=/../c', { path: '/v1/a', query: '?b=/../c' }],
    ['/', { path: '/', query: '' }],
  ])('takes %s apart', (url, target) => {
    expect(parseTarget(url)).toEqual(target);
  });

  it.each([
    '//evil.test/v1',
    '/e/sim//evil.test/v1',
    '/k/abp_x//v1',
    'http://evil.test/v1/messages',
    '*',
    '/../etc',
    '/v1/./messages',
    '/v1/..',
    '/v1/%2e%2e/x',
    '/v1/%2E./x',
    '/e/../v1/keys',
    '/v1/..%2fkeys',
    '/v1/a%5C..%5cb',
    '/v1/a\\..\\b',
    '/e/%zz/v1/messages',
  ])('refuses %s', (url) => {
    expect(() => parseTarget(url)).toThrow(expect.objectContaining({ code: 'invalid_request' }));
  });
});

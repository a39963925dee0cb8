import { expect, test } from 'vitest';
import { refusedCaller, refusedPlace, type Secret, Secrets } from './secrets.ts';

const secrets = new Secrets([{ name: 'KEY', value: 'a/b "c"', hosts: [] }]);

test('a secret is taken out of text as it stands, as JSON writes it and as an address writes it', () => {
  expect(secrets.redact('it is a/b "c".')).toBe('it is [secret KEY].');
  expect(secrets.redact('{"key":"a/b \\"c\\""}')).toBe('{"key":"[secret KEY]"}');
  expect(secrets.redact('?key=a%2Fb%20%22c%22&x=1')).toBe('?key=[secret KEY]&x=1');
  expect(secrets.redact('?key=a%2Fb+%22c%22')).toBe('?key=[secret KEY]');
  expect(secrets.redact('nothing')).toBe('nothing');
});

test('a secret is taken out of every place of a value', () => {
  expect(secrets.redactJson({ list: ['a/b "c"', 1, null], 'a/b "c"': true })).toEqual({
    list: ['[secret KEY]', 1, null],
    '[secret KEY]': true,
  });
  expect(secrets.redactJson('a/b "c"')).toBe('[secret KEY]');
});

test('a secret goes to the hosts, with the methods and to the paths that its operator named', () => {
  const secret: Secret = { name: 'KEY', value: 'v', hosts: ['a.test'], methods: ['GET'], paths: ['/v1/orders/*'] };
  const refused = (url: string, method = 'GET'): string | undefined => refusedPlace(secret, new URL(url), method);
  expect(refused('https://a.test/v1/orders/7')).toBeUndefined();
  expect(refused('https://b.test/v1/orders/7')).toBe('The secret KEY may not be sent to b.test.');
  expect(refused('https://a.test/v1/orders/7', 'DELETE')).toBe('The secret KEY may not be sent with DELETE.');
  expect(refused('https://a.test/v1/admin')).toBe('The secret KEY may not be sent to /v1/admin.');
  expect(refused('https://a.test/v1/orders/..%2Fadmin')).toBe('The secret KEY may not be sent to /v1/orders/..%2Fadmin.');
  expect(refusedPlace({ name: 'KEY', value: 'v', hosts: ['a.test'] }, new URL('https://a.test/any'), 'PUT')).toBeUndefined();
});

test('a secret is for the keys and tags that its operator named, and for everybody where none is', () => {
  const secret: Secret = { name: 'KEY', value: 'v', hosts: [], keys: ['key_1'], tags: ['team:shop'] };
  expect(refusedCaller(secret, { keyId: 'key_1', tags: [] })).toBeUndefined();
  expect(refusedCaller(secret, { keyId: 'key_2', tags: ['team:shop'] })).toBeUndefined();
  expect(refusedCaller(secret, { keyId: 'key_2', tags: ['team:other'] })).toMatch(/may not be used by this caller/);
  expect(refusedCaller(secret, { keyId: null })).toMatch(/may not be used/);
  expect(refusedCaller(secret, undefined)).toMatch(/may not be used/);
  expect(refusedCaller({ ...secret, keys: ['local'] }, { keyId: null })).toBeUndefined();
  expect(refusedCaller({ name: 'KEY', value: 'v', hosts: [] }, undefined)).toBeUndefined();
});

import { expect, test } from 'vitest';
import { Secrets } from './secrets.ts';

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

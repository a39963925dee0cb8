import { expect, it } from 'vitest';
import { embeddedError } from './embedded-error.ts';

it.each([
  ['plain words', { message: 'plain words' }],
  ['[API Error: {"error":{"code":429,"message":"slow down","status":"X"}}]', { message: 'slow down', status: 429 }],
  ['{"error":{"message":"{\\"error\\":{\\"message\\":\\"deep\\",\\"code\\":400}}"}}', { message: 'deep', status: 400 }],
  ['{"error":{"code":"E001","message":"no form"}}', { message: 'no form' }],
  ['broken {"error":', { message: 'broken {"error":' }],
  ['{"error":"a word"}', { message: '{"error":"a word"}' }],
])('reads %s', (text, failure) => {
  expect(embeddedError(text)).toEqual(failure);
});

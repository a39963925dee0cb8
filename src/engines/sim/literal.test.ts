import { expect, test } from 'vitest';
import { findObject, objectAt, quotedAt, unquote } from './literal.ts';

test('an apostrophe inside a word does not close a quote', () => {
  expect(quotedAt("'it's fine' and more", 0)).toEqual({ value: "it's fine", end: 11 });
});

test('text that is not quoted or stays open is no quote', () => {
  expect(quotedAt('plain', 0)).toBeUndefined();
  expect(quotedAt('"open', 0)).toBeUndefined();
});

test('typographic quotes are quotes', () => {
  expect(quotedAt('“hello” there', 0)?.value).toBe('hello');
  expect(unquote('“hello”')).toBe('hello');
  expect(unquote('"')).toBe('"');
});

test('an object ends at its own brace, whatever its strings hold', () => {
  expect(objectAt('{"a":"}\\"{","b":{"c":1}} tail }', 0)).toEqual({ value: '{"a":"}\\"{","b":{"c":1}}', end: 24 });
});

test('braces that hold no JSON are no object', () => {
  expect(objectAt('{a: 1}', 0)).toBeUndefined();
  expect(objectAt('{"a":1', 0)).toBeUndefined();
});

test('the first object that is accepted is found', () => {
  const text = 'use {x} or {"a":1} or {"b": 2 }';
  expect(findObject(text, () => true)).toBe('{"a":1}');
  expect(findObject(text, (object) => 'b' in object)).toBe('{"b": 2 }');
  expect(findObject(text, (object) => 'c' in object)).toBeUndefined();
});

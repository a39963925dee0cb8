import { expect, it } from 'vitest';
import { heldBack } from './protected-paths.ts';

it.each([
  ['made', 'a/b', undefined],
  ['a/b/made', '../../c', undefined],
  ['a/made', './../b/', undefined],
  ['made', '..', 'the link leads out of the workspace'],
  ['a/made', '../../b', 'the link leads out of the workspace'],
  ['made', '/etc', 'the link leads out of the workspace'],
  // Where a/up leads to the workspace itself, this one leads beside it.
  ['made', 'a/up/../beside', 'the link may lead out of the workspace'],
  ['a/made', '../a/./up/../../a', 'the link may lead out of the workspace'],
])('judges a link %s that says %s', (path, target, held) => {
  expect(heldBack(path, { type: 'link', target })).toBe(held);
});

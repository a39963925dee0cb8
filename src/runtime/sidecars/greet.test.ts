import { expect, it } from 'vitest';
import { tellingLine } from './greet.ts';

it.each([
  ['node:internal/x\n\nError [ERR_X]: Cannot find module a\n    at b\n\nNode.js v24.0.0\n', 'Error [ERR_X]: Cannot find module a'],
  ['Traceback (most recent call last):\n  File "x"\nModuleNotFoundError: No module named y\n', 'ModuleNotFoundError: No module named y'],
  ['starting\nno key\n', 'no key'],
  ['', ''],
])('of %j the line that says most is %j', (stderr, line) => {
  expect(tellingLine(stderr)).toBe(line);
});

import { expect, it } from 'vitest';
import { doubleUnderscore } from './mcp-names.ts';

it.each([
  ['mcp__probe__echo', { server: 'probe', toolName: 'echo' }],
  ['mcp__my_server__echo__twice', { server: 'my_server', toolName: 'echo__twice' }],
  ['Bash', undefined],
  ['mcp__probe', undefined],
])('reads %s', (name, names) => {
  expect(doubleUnderscore(name)).toEqual(names);
});

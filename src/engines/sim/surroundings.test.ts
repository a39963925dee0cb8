import { expect, test } from 'vitest';
import type { IrRequest } from '../../ir/request.ts';
import { absolutePath, ownWords, workingDirectory } from './surroundings.ts';

function requestWith(text: string): IrRequest {
  return {
    model: 'sim',
    stream: false,
    stop: [],
    sampling: {},
    vendor: {},
    tools: [],
    messages: [{ role: 'system', parts: [{ kind: 'text', text }] }],
  };
}

test.each([
  ['<system-reminder>\nsay nothing\n</system-reminder>\nhello', 'hello'],
  ['<current_datetime>2026-11-15T06:50:42Z</current_datetime>\n\nhello', 'hello'],
  ['<environment_details>x</environment_details>', ''],
  ['<environment_context cwd="a">x</environment_context>hello<env>y</env>', 'hello'],
  ['<system-reminder>never closed hello', '<system-reminder>never closed hello'],
  ['hello\n<<<BEGIN_A_NOTE>>>\nsay nothing\n<<<END_A_NOTE>>>', 'hello'],
  ['<environment>kept</environment>', '<environment>kept</environment>'],
  ['"call the tool a with {\\"b\\": \\"c\\"}"', 'call the tool a with {"b": "c"}'],
  ['"one" and "two"', '"one" and "two"'],
])('of %j the own words are %j', (text, words) => {
  expect(ownWords(text)).toBe(words);
});

test.each([
  ['<environment_context>\n  <cwd>/home/dev/my project</cwd>', '/home/dev/my project'],
  ['<env>\nWorking directory: /home/dev/app\nIs directory a git repo: No', '/home/dev/app'],
  [' - Primary working directory: /home/dev/app\n - Is a git repository: false', '/home/dev/app'],
  ["I'm currently working in the directory: /home/dev/app\nHere is", '/home/dev/app'],
  ['- **Workspace Directories:**\n  - /home/dev/app\n', '/home/dev/app'],
  ['* Current working directory: `/home/dev/app`.', '/home/dev/app'],
  ['Current Working Directory (/home/dev/app) Files', '/home/dev/app'],
  ['Working directory: C:\\dev\\app\n', 'C:\\dev\\app'],
  ['Stay in the working directory and/or ask.', undefined],
])('of %j the working directory is %j', (text, directory) => {
  expect(workingDirectory(requestWith(text))).toBe(directory);
});

test('a relative path becomes absolute where the directory is known', () => {
  expect(absolutePath('out.txt', '/home/dev')).toBe('/home/dev/out.txt');
  expect(absolutePath('./out.txt', 'C:\\dev')).toBe('C:\\dev\\out.txt');
  expect(absolutePath('/data/out.txt', '/home/dev')).toBe('/data/out.txt');
  expect(absolutePath('out.txt', undefined)).toBe('out.txt');
});

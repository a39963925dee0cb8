import { expect, it } from 'vitest';
import type { Json } from '../../../base/json.ts';
import { riskOf } from './risk.ts';

it.each<[string, string, Json, [string, ...string[]]]>([
  ['reads a file here', 'Read', { file_path: 'src/a.ts' }, ['low']],
  ['writes a file here', 'Write', { file_path: '/w/src/a.ts', content: 'cat /etc/passwd' }, ['low', 'writes']],
  ['writes elsewhere', 'Write', { file_path: '/etc/hosts' }, ['high', 'writes', 'writes_outside']],
  ['writes elsewhere by dots', 'Edit', { file_path: '../x' }, ['high', 'writes', 'writes_outside']],
  ['reads elsewhere', 'Read', { file_path: '/etc/hosts' }, ['medium', 'reads_outside']],
  ['reads a secret', 'Read', { file_path: '.env' }, ['high', 'secrets']],
  ['runs a command', 'Bash', { command: 'npm test' }, ['medium', 'runs_command']],
  ['runs a command as words', 'shell', { command: ['ls', '-l'] }, ['medium', 'runs_command']],
  ['calls out', 'Bash', { command: 'curl https://example.com' }, ['medium', 'network', 'runs_command']],
  ['fetches', 'WebFetch', { url: 'https://example.com', prompt: 'x' }, ['medium', 'network']],
  ['removes elsewhere', 'Bash', { command: 'rm -rf ~/projects' }, ['high', 'runs_command', 'writes_outside']],
  ['shows a key', 'Bash', { command: 'cat ~/.ssh/id_ed25519' }, ['high', 'reads_outside', 'runs_command', 'secrets']],
  ['throws output away', 'Bash', { command: 'make > /dev/null' }, ['medium', 'runs_command']],
  ['says nothing', 'TodoWrite', {}, ['low', 'writes']],
])('%s', (_, tool, input, [level, ...facts]) => {
  expect(riskOf(tool, input, '/w')).toEqual({ level, facts });
});

import { expect, it } from 'vitest';
import type { Json } from '../../../base/json.ts';
import { riskAsked, riskOf } from './risk.ts';

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

it.each<[string, { toolName?: string; action: string; detail: string }, [string, ...string[]]]>([
  [
    'a command as plain text',
    { toolName: 'shell', action: 'shell', detail: 'curl https://example.com' },
    ['medium', 'network', 'runs_command'],
  ],
  ['a command that writes elsewhere', { action: 'Bash', detail: 'rm -rf ~/x' }, ['high', 'runs_command', 'writes_outside']],
  ['an input', { toolName: 'Write', action: 'Write', detail: '{"file_path":"/w/a"}' }, ['low', 'writes']],
  ['a change that is not told', { toolName: 'apply_patch', action: 'apply_patch', detail: 'a.ts' }, ['high', 'writes']],
  ['words', { action: 'Continue?', detail: 'rm -rf / is mentioned here' }, ['high']],
])('of what an agent asks: %s', (_, asked, [level, ...facts]) => {
  expect(riskAsked({ ...asked, riskLevel: 'high' }, '/w')).toEqual({ level, facts });
});

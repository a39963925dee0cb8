import { expect, test } from 'vitest';
import { type JsonObject, parseJsonObject } from '../../base/json.ts';
import { type CallableTool, writeCall } from './file-tools.ts';

const text = { type: 'string' };
const file = { path: 'out.txt', text: "it's\nhere", directory: '/home/dev' };
const command = "printf '%s' 'it'\\''s\nhere' > out.txt && cat out.txt";
const patch = "*** Begin Patch\n*** Add File: out.txt\n+it's\n+here\n*** End Patch";

function tool(name: string, properties: Record<string, JsonObject>, required: readonly string[] = Object.keys(properties)): CallableTool {
  return { kind: 'function', name, schema: { type: 'object', properties, required: [...required] } };
}

test.each<[string, CallableTool, object]>([
  ['Claude Code Write', tool('Write', { file_path: text, content: text }), { file_path: '/home/dev/out.txt', content: "it's\nhere" }],
  [
    'Gemini CLI write_file',
    tool('write_file', { content: text, file_path: text }),
    { file_path: '/home/dev/out.txt', content: "it's\nhere" },
  ],
  ['opencode write', tool('write', { content: text, filePath: text }), { filePath: '/home/dev/out.txt', content: "it's\nhere" }],
  ['Copilot create', tool('create', { path: text, file_text: text }), { path: '/home/dev/out.txt', file_text: "it's\nhere" }],
  ['droid Create', tool('Create', { file_path: text, content: text }), { file_path: '/home/dev/out.txt', content: "it's\nhere" }],
  ['an MCP file server', tool('mcp__fs__write_file', { path: text, content: text }), { path: '/home/dev/out.txt', content: "it's\nhere" }],
  [
    'a text editor',
    tool(
      'str_replace_based_edit_tool',
      { command: { type: 'string', enum: ['view', 'create'] }, path: text, file_text: text, view_range: { type: 'array' } },
      ['command', 'path'],
    ),
    { path: '/home/dev/out.txt', file_text: "it's\nhere", command: 'create' },
  ],
  ['opencode apply_patch', tool('apply_patch', { patchText: text }), { patchText: patch }],
  ['Codex exec_command', tool('exec_command', { cmd: text, workdir: text }, ['cmd']), { cmd: command }],
  [
    'Codex shell',
    tool('shell', { command: { type: 'array', items: text }, timeout_ms: { type: 'number' } }, ['command']),
    { command: ['bash', '-lc', command] },
  ],
  ['cline run_commands', tool('run_commands', { commands: { type: 'array', items: text } }), { commands: [command] }],
  [
    'Copilot bash',
    tool('bash', { command: text, description: text, mode: { type: 'string', enum: ['sync', 'async'] } }),
    { command, description: 'Write out.txt', mode: 'sync' },
  ],
  [
    'Gemini CLI replace',
    tool('replace', { file_path: text, instruction: text, old_string: text, new_string: text }),
    { file_path: '/home/dev/out.txt', instruction: 'Write out.txt', old_string: '', new_string: "it's\nhere" },
  ],
])('writes with %s', (_, offered, expected) => {
  const call = writeCall([tool('Read', { file_path: text }), offered], file);
  expect(call?.name).toBe(offered.name);
  expect(parseJsonObject(call?.arguments ?? '')).toEqual(expected);
});

test('writes with a free-form patch tool', () => {
  expect(writeCall([{ kind: 'custom', name: 'apply_patch' }], file)).toEqual({ name: 'apply_patch', arguments: patch, custom: true });
});

test('a shell makes the folder first', () => {
  const call = writeCall([tool('Bash', { command: text })], { path: 'a b/c.txt', text: 'hi', directory: undefined });
  expect(parseJsonObject(call?.arguments ?? '')).toEqual({ command: "mkdir -p 'a b' && printf '%s' hi > 'a b/c.txt' && cat 'a b/c.txt'" });
});

test('a tool made for writing is preferred to a shell and an edit', () => {
  const shell = tool('Bash', { command: text });
  const edit = tool('Edit', { file_path: text, old_string: text, new_string: text });
  const write = tool('Write', { file_path: text, content: text });
  expect(writeCall([edit, shell, write], file)?.name).toBe('Write');
  expect(writeCall([edit, shell], file)?.name).toBe('Bash');
  expect(writeCall([edit], file)?.name).toBe('Edit');
});

test('tools that cannot write a file are not used', () => {
  expect(
    writeCall([tool('TodoWrite', { todos: { type: 'array' } }), tool('Read', { file_path: text }), tool('create', { title: text })], file),
  ).toBeUndefined();
  expect(writeCall([], file)).toBeUndefined();
});

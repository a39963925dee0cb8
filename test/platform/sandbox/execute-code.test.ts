import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/base/json.ts';
import { executeCode } from '../../../src/platform/capabilities/sandbox/execute-code.ts';
import { PythonSandbox } from '../../../src/platform/sandbox/python.ts';
import { Sandbox } from '../../../src/platform/sandbox/sandbox.ts';
import type { ToolOutcome } from '../../../src/platform/tool.ts';
import { callTool, temporaryWorkspace } from '../../support/tool-call.ts';

const javascript = new Sandbox();

function execute(input: JsonObject, options: { path?: string; config?: JsonObject; signal?: AbortSignal } = {}): Promise<ToolOutcome> {
  const tool = executeCode({ javascript, python: new PythonSandbox({ path: options.path ?? '' }), config: options.config ?? {} });
  return callTool(tool, input, options.signal === undefined ? {} : { signal: options.signal });
}

/**
 * A folder with a bwrap that confines nothing: it drops its own options and runs the rest. It shows how the process is handled; what
 * bubblewrap itself holds back is not tested here.
 */
function pretendBubblewrap(): string {
  const folder = temporaryWorkspace();
  const file = join(folder, 'bwrap');
  writeFileSync(file, '#!/bin/sh\nPATH=/usr/bin:/bin:/usr/local/bin\nwhile [ "$1" != "--" ]; do shift; done\nshift\nexec "$@"\n');
  chmodSync(file, 0o755);
  return folder;
}

describe('execute_code', () => {
  it.each<[string, JsonObject]>([
    ['1 + 1', { status: 'completed', stdout: '', value: 2 }],
    ['console.log("a", { b: [1] }); "z"', { status: 'completed', stdout: 'a {"b":[1]}\n', value: 'z' }],
    ['const x = await Promise.resolve(4); console.log(x)', { status: 'completed', stdout: '4\n' }],
    ['Promise.resolve({ a: 1 })', { status: 'completed', stdout: '', value: { a: 1 } }],
    ['console.log("before"); throw new TypeError("no")', { status: 'threw', stdout: 'before\n', error: 'TypeError: no' }],
    ['Promise.reject(new Error("later"))', { status: 'threw', stdout: '', error: 'Error: later' }],
    ['new Promise(() => 1)', { status: 'threw', stdout: '', error: 'the code waits for something that never happens' }],
    ['(', { status: 'threw', stdout: '', error: "SyntaxError: unexpected token in expression: ''" }],
  ])('runs %j', async (code, output) => {
    expect(await execute({ language: 'javascript', code })).toEqual({ output });
  });

  it('runs TypeScript without its types, and says so when that is not enough', async () => {
    const code = 'interface P { x: number }\nconst p: P = { x: 2 };\n(p as P).x * 3';
    expect(await execute({ language: 'typescript', code })).toEqual({ output: { status: 'completed', stdout: '', value: 6 } });
    expect(await execute({ language: 'typescript', code: 'enum A { b }' })).toMatchObject({
      output: { status: 'threw', error: expect.stringContaining('enum') },
    });
  });

  it('ends when the settings or the call say so', async () => {
    const code = 'for (;;) {}';
    const started = performance.now();
    expect(await execute({ language: 'javascript', code }, { config: { timeout_ms: 200 } })).toMatchObject({
      output: { status: 'timed_out' },
    });
    expect(await execute({ language: 'javascript', code }, { signal: AbortSignal.timeout(600) })).toMatchObject({
      output: { status: 'timed_out', error: 'the call was given up' },
    });
    expect(performance.now() - started).toBeLessThan(4500);
  });

  it.each([[{ language: 'ruby', code: '1' }], [{ code: '1' }], [{ language: 'javascript' }]])('refuses %j', async (input) => {
    expect(await execute(input)).toEqual({ error: expect.any(String) });
  });

  it('says that Python is not supported where it cannot be confined', async () => {
    expect(await execute({ language: 'python', code: 'print(1)' })).toEqual({
      error: expect.stringMatching(/^python is not supported here\. .*bubblewrap.* Use javascript or typescript\.$/),
    });
  });

  it('says so too when bubblewrap is there and does not work', async () => {
    const folder = temporaryWorkspace();
    writeFileSync(join(folder, 'bwrap'), '#!/bin/sh\necho "bwrap: no permissions" >&2\nexit 1\n');
    chmodSync(join(folder, 'bwrap'), 0o755);
    expect(await execute({ language: 'python', code: 'print(1)' }, { path: folder })).toEqual({
      error: expect.stringContaining('bwrap: no permissions'),
    });
  });

  it.runIf(process.platform === 'linux')('hands Python its source, keeps what it prints, and ends it in time', async () => {
    const path = pretendBubblewrap();
    const python = new PythonSandbox({ path });
    expect(await python.unavailable()).toBeUndefined();
    expect(await python.run('import sys\nprint("a" * 3, sys.argv)')).toEqual({
      status: 'completed',
      stdout: "aaa ['code.py']\n",
      truncated: false,
    });
    expect(await python.run('raise ValueError("no")')).toMatchObject({ status: 'threw', error: expect.stringContaining('ValueError: no') });
    expect(await python.run('while True: pass', { limits: { timeMs: 300 } })).toMatchObject({ status: 'timed_out' });
    expect(await python.run('while True: print("x" * 1000)', { limits: { timeMs: 500, outputCharacters: 2000 } })).toMatchObject({
      status: 'timed_out',
      truncated: true,
    });
    expect(await python.run('x = bytearray(10**10)')).toMatchObject({ status: 'threw', error: expect.stringContaining('MemoryError') });
  });
});

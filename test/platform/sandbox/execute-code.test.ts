import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/base/json.ts';
import { executeCode } from '../../../src/platform/capabilities/sandbox/execute-code.ts';
import { PythonSandbox } from '../../../src/platform/sandbox/python.ts';
import { Sandbox } from '../../../src/platform/sandbox/sandbox.ts';
import type { ToolOutcome } from '../../../src/platform/tools/tool.ts';
import { NOT_LINUX, needing } from '../../support/needs.ts';
import { callTool, temporaryWorkspace } from '../../support/tool-call.ts';

const javascript = new Sandbox();

interface Options {
  readonly path?: string;
  readonly config?: JsonObject;
  readonly signal?: AbortSignal;
}

/** Code that ends by itself has time enough to get there on a busy machine. */
async function execute(input: JsonObject, { path = '', config = { timeout_ms: 60_000 }, signal }: Options = {}): Promise<ToolOutcome> {
  const tool = await executeCode({ javascript, python: new PythonSandbox({ environment: { PATH: path } }), config });
  return await callTool(tool, input, signal === undefined ? {} : { signal });
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
    expect(performance.now() - started).toBeLessThan(60_000);
  });

  it.each([[{ language: 'ruby', code: '1' }], [{ code: '1' }], [{ language: 'javascript' }]])('refuses %j', async (input) => {
    expect(await execute(input)).toEqual({ error: expect.any(String) });
  });

  it('says that Python is not supported where it cannot be confined, in its description and to its caller', async () => {
    const reason =
      process.platform === 'linux'
        ? 'Python needs bubblewrap (bwrap), which is not installed on this server.'
        : 'Python needs bubblewrap, which exists on Linux only.';
    const { description } = await executeCode({ javascript, python: new PythonSandbox({ environment: {} }), config: {} });
    expect(description.endsWith(` python is not supported here. ${reason}`)).toBe(true);
    expect(await execute({ language: 'python', code: 'print(1)' })).toEqual({
      error: `python is not supported here. ${reason} Use javascript or typescript.`,
    });
  });

  it.skipIf(NOT_LINUX !== undefined)(needing('asks again after a minute why there is no Python, not before', NOT_LINUX), async () => {
    let now = 0;
    const folder = temporaryWorkspace();
    const python = new PythonSandbox({ environment: { PATH: folder } }, { now: () => now });
    expect(await python.unavailable()).toContain('bwrap');
    writeFileSync(join(folder, 'bwrap'), '#!/bin/sh\n');
    chmodSync(join(folder, 'bwrap'), 0o755);
    now = 59_000;
    expect(await python.unavailable()).toContain('bwrap');
    now = 60_000;
    expect(await python.unavailable()).toContain('prlimit');
  });
});

import { describe, expect, it } from 'vitest';
import { Sandbox } from '../../../src/platform/sandbox/sandbox.ts';

const sandbox = new Sandbox();
/** A busy machine may take seconds for what ends by itself; only code that does not end is given little time. */
const LIMITS = { timeMs: 100_000, memoryBytes: 32 * 1024 * 1024 };
const SOON = 100;

async function run(code: string, timeMs = LIMITS.timeMs): ReturnType<Sandbox['run']> {
  return await sandbox.run({ language: 'javascript', code }, { limits: { ...LIMITS, timeMs } });
}

describe.concurrent('what code cannot reach', () => {
  it.each([
    ['process', 'typeof process'],
    ['require', 'typeof require'],
    ['module', 'typeof module'],
    ['fetch', 'typeof fetch'],
    ['XMLHttpRequest', 'typeof XMLHttpRequest'],
    ['WebSocket', 'typeof WebSocket'],
    ['setTimeout', 'typeof setTimeout'],
    ['Buffer', 'typeof Buffer'],
    ['WebAssembly', 'typeof WebAssembly'],
    ['Atomics', 'typeof Atomics'],
    ['Deno', 'typeof Deno'],
    ['std of QuickJS', 'typeof std'],
    ['os of QuickJS', 'typeof os'],
    ['process through the constructor of a constructor', 'this.constructor.constructor("return typeof process")()'],
    ['process through a function of the prelude', 'console.log.constructor("return typeof process")()'],
    ['process through the prototype of a host function', 'Object.getPrototypeOf(console.log).constructor("return typeof process")()'],
    ['process through a thrown error', 'try { null.x } catch (error) { error.constructor.constructor("return typeof process")() }'],
    ['process through an async function', 'Object.getPrototypeOf(async () => 1).constructor("return typeof process")()'],
    ['process through a getter of console', 'Object.values(Object.getOwnPropertyDescriptors(console)).map((d) => typeof d.get)[0]'],
    ['process through the caller of a function', '(function f() { return typeof f.caller === "function" ? "in" : "undefined" })()'],
    ['process through a stack of another engine', 'Error.prepareStackTrace = (_, sites) => sites; typeof new Error().stack[0]?.getThis'],
    ['process through a symbol', 'typeof Object.getOwnPropertySymbols(globalThis).map((key) => globalThis[key]).find((x) => x?.process)'],
    ['shared memory', 'typeof SharedArrayBuffer === "undefined" ? "undefined" : typeof new SharedArrayBuffer(8).port'],
    ['process through indirect eval', '(0, eval)("typeof process")'],
  ])('%s', async (_, code) => {
    expect(await run(code)).toMatchObject({ status: 'completed', value: 'undefined' });
  });

  it.each([
    ['import of a module of Node', 'import("node:fs").then(() => "in")'],
    ['import of a file', 'import("/etc/passwd").then(() => "in")'],
    ['import of an address', 'import("https://example.test/x.js").then(() => "in")'],
    ['static import', 'import fs from "node:fs"; export const a = 1;'],
  ])('%s', async (_, code) => {
    const { status, value, error } = await run(code);
    expect([status, value]).toEqual(['threw', undefined]);
    expect(error).not.toContain('root:');
  });
});

describe('what code can see', () => {
  it('is what the language brings, and console', async () => {
    const { value } = await run('Object.getOwnPropertyNames(globalThis).filter((name) => /^[a-z]/.test(name)).sort()');
    expect(value).toEqual([
      'console',
      'decodeURI',
      'decodeURIComponent',
      'encodeURI',
      'encodeURIComponent',
      'escape',
      'eval',
      'globalThis',
      'isFinite',
      'isNaN',
      'parseFloat',
      'parseInt',
      'undefined',
      'unescape',
    ]);
  });

  it('is of its own realm: what is printed crosses as text', async () => {
    const code =
      'String.prototype.toString = function () { return { forged: true } }; console.log({ toJSON: () => "x" }, new String("y")); 1';
    expect(await run(code)).toMatchObject({ status: 'completed', stdout: expect.any(String) });
  });
});

describe.concurrent('what code cannot use up', () => {
  it.each([
    ['time, with a loop', 'for (;;) {}'],
    ['time, with a loop that catches everything', 'for (;;) { try { for (;;) {} } catch {} finally { continue } }'],
    ['time, with promises', '(async () => { for (;;) await 0 })()'],
    ['time, with promises that make promises', 'const again = () => Promise.resolve().then(again); again()'],
    ['time, with a generator', '[...(function* () { for (;;) yield 0 })()].length && 0'],
    ['time, with a getter in the result', '({ get a() { for (;;) {} } })'],
    ['time, with toJSON', '({ toJSON() { for (;;) {} } })'],
    ['time, with a regular expression', '/^(a+)+$/.test("a".repeat(50) + "b")'],
    ['time, with a proxy', 'new Proxy({}, { ownKeys() { for (;;) {} } })'],
    ['time, with an error that describes itself', 'throw { toString() { for (;;) {} } }'],
  ])('%s', async (_, code) => {
    const started = performance.now();
    const { status } = await run(code, SOON);
    expect(['timed_out', 'threw', 'crashed']).toContain(status);
    // A minute is what a busy machine may need; code that is not ended takes for ever.
    expect(performance.now() - started).toBeLessThan(60_000);
  });

  it.each([
    ['memory, with arrays', 'const all = []; for (;;) all.push(new Array(1e5).fill(1.5))'],
    ['memory, with strings', 'let text = "x"; for (;;) text += text'],
    ['memory, with one string', '"x".repeat(2 ** 29)'],
    ['memory, with a buffer', 'new ArrayBuffer(2 ** 31)'],
    ['memory, with promises', 'const all = []; for (;;) all.push(new Promise(() => 1))'],
    ['memory, with a symbol table', 'const o = {}; for (let i = 0; ; i++) o["k" + i] = i'],
    ['the stack, with calls', 'const f = () => f() + 1; f()'],
    ['the stack, with nesting', 'let a = []; for (let i = 0; i < 1e6; i++) a = [a]; JSON.stringify(a)'],
    ['the stack, with JSON', 'JSON.parse("[".repeat(1e6) + "]".repeat(1e6))'],
    ['the stack of the parser', 'eval("(".repeat(1e6))'],
  ])('%s', async (_, code) => {
    const { status } = await run(code, SOON);
    expect(['threw', 'timed_out', 'crashed']).toContain(status);
    expect(process.memoryUsage().rss).toBeLessThan(1024 * 1024 * 1024);
  });

  it.each([
    ['bytes', 'new Uint8Array(1e6)'],
    ['numbers', 'new Array(125e3).fill(1.5)'],
    ['text', '"x".repeat(1e6)'],
  ])('memory: a program gets as many megabytes of %s as its limit says', async (_, megabyte) => {
    const code = `let all = []; let n = 0; try { for (;;) { all.push(${megabyte}); n += 1 } } catch (error) { all = null; console.log(String(error)) } n`;
    const limits = { timeMs: 100_000, memoryBytes: 32 * 1024 * 1024 };
    const { value, stdout } = await sandbox.run({ language: 'javascript', code }, { limits });
    expect(stdout).toBe('InternalError: out of memory\n');
    expect(value).toBeGreaterThan(15);
    expect(value).toBeLessThan(45);
  });

  it('output: what is printed and what is returned is cut', async () => {
    const printed = await sandbox.run(
      { language: 'javascript', code: 'for (let i = 0; i < 1000; i++) console.log("x".repeat(1000))' },
      { limits: { outputCharacters: 5000 } },
    );
    expect([printed.status, printed.truncated, printed.stdout.length]).toEqual(['completed', true, 5000]);
    const returned = await sandbox.run({ language: 'javascript', code: '"x".repeat(10000)' }, { limits: { outputCharacters: 5000 } });
    expect(returned).toMatchObject({ status: 'completed', error: expect.stringContaining('left out') });
    expect(returned.value).toBeUndefined();
  });

  it('the server: its own event loop goes on while code hangs', async () => {
    let ticks = 0;
    const clock = setInterval(() => (ticks += 1), 5);
    expect((await run('for (;;) {}', SOON)).status).toBe('timed_out');
    clearInterval(clock);
    expect(ticks).toBeGreaterThan(3);
  });
});

describe('what code cannot leave behind', () => {
  it('a changed prototype stays inside', async () => {
    await run('Object.prototype.polluted = 1; Array.prototype.map = () => "no"; JSON.stringify = () => "{}"');
    expect('polluted' in {}).toBe(false);
    expect(await run('({}).polluted === undefined && [1].map((x) => x + 1)[0]')).toMatchObject({ value: 2 });
  });

  it('a result named __proto__ is a member like any other', async () => {
    const { value } = await run('JSON.parse(\'{"__proto__": {"admin": true}, "a": 1}\')');
    expect(Object.keys(value as object)).toEqual(['__proto__', 'a']);
    expect((value as { admin?: boolean }).admin).toBeUndefined();
  });

  it('nothing of one run is there for the next', async () => {
    await run('globalThis.left = 1');
    expect(await run('typeof left')).toMatchObject({ value: 'undefined' });
  });
});

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/base/json.ts';
import { TypeScriptTool } from '../../../src/platform/custom/definition.ts';
import { typescriptTool } from '../../../src/platform/custom/typescript-tool.ts';
import { Sandbox } from '../../../src/platform/sandbox/sandbox.ts';
import type { ToolOutcome } from '../../../src/platform/tools/tool.ts';
import { callTool } from '../../support/tool-call.ts';

const sandbox = new Sandbox();

/** Code that ends by itself has time enough to get there on a busy machine. */
async function call(source: string, input: JsonObject = {}, config: JsonObject = {}, timeout_s = 60): Promise<ToolOutcome> {
  const definition = TypeScriptTool.parse({ type: 'typescript', name: 'escape', description: 'x', timeout_s, source });
  return await callTool(typescriptTool(definition, config, { sandbox }), input);
}

describe.concurrent('what a TypeScript tool cannot reach', () => {
  it.each([
    ['process', 'export default () => typeof process'],
    ['require', 'export default () => typeof require'],
    ['fetch', 'export default () => typeof fetch'],
    ['std and os of QuickJS', 'export default () => typeof std === typeof os ? typeof std : "in"'],
    ['process through a constructor', 'export default () => (() => 1).constructor("return typeof process")()'],
    ['process through its input', 'export default (input: object) => input.constructor.constructor("return typeof process")()'],
    [
      'process through its settings',
      'export default (_: unknown, config: object) => config.constructor.constructor("return typeof process")()',
    ],
    ['process through what called it', 'export default function () { return typeof this === "undefined" ? "undefined" : "in" }'],
    [
      'where its module lies',
      'export default () => typeof import.meta.url === "string" && /^(file|\\/)/.test(import.meta.url) ? "in" : "undefined"',
    ],
  ])('%s', async (_, source) => {
    expect(await call(source)).toEqual({ output: 'undefined' });
  });

  it.each([
    ['a module of Node', 'import fs from "node:fs"; export default () => fs.readFileSync("/etc/passwd", "utf8")'],
    ['a file', 'import text from "/etc/passwd"; export default () => text'],
    ['a file beside it', 'import * as own from "./quickjs.js"; export default () => Object.keys(own)'],
    ['data as a module', 'import x from "data:text/javascript,export default 1"; export default () => x'],
    ['a module later', 'export default async () => (await import("node:fs")).readFileSync("/etc/passwd", "utf8")'],
    ['a module by another name', 'export { readFileSync as default } from "node:fs"'],
  ])('%s', async (_, source) => {
    const outcome = await call(source);
    expect(outcome).toEqual({ error: expect.stringMatching(/./) });
    expect(JSON.stringify(outcome)).not.toContain('root:');
  });
});

describe.concurrent('what a TypeScript tool cannot use up', () => {
  it.each([
    ['time, when it is called', 'export default () => { for (;;) {} }'],
    ['time, when it is loaded', 'for (;;) {}\nexport default () => 1'],
    ['time, when it is loaded, with promises', 'for (;;) await 0;\nexport default () => 1'],
    ['time, with promises', 'export default async () => { for (;;) await 0 }'],
    ['time, with a result that is a promise for ever', 'export default async () => ({ then(next: (x: unknown) => void) { next(this) } })'],
    ['time, with a getter in the result', 'export default () => ({ get a() { for (;;) {} } })'],
    ['time, with an error', 'export default () => { throw { toString() { for (;;) {} } } }'],
    ['time, with an export that is no function', 'export default new Proxy(() => 1, { apply() { for (;;) {} } })'],
    ['memory', 'export default () => { const all = []; for (;;) all.push(new Array(1e5).fill(1.5)) }'],
    ['the stack', 'const f = (): number => f() + 1; export default f'],
    ['patience: it waits for nothing', 'export default () => new Promise(() => 1)'],
  ])('%s', async (_, source) => {
    const started = performance.now();
    expect(await call(source, {}, {}, 0.3)).toEqual({ error: expect.stringMatching(/./) });
    expect(performance.now() - started).toBeLessThan(60_000);
  });

  it('the conversation: a result or an error that is too long is not handed on', async () => {
    expect(await call('export default () => "x".repeat(100_000)')).toEqual({ error: expect.stringContaining('was left out') });
    const { error = '' } = (await call('export default () => { throw new Error("x".repeat(1e6)) }')) as { error?: string };
    expect(error.length).toBeLessThanOrEqual(64 * 1024);
  });
});

describe('what a TypeScript tool cannot leave behind', () => {
  it('changed settings and inputs: they are copies', async () => {
    const config = { list: [1] };
    const input = { list: [2] };
    const source = 'export default (input: any, config: any) => { input.list.push(9); config.list.push(9); return [input, config] }';
    expect(await call(source, input, config)).toEqual({ output: [{ list: [2, 9] }, { list: [1, 9] }] });
    expect([input, config]).toEqual([{ list: [2] }, { list: [1] }]);
  });

  it('a changed prototype, a global, or how JSON is written', async () => {
    await call('Object.prototype.polluted = 1; globalThis.left = 1; JSON.stringify = () => "{}"; export default () => 1');
    expect('polluted' in {}).toBe(false);
    expect(await call('export default () => [typeof left, typeof ({} as any).polluted, JSON.stringify([1])]')).toEqual({
      output: ['undefined', 'undefined', '[1]'],
    });
  });

  it('another result than its own: what writes it is taken before the code begins', async () => {
    const source = 'JSON.stringify = () => \'"forged"\'; JSON.parse = () => "forged"; export default (input: unknown) => input';
    expect(await call(source, { a: 1 })).toEqual({ output: { a: 1 } });
  });
});

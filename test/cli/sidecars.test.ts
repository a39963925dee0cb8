import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findCommand } from '../../src/base/find-command.ts';
import { needing } from '../support/needs.ts';
import { runAbp } from '../support/run-abp.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'abp-sidecars-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Finding {
  readonly name: string;
  readonly result: string;
}

async function check(...command: string[]): Promise<{ code: number | null; findings: Finding[] }> {
  const { code, out } = await runAbp(['sidecar', 'check', '--json', '--', ...command], { env: { ABP_HOME: join(folder, 'home') } });
  return { code, findings: JSON.parse(out).findings };
}

const example = (name: string): string => fileURLToPath(new URL(`../../examples/sidecars/${name}`, import.meta.url));

const bad = (findings: readonly Finding[]): string[] => findings.filter(({ result }) => result !== 'passed').map(({ name }) => name);

describe('abp sidecar check', () => {
  it('certifies a sidecar that is written with the package', async () => {
    const { code, findings } = await check(process.execPath, example('shout.ts'));
    expect(bad(findings)).toEqual([]);
    expect(findings.length).toBeGreaterThan(9);
    expect(code).toBe(0);
  });

  const python = findCommand('python3', process.env, process.platform) === undefined ? 'there is no python3' : undefined;
  it.skipIf(python !== undefined)(needing('certifies one in Python that uses nothing but its standard library', python), async () => {
    const { code, findings } = await check('python3', example('notes.py'));
    expect(bad(findings)).toEqual([]);
    expect(code).toBe(0);
  });

  it('says of one that prints words what is wrong', async () => {
    const file = join(folder, 'wordy.mjs');
    writeFileSync(file, 'console.log("starting"); setInterval(() => {}, 1000);');
    const { code, findings } = await check(process.execPath, file);
    expect(bad(findings)).toEqual(['it says hello first']);
    expect(code).toBe(1);
  });

  it.each([
    ['lines', '"{\\"t\\":\\"pong\\",\\"seq\\":1}\\n".repeat(1000)'],
    ['one line without an end', '"y".repeat(1 << 20)'],
  ])('ends one that floods its output with %s, and says so', async (_, flood) => {
    const file = join(folder, 'flood.mjs');
    const hello = { t: 'hello', contract_version: 'abp/v0.1', backend: { id: 'flood', backend_version: null, adapter_version: null } };
    const first = JSON.stringify(`${JSON.stringify({ ...hello, capabilities: {}, mode: 'mapped' })}\n`);
    writeFileSync(file, `process.stdout.write(${first}); const write = () => process.stdout.write(${flood}, write); write();`);
    const { code, findings } = await check(process.execPath, file);
    expect(findings.at(-1)).toMatchObject({ name: 'it keeps to the limits', result: 'failed' });
    expect(code).toBe(1);
  });

  it('ends what it has left running, and says so', async () => {
    const behaving = fileURLToPath(new URL('../work-orders/sidecar.mjs', import.meta.url));
    const { findings } = await check(process.execPath, behaving, 'leaves-process');
    expect(findings.at(-1)).toEqual({ name: 'it leaves no process behind', result: 'warning', detail: '3, which were ended' });
  });

  it('says of a command that is not there that it does not start', async () => {
    const { code, findings } = await check(join(folder, 'nothing'));
    expect(bad(findings)).toEqual(['it starts']);
    expect(code).toBe(1);
  });
});

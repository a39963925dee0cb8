import { chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startProcess } from '../../src/base/child-process.ts';
import { runCommand } from '../../src/base/subprocess.ts';
import { barrierOf } from '../../src/confinement/barrier.ts';
import { Confiner, isObstacle } from '../../src/confinement/confiner.ts';
import type { Equipment } from '../../src/confinement/equipment.ts';
import { ESCAPES, escapeScript, layOutside, type Outside, readEscapes } from '../support/escapes.ts';
import { needing } from '../support/needs.ts';

const found = await new Confiner().equipment();
const obstacle = isObstacle(found) ? found.reason : undefined;

let outside: Outside;
let workspace: string;

beforeAll(async () => {
  outside = await layOutside();
  workspace = mkdtempSync(join(tmpdir(), 'abp-escapes-'));
  writeFileSync(join(workspace, 'escapes.sh'), escapeScript(outside), { mode: 0o755 });
});

afterAll(() => {
  outside.close();
  rmSync(workspace, { recursive: true, force: true });
});

async function confinedOutput(equipment: Equipment, ports: readonly number[]): Promise<string> {
  if (equipment.identity !== undefined) chownSync(workspace, equipment.identity.uid, equipment.identity.gid);
  const lines: string[] = [];
  const child = await startProcess(
    {
      command: '/bin/bash',
      args: ['escapes.sh'],
      env: { PATH: '/usr/bin:/bin', HOME: '/home/agent' },
      cwd: workspace,
      stdin: 'closed',
      mode: 'pipe',
      barrier: barrierOf({
        equipment,
        room: { workspace: { source: workspace, at: workspace, writable: true }, places: [], ports },
        connected: (_, socket) => socket.destroy(),
      }),
    },
    (line) => lines.push(line),
  );
  await child.exit;
  return lines.join('\n');
}

describe.skipIf(obstacle !== undefined)(needing('the room', obstacle), () => {
  it.each([
    ['with listeners', [8088, 3128]],
    ['without a network', []],
  ])('lets nothing out %s', async (_, ports) => {
    const printed = await confinedOutput(found as Equipment, ports); // skipped where there is none
    const { fell, tried, skipped } = readEscapes(printed);
    expect(fell).toEqual([]);
    expect(tried + skipped.length).toBe(ESCAPES.length);
  });
});

it('the same attempts succeed where nothing confines them', async () => {
  const { stdout } = await runCommand('bash', ['-s'], { cwd: workspace, input: escapeScript(outside, 'harmless') });
  const { fell, skipped } = readEscapes(stdout);
  const expected = ESCAPES.filter(({ fallsOutside, name }) => fallsOutside === true && !skipped.includes(name));
  expect(fell).toEqual(expected.map(({ name }) => name));
});

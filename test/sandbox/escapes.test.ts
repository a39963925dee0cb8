import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { startProcess } from '../../src/base/child-process.ts';
import { runCommand } from '../../src/base/subprocess.ts';
import { barrierOf } from '../../src/confinement/barrier.ts';
import { homesOf, keptOutside } from '../../src/confinement/bubblewrap.ts';
import { Confiner, isObstacle } from '../../src/confinement/confiner.ts';
import type { Equipment } from '../../src/confinement/equipment.ts';
import { type Room, shownAsIs } from '../../src/confinement/room.ts';
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

async function confinedOutput(equipment: Equipment, part: Partial<Room>, script = 'escapes.sh'): Promise<string> {
  if (equipment.identity !== undefined) chownSync(workspace, equipment.identity.uid, equipment.identity.gid);
  const lines: string[] = [];
  const child = await startProcess(
    {
      command: '/bin/bash',
      args: [script],
      env: { PATH: '/usr/bin:/bin', HOME: '/home/agent' },
      cwd: workspace,
      stdin: 'closed',
      mode: 'pipe',
      barrier: barrierOf({
        equipment,
        room: { workspace: { source: workspace, at: workspace, writable: true }, places: [], ports: [], ...part },
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
    const printed = await confinedOutput(found as Equipment, { ports }); // skipped where there is none
    const { fell, tried, skipped } = readEscapes(printed);
    expect(fell).toEqual([]);
    expect(tried + skipped.length).toBe(ESCAPES.length);
  });

  it('shows nothing of a home that lies below a folder of programs, but what is shown there by its own name', async () => {
    const programs = mkdtempSync(join(tmpdir(), 'abp-programs-'));
    onTestFinished(() => rmSync(programs, { recursive: true, force: true }));
    chmodSync(programs, 0o755);
    mkdirSync(join(programs, 'home', 'tools'), { recursive: true });
    for (const name of ['program', 'home/token', 'home/tools/tool']) writeFileSync(join(programs, name), name);
    writeFileSync(
      join(workspace, 'look.sh'),
      `cd ${programs} && find . -type f | sort && cat home/tools/tool && echo && (echo x > home/planted) 2>/dev/null && echo FELL`,
    );
    const inside = join(programs, 'home', 'tools', 'tool');
    const room = { places: [shownAsIs(programs), shownAsIs(inside)], outside: [join(programs, 'home')] };
    expect(await confinedOutput(found as Equipment, room, 'look.sh')).toBe('./home/tools/tool\n./program\nhome/tools/tool'); // skipped where there is none
  });
});

it.each([
  [['/'], []],
  [['/usr/sbin', '/opt', '/usr'], []],
  [
    ['/opt/service', '/usr/share/service'],
    ['/opt/service', '/usr/share/service'],
  ],
])('of the homes %j these stay outside', (homes, outside) => {
  expect(keptOutside(homes)).toEqual(outside);
});

it('the homes of a user are those that the system names, whatever the environment says', () => {
  const accounts = join(workspace, 'passwd');
  writeFileSync(accounts, 'root:x:0:0::/root:/bin/sh\nsvc:x:70:70::/opt/svc:/bin/sh\nodd:x:70\nalias:x:70:1::/usr/svc:/bin/sh\n\n');
  expect(homesOf(70, accounts)).toEqual(['/opt/svc', '/usr/svc']);
  expect(homesOf(71, accounts)).toEqual([]);
  expect(homesOf(70, join(workspace, 'none'))).toEqual([]);
});

it('the same attempts succeed where nothing confines them', async () => {
  const { stdout } = await runCommand('bash', ['-s'], { cwd: workspace, input: escapeScript(outside, 'harmless') });
  const { fell, skipped } = readEscapes(stdout);
  const expected = ESCAPES.filter(({ fallsOutside, name }) => fallsOutside === true && !skipped.includes(name));
  expect(fell).toEqual(expected.map(({ name }) => name));
});

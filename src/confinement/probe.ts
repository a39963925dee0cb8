import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { chown } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startProcess } from '../base/child-process.ts';
import { parseJsonObject } from '../base/json.ts';
import { barrierOf } from './barrier.ts';
import { NODE_INSIDE } from './bubblewrap.ts';
import type { Equipment, Obstacle } from './equipment.ts';
import { GATEWAY_PORT } from './room.ts';

/** Tries what must fail, and the little that must not. One name per attempt: true is as it should be. */
const ATTEMPTS = `
const fs = require('node:fs');
const net = require('node:net');
const { spawnSync } = require('node:child_process');
const [canary, port] = process.argv.slice(1);
const fails = (attempt) => { try { attempt(); return false; } catch { return true; } };
// Where the system could be written after all, nothing of the attempt stays there.
const writingFails = (file) => { const failed = fails(() => fs.writeFileSync(file, 'x')); fails(() => fs.rmSync(file)); return failed; };
const status = fs.readFileSync('/proc/self/status', 'utf8');
const field = (name) => new RegExp('^' + name + ':\\\\s*(\\\\S+)', 'm').exec(status)?.[1];
const reached = (to) => new Promise((resolve) => {
  const socket = net.connect({ host: '127.0.0.1', port: to });
  socket.setTimeout(2000, () => socket.destroy());
  socket.once('data', () => { socket.destroy(); resolve(true); });
  socket.once('error', () => resolve(false));
  socket.once('close', () => resolve(false));
});
// Seen from outside: a folder of the same name may exist in here.
const readable = !fails(() => fs.readFileSync(canary));
fails(() => fs.writeFileSync(canary, 'x'));
(async () => console.log(JSON.stringify({
  'a file outside was read': !readable,
  'the system was written': writingFails('/usr/abp-probe'),
  'the settings of the kernel were opened': fails(() => fs.closeSync(fs.openSync('/proc/sys/kernel/core_pattern', 'r+'))),
  'the network of the machine was reached': !(await reached(Number(port))),
  'it has privileges': field('CapEff') === '0000000000000000',
  'it can gain privileges': field('NoNewPrivs') === '1',
  'system calls are not filtered': field('Seccomp') === '2',
  'it runs as root': process.getuid() !== 0,
  'other processes are visible': fs.readdirSync('/proc').filter((name) => /^\\\\d+$/.test(name)).length < 6,
  'a user namespace was made': spawnSync('/usr/bin/unshare', ['-U', '/usr/bin/true']).status !== 0,
  'the workspace cannot be written': !fails(() => fs.writeFileSync('probe', 'x')),
  'its listener does not arrive': await reached(${GATEWAY_PORT}),
})))();
`;

/** Words of bubblewrap where it may not work, and what helps. */
const SAYINGS: readonly (readonly [RegExp, string])[] = [
  [/nesting depth|ENOSPC/i, 'Raise the sysctl user.max_user_namespaces, and do not run inside another sandbox.'],
  [
    /No permissions to creat(?:e|ing) new namespace/i,
    'Run outside of the container, or allow user namespaces there (kernel.unprivileged_userns_clone=1, or a seccomp profile that has them).',
  ],
  [
    /Can't mount proc/i,
    'Start the container with an unmasked /proc: Docker --security-opt systempaths=unconfined, Podman --security-opt unmask=ALL.',
  ],
  [
    /setting up uid map: Permission denied/i,
    'Give bwrap the right to make user namespaces in an AppArmor profile, as Ubuntu 23.10 and later ask for.',
  ],
  [/setting up uid map: Operation not permitted/i, 'Do not run the backplane as root here.'],
];

/** Starts a room and looks whether it holds; undefined when it does. A program that only pretends to confine does not pass. */
export async function probe(equipment: Equipment): Promise<Obstacle | undefined> {
  const folder = mkdtempSync(join(tmpdir(), 'abp-probe-'));
  const outside = createServer((socket) => socket.end('reached'));
  try {
    return await tried(equipment, folder, outside);
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error);
    const remedy = SAYINGS.find(([pattern]) => pattern.test(said))?.[1] ?? 'abp doctor says more; see docs/sandbox.md.';
    return { reason: `bubblewrap is installed and does not work here: ${said}`, remedy };
  } finally {
    outside.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function tried(equipment: Equipment, folder: string, outside: Server): Promise<Obstacle | undefined> {
  const [workspace, canary] = [join(folder, 'workspace'), join(folder, 'canary')];
  mkdirSync(workspace);
  writeFileSync(canary, CANARY, { mode: 0o666 });
  if (equipment.identity !== undefined) await chown(workspace, equipment.identity.uid, equipment.identity.gid);
  await new Promise<void>((resolve) => outside.listen(0, '127.0.0.1', resolve));
  const address = outside.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const lines: string[] = [];
  const child = await startProcess(
    {
      command: NODE_INSIDE,
      args: ['-e', ATTEMPTS, '--', canary, String(port)],
      env: { PATH: '/usr/bin:/bin' },
      cwd: workspace,
      stdin: 'closed',
      mode: 'pipe',
      barrier: barrierOf({
        equipment,
        room: { workspace: { source: workspace, at: workspace, writable: true }, places: [], ports: [GATEWAY_PORT] },
        connected: (_, socket) => socket.end('here'),
      }),
    },
    (line, source) => source === 'stdout' && lines.push(line),
  );
  const { code } = await child.exit;
  const found = parseJsonObject(lines.join(''));
  if (code !== 0 || found === undefined) {
    return { reason: `the probe inside the sandbox failed: ${child.stderr.trim().split('\n').at(-1) ?? `exit ${code}`}`, remedy: REPORT };
  }
  const inside = Object.entries(found).flatMap(([attempt, held]) => (held === true ? [] : [attempt]));
  const fell = readFileSync(canary, 'utf8') === CANARY ? inside : ['a file outside was written', ...inside];
  return fell.length === 0 ? undefined : { reason: `the sandbox does not hold here: ${fell.join('; ')}`, remedy: REPORT };
}

const CANARY = 'not for everybody';
const REPORT = 'Check that bwrap is the one of your distribution; see docs/sandbox.md.';

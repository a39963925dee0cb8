import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { needing, ON_WINDOWS } from '../../../test/support/needs.ts';
import { findEquipment } from './equipment.ts';

const PYTHON = `echo '{"executable": "/opt/py/bin/python3.12", "prefixes": ["/opt/py"]}'`;

/** A PATH of one folder with these programs, which everybody may run. */
function pathOf(programs: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'abp-equipment-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  chmodSync(folder, 0o755);
  for (const [name, text] of Object.entries(programs)) {
    writeFileSync(join(folder, name), `#!/bin/sh\n${text}\n`);
    chmodSync(join(folder, name), 0o755);
  }
  return folder;
}

function find(programs: Readonly<Record<string, string>>, machine: { platform?: NodeJS.Platform; arch?: string } = {}) {
  return findEquipment({ environment: { PATH: pathOf(programs) }, platform: 'linux', arch: 'x64', ...machine });
}

describe.skipIf(ON_WINDOWS !== undefined)(needing('why Python cannot be confined', ON_WINDOWS), () => {
  it.each([
    ['the system is not Linux', {}, { platform: 'darwin' }, 'Python needs bubblewrap, which exists on Linux only.'],
    ['the machine is another', {}, { arch: 'riscv64' }, 'Python can be confined on x64 and arm64, not on riscv64.'],
    ['there is no bubblewrap', {}, {}, 'Python needs bubblewrap (bwrap), which is not installed on this server.'],
    ['there is no prlimit', { bwrap: '' }, {}, 'Python needs prlimit (of util-linux), which is not installed on this server.'],
    ['there is no Python', { bwrap: '', prlimit: '' }, {}, 'Python needs python3, which is not installed on this server.'],
  ] as const)('%s', async (_, programs, machine, reason) => {
    expect(await find(programs, machine)).toBe(reason);
  });

  it.each([
    'bwrap: No permissions to create new namespace, likely because the kernel does not allow non-privileged user namespaces',
    'bwrap: setting up uid map: Permission denied',
    'bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted',
  ])('namespaces are refused: %s', async (said) => {
    expect(await find({ bwrap: `echo "${said}" >&2; exit 1`, prlimit: '', python3: PYTHON })).toBe(
      `bubblewrap is installed, but this server may not make namespaces with it: the sandbox could not start: ${said}.`,
    );
  });

  it('bubblewrap is too old', async () => {
    expect(await find({ bwrap: 'echo "bwrap: Unknown option --size" >&2; exit 1', prlimit: '', python3: PYTHON })).toMatch(
      /^\/opt\/py\/bin\/python3\.12 does not run behind bubblewrap on this server.*: the sandbox could not start: bwrap: Unknown option --size\.$/,
    );
  });

  it('no Python on the PATH can be used: each is named', async () => {
    const PATH = [pathOf({ bwrap: 'exit 1', prlimit: '', python3: 'exit 1' }), pathOf({ python3: 'exit 2' })].join(':');
    const [first, second] = PATH.split(':');
    expect(await findEquipment({ environment: { PATH }, platform: 'linux', arch: 'x64' })).toBe(
      `${first}/python3 does not say where it lies: it ended with 1. ${second}/python3 does not say where it lies: it ended with 2.`,
    );
  });

  it('bubblewrap confines nothing: a program that runs it must have seen its start', async () => {
    expect(await find({ bwrap: 'echo 42', prlimit: '', python3: PYTHON })).toContain('does not run behind bubblewrap');
  });
});

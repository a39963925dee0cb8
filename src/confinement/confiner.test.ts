import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { needing } from '../../test/support/needs.ts';
import { Confiner, isObstacle } from './confiner.ts';

async function reasonOf(confiner: Confiner): Promise<string> {
  const found = await confiner.equipment();
  return isObstacle(found) ? `${found.reason} → ${found.remedy}` : 'works';
}

it.each(['darwin', 'win32'] as const)('has no sandbox on %s, and says so', async (platform) => {
  expect(await reasonOf(new Confiner({ platform }))).toBe(
    `programs are confined on Linux only, and this is ${platform} → Run the backplane on Linux.`,
  );
});

it('has none on a machine whose system calls it does not know', async () => {
  expect(await reasonOf(new Confiner({ platform: 'linux', arch: 'riscv64' }))).toMatch(
    /^system calls can be filtered on x64 and arm64, not on riscv64/,
  );
});

const elsewhere = process.platform === 'linux' ? undefined : 'there is no bubblewrap here';

it.skipIf(elsewhere !== undefined)(needing('is not taken in by a bwrap that confines nothing', elsewhere), async () => {
  const folder = mkdtempSync(join(tmpdir(), 'abp-fake-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  // Starts the command as it is, with the Node of the machine where the one of the room would be.
  writeFileSync(
    join(folder, 'bwrap'),
    `#!/bin/bash
[ "$1" = --version ] && { echo bubblewrap 0.8.0; exit; }
echo '{"child-pid": '$$'}' >&6
while [ "$1" != --no-warnings ]; do shift; done
exec ${process.execPath} "$@"
`,
  );
  chmodSync(join(folder, 'bwrap'), 0o755);
  const reason = await reasonOf(new Confiner({ platform: 'linux', environment: { PATH: folder } }));
  expect(reason).not.toBe('works');
});

it('remembers what it found, and looks again after a minute where there was nothing', async () => {
  let now = 0;
  const confiner = new Confiner({ platform: 'darwin' }, { now: () => now });
  const first = await confiner.equipment();
  expect(await confiner.equipment()).toBe(first);
  now = 61_000;
  expect(await confiner.equipment()).not.toBe(first);
});

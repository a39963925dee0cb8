import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { needing } from '../../test/support/needs.ts';
import { NODE_INSIDE } from './bubblewrap.ts';
import { Confiner, isObstacle } from './confiner.ts';
import { GATEWAY_PORT } from './room.ts';
import { PERL } from './starter.ts';

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
  // Starts what should begin in the room outside of it, with the Node and the free port of the machine where those of the room would be.
  writeFileSync(
    join(folder, 'bwrap'),
    `#!/bin/bash
[ "$1" = --version ] && { echo bubblewrap 0.8.0; exit; }
echo '{"child-pid": '$$'}' >&6
while [ "$1" != ${PERL} ] && [ "$1" != ${NODE_INSIDE} ]; do shift; done
words=("$@")
instead() { words=("\${words[@]/"$1"/"$2"}"); }
instead ${GATEWAY_PORT} 0
instead ${NODE_INSIDE} '${process.execPath}'
instead 'exec { $file }' "exec { '${process.execPath}' }"
instead 'execve(file' "execve('${process.execPath}'"
exec "\${words[@]}"
`,
  );
  chmodSync(join(folder, 'bwrap'), 0o755);
  const reason = await reasonOf(new Confiner({ platform: 'linux', environment: { PATH: folder }, uid: 1000 }));
  expect(reason).toMatch(/^the sandbox does not hold here: a file outside was written; a file outside was read; /);
  expect(reason).toContain('; the network of the machine was reached; ');
  expect(reason).toContain('; its listener does not arrive → Check that bwrap is the one of your distribution');
});

it('remembers what it found, and looks again after a minute where there was nothing', async () => {
  let now = 0;
  const confiner = new Confiner({ platform: 'darwin' }, { now: () => now });
  const first = await confiner.equipment();
  expect(await confiner.equipment()).toBe(first);
  now = 61_000;
  expect(await confiner.equipment()).not.toBe(first);
});

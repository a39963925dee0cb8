import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { SidecarProgram } from '../sidecars/adapter.ts';
import { SIDECAR_TIMES } from '../sidecars/dialogue.ts';
import { SidecarGreetings } from './programs.ts';

let root: string;
const HELLO = {
  t: 'hello',
  contract_version: 'abp/v0.1',
  backend: { id: 's', backend_version: null, adapter_version: null },
  capabilities: {},
  mode: 'mapped',
};

beforeAll(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'abp-programs-')));
  mkdirSync(join(root, 'project/node_modules'), { recursive: true });
  mkdirSync(join(root, 'project/tools/deep'), { recursive: true });
  mkdirSync(join(root, 'project/library'));
  writeFileSync(join(root, 'project/package.json'), '{}');
  for (const folder of ['project/tools/deep', '.']) {
    writeFileSync(join(root, folder, 'sidecar.mjs'), `console.log(${JSON.stringify(JSON.stringify(HELLO))});\n`);
  }
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

async function greeted(file: string, shows: readonly string[] = []): Promise<SidecarProgram> {
  const command = [process.execPath, join(root, file)];
  return await new SidecarGreetings(process.env).program('mine', { command, env: {}, shows, times: SIDECAR_TIMES });
}

it('a sidecar in a room has its folder, packages above it, and what the operator shows it', async () => {
  const { shows } = await greeted('project/tools/deep/sidecar.mjs', [join(root, 'project/library')]);
  expect(shows).toEqual(
    expect.arrayContaining(
      ['project/tools/deep', 'project/node_modules', 'project/package.json', 'project/library'].map((one) => join(root, one)),
    ),
  );
  expect(shows).not.toContain(join(root, 'project'));
});

it('a sidecar that lies beside the home of the backplane is shown alone, without what must stay outside', async () => {
  const before = process.env.ABP_HOME;
  process.env.ABP_HOME = join(root, 'home');
  try {
    const { shows } = await greeted('sidecar.mjs');
    expect(shows).toContain(join(root, 'sidecar.mjs'));
    expect(shows).not.toContain(root);
    await expect(greeted('sidecar.mjs', [root])).rejects.toThrow('which must stay outside');
  } finally {
    if (before === undefined) delete process.env.ABP_HOME;
    else process.env.ABP_HOME = before;
  }
  await expect(greeted('sidecar.mjs', [dirname(homedir())])).rejects.toThrow(`holds ${homedir()}`);
  await expect(greeted('sidecar.mjs', [join(root, 'nowhere')])).rejects.toThrow('there is no');
});

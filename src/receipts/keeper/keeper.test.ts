import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { openHome } from '../../home/home.ts';
import { startKeeper } from './keeper.ts';

it('answers a call after its end instead of letting it wait', async () => {
  const parent = mkdtempSync(join(tmpdir(), 'abp-keeper-'));
  onTestFinished(() => rmSync(parent, { recursive: true, force: true }));
  const { path, journalFolder } = openHome({ path: join(parent, 'home') });
  const keeper = startKeeper({
    homePath: path,
    journalFolder,
    version: '0',
    onStalled: (message) => expect.fail(message),
    onSettled: () => undefined,
  });
  expect(await keeper.ready).toBe(0);
  expect(await keeper.eraseBodies([])).toBe(0);
  await keeper.close();
  await expect(keeper.rotate()).rejects.toThrow('the keeper of receipts has ended');
});

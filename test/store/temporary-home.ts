import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** A folder that does not exist yet inside one that vanishes with the test. */
export function temporaryHome(): string {
  const parent = mkdtempSync(join(tmpdir(), 'abp-home-'));
  onTestFinished(() => rmSync(parent, { recursive: true, force: true }));
  return join(parent, 'home');
}

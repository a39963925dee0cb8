import { chmodSync, existsSync, linkSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { randomToken } from '../base/ids.ts';

function besides(file: string): string {
  return `${file}.${randomToken(9)}.tmp`;
}

function isExists(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EEXIST';
}

/** Creates the file unless it exists. It appears with its whole content, and of two processes at once one wins for both. */
export function createOnce(file: string, make: () => string): void {
  if (existsSync(file)) {
    chmodSync(file, 0o600);
    return;
  }
  const draft = besides(file);
  writeFileSync(draft, `${make()}\n`, { mode: 0o600, flag: 'wx', flush: true });
  try {
    // A rename would replace the file of a faster process; a link fails instead.
    linkSync(draft, file);
  } catch (error) {
    if (!isExists(error)) throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}

/** Replaces the file at once: a reader sees the old or the new content, never a part. */
export function replaceFile(file: string, text: string): void {
  const draft = besides(file);
  writeFileSync(draft, `${text}\n`, { mode: 0o600, flag: 'wx' });
  renameSync(draft, file);
}

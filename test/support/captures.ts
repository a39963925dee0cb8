import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** What real agents have printed is not part of the repository; `ABP_CAPTURES` says where it lies, else a folder beside the checkout. */
const ROOT = process.env.ABP_CAPTURES ?? join(import.meta.dirname, '../../../shared/agent-captures');

export const NO_CAPTURES = 'needs the recorded output of real coding agents beside ABP_CORPUS';
export const hasCaptures = existsSync(ROOT);

/** The lines of one capture. */
export function captured(name: string): string[] {
  return readFileSync(join(ROOT, `${name}.jsonl`), 'utf8')
    .split('\n')
    .filter((line) => line !== '');
}

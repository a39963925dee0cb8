import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { besideCorpus } from './corpus.ts';

/** What real agents have printed is not part of the repository either. */
const ROOT = besideCorpus('agent-captures');

export const NO_CAPTURES = 'needs the recorded output of real coding agents beside ABP_CORPUS';
export const hasCaptures = ROOT !== undefined;

/** The lines of one capture. */
export function captured(name: string): string[] {
  return readFileSync(join(ROOT ?? '', `${name}.jsonl`), 'utf8')
    .split('\n')
    .filter((line) => line !== '');
}

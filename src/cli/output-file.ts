import { openSync } from 'node:fs';
import { CliError } from './failure.ts';

/** Opens a file to write to. What is exported is private, so a new one is its owner's alone. */
export function openOutput(path: string): number {
  try {
    return openSync(path, 'w', 0o600);
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause);
    throw new CliError('usage', `${path} cannot be written: ${message}`, { hint: 'Name a file in a folder that exists.', cause });
  }
}

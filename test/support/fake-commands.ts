import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** A folder of shell scripts that stands for a PATH. */
export interface FakeCommands {
  readonly folder: string;
  /** The environment in which they are found, and nothing else but the system's own tools. */
  readonly env: Readonly<Record<string, string>>;
  write(name: string, script: string): string;
}

export function fakeCommands(): FakeCommands {
  const folder = mkdtempSync(join(tmpdir(), 'abp-commands-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return {
    folder,
    env: { PATH: `${folder}:/usr/bin:/bin`, HOME: folder },
    write(name, script) {
      const path = join(folder, name);
      writeFileSync(path, `#!/bin/sh\n${script}\n`);
      chmodSync(path, 0o755);
      return path;
    },
  };
}

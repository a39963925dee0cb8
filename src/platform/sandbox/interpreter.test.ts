import { chmodSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { needing, ON_WINDOWS } from '../../../test/support/needs.ts';
import { askInterpreter } from './interpreter.ts';

/** A command that is a script, as version managers put on the PATH. */
function script(text: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'abp-interpreter-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(realpathSync(folder), 'python3');
  writeFileSync(file, `#!/bin/sh\n${text}\n`);
  chmodSync(file, 0o755);
  return file;
}

describe.skipIf(ON_WINDOWS !== undefined)(needing('the interpreter behind a command', ON_WINDOWS), () => {
  it('is what the command says it is, however the command finds it', async () => {
    const command = script(`echo '{"executable": "/opt/py/bin/python3.12", "prefixes": ["/opt/py"]}'`);
    expect(await askInterpreter(command, {})).toEqual({ executable: '/opt/py/bin/python3.12', prefixes: ['/opt/py'] });
  });

  it('is asked with the variables of version managers and with no others', async () => {
    const command = script(`printf '{"executable": "/%s", "prefixes": ["/%s"]}' "$PYENV_VERSION" "$SECRET_KEY"`);
    expect(await askInterpreter(command, { PATH: '/usr/bin:/bin', PYENV_VERSION: '3.12.1', SECRET_KEY: 'hidden' })).toEqual({
      executable: '/3.12.1',
      prefixes: ['/'],
    });
  });

  it('is not known when the command fails, and the last it said is told', async () => {
    const command = script('echo "pyenv: python3: command not found" >&2; echo "set a version first" >&2; exit 127');
    expect(await askInterpreter(command, {})).toBe(`${command} does not say where it lies: set a version first`);
  });

  it('is not known when the command says something else, or nothing', async () => {
    const silent = script('exit 3');
    expect(await askInterpreter(silent, {})).toBe(`${silent} does not say where it lies: it ended with 3`);
    expect(await askInterpreter(script(`echo '{"executable": "python3", "prefixes": []}'`), {})).toContain('does not say where it lies');
  });

  it('is not known when the command cannot be started', async () => {
    const command = script('exit 0');
    chmodSync(command, 0o644);
    expect(await askInterpreter(command, {})).toMatch(/cannot be started: .*EACCES/);
  });
});

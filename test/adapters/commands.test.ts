import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { main } from '../../src/cli/main.ts';
import { captureIo } from '../support/capture-io.ts';
import { fakeCommands } from '../support/fake-commands.ts';

async function abp(argv: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<{ code: number; out: string; err: string }> {
  const io = captureIo({ env: { PATH: '', ...env } });
  const code = await main(argv, io);
  return { code, out: io.out(), err: io.err() };
}

describe('abp adapters', () => {
  it('lists the agents in the words of the summary', async () => {
    const { code, out } = await abp(['adapters', 'list']);
    expect(code).toBe(0);
    expect(out).toMatch(/^claude +Claude Code +JSONL +yes +yes +yes +yes +yes +partial +no$/m);
  });

  it('detects all of them, or one, whose absence is an exit code', async () => {
    const commands = fakeCommands();
    commands.write('pi', 'echo 0.87.1');
    expect((await abp(['adapters', 'detect'], commands.env)).out).toMatch(/^pi +installed +0\.87\.1/m);
    expect((await abp(['adapters', 'detect', 'pi', '--json'], commands.env)).code).toBe(0);
    expect((await abp(['adapters', 'detect', 'omp'], commands.env)).code).toBe(6);
  });

  it('shows what the installed version differs in', async () => {
    const commands = fakeCommands();
    commands.write('pi', 'echo 0.87.1');
    const { out } = await abp(['adapters', 'show', 'pi'], commands.env);
    expect(out).toMatch(/^supportsAgentsMd +false +this version: true$/m);
  });

  it('doctor names what to do, and fails for the agent that was asked about', async () => {
    expect((await abp(['adapters', 'doctor'])).code).toBe(0);
    const { code, out } = await abp(['adapters', 'doctor', 'pi']);
    expect(code).toBe(1);
    expect(out).toContain('abp install pi');
  });

  it('an unknown agent is not found', async () => {
    const { code, err } = await abp(['adapters', 'show', 'cluade']);
    expect(code).toBe(3);
    expect(err).toContain("There is no agent 'cluade'; did you mean claude?");
  });
});

describe('abp install', () => {
  it('shows what it would do', async () => {
    const { code, out } = await abp(['install', 'opencode', '--dry-run']);
    expect(code).toBe(0);
    expect(out).toBe('first  npm --version\nthen   npm install -g opencode-ai\nnote   The package opencode does not exist.\n');
  });

  it('says where a command is that no shell finds yet', async () => {
    const commands = fakeCommands();
    const made = ['pip', 'hermes'].map((name) => `echo '#!/bin/sh' > "$3/bin/${name}"; chmod +x "$3/bin/${name}"`);
    commands.write('python3', ['[ "$1" = -c ] && exit', 'mkdir -p "$3/bin"', ...made].join('\n'));
    const home = mkdtempSync(join(tmpdir(), 'abp-install-'));
    onTestFinished(() => rmSync(home, { recursive: true, force: true }));
    const env = { PATH: `${commands.env.PATH}:/usr/bin:/bin`, HOME: home };
    const { code, out } = await abp(['install', 'hermes'], env);
    expect([code, out]).toEqual([
      6,
      expect.stringContaining(`Hermes is in ${home}/.local/bin: run export PATH="${home}/.local/bin:$PATH"`),
    ]);
  });
});

describe('abp models', () => {
  it('lists, shows and validates', async () => {
    expect((await abp(['models', 'list', 'claude'])).out).toMatch(/^claude +claude-opus-5-5 +opus +1M +128k +\$4 +\$20 +default$/m);
    expect((await abp(['models', 'show', 'claude', 'opus'])).out).toMatch(/^model +claude-opus-5-5$/m);
    expect(await abp(['models', 'validate', 'claude', 'opus'])).toEqual({
      code: 0,
      out: "alias  'opus' is model 'claude-opus-5-5'\n",
      err: '',
    });
    expect((await abp(['models', 'validate', 'claude', 'gpt-4'])).code).toBe(4);
    expect((await abp(['models', 'show', 'claude', 'gpt-4'])).code).toBe(3);
  });

  it('works out a cost', async () => {
    const { code, out } = await abp(['models', 'cost', 'claude', 'claude-opus-4-8', '--input', '1000000', '--cached', '1000000', '--json']);
    expect(code).toBe(0);
    expect(JSON.parse(out)).toEqual({ model: 'claude-opus-4-8', estimatedUsd: 5, totalUsd: 0.5 });
    expect((await abp(['models', 'cost', 'claude', 'opus', '--input', '1e6'])).code).toBe(2);
  });

  it('refresh says what is missing', async () => {
    const { code, err } = await abp(['models', 'refresh', 'pi']);
    expect(code).toBe(6);
    expect(err).toContain('Pi is not installed');
  });
});

describe('abp plugins', () => {
  it('hands on what the agent’s own command says', async () => {
    const commands = fakeCommands();
    commands.write('pi', '[ "$1" = --version ] && echo 0.87.1 && exit; echo "did $@"');
    expect((await abp(['plugins', 'install', 'pi', 'npm:x'], commands.env)).out).toBe('did install npm:x\n');
    expect((await abp(['plugins', 'search', 'pi', 'x'], commands.env)).code).toBe(4);
  });
});

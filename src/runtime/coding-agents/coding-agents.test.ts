import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type FakeCommands, fakeCommands } from '../../../test/support/fake-commands.ts';
import { adapters } from '../../adapters/index.ts';
import { runCommand } from '../../base/subprocess.ts';
import { parseRunOptions } from '../../contract/runs/run-options.ts';
import { type CodingAgents, type CodingAgentsOptions, createCodingAgents } from './coding-agents.ts';
import { Detector } from './detection.ts';

function agentsOn(commands: FakeCommands, rest: Partial<CodingAgentsOptions> = {}): CodingAgents {
  return createCodingAgents({ env: commands.env, platform: 'linux', ...rest });
}

describe('the registry', () => {
  it('hands out the very profile of the adapter', () => {
    const { adapters } = agentsOn(fakeCommands());
    expect(adapters.capabilities('pi')).toBe(adapters.get('pi').capabilities);
    expect(adapters.capabilities('pi')).toBe(adapters.capabilities('pi'));
  });

  it('says what was meant by a name that it does not know', () => {
    const { adapters } = agentsOn(fakeCommands());
    expect(() => adapters.get('opencde')).toThrow("There is no agent 'opencde'; did you mean opencode?");
    expect(() => adapters.get('opencde')).toThrow(expect.objectContaining({ code: 'AGENT_NOT_FOUND' }));
  });
});

describe('detection', () => {
  it('finds nothing where nothing is', async () => {
    const { adapters } = agentsOn(fakeCommands());
    expect(await adapters.detect('pi')).toEqual({ agent: 'pi', installed: false, effective: adapters.capabilities('pi') });
  });

  it('finds the version and what it can do', async () => {
    const commands = fakeCommands();
    const path = commands.write('codex', 'echo codex-cli 0.166.0');
    const { adapters } = agentsOn(commands);
    const found = await adapters.detect('codex');
    expect(found).toMatchObject({ installed: true, version: '0.166.0', path });
    expect(found.effective).toMatchObject({ canResume: true, canFork: true, supportsMCP: true });
    expect(adapters.capabilities('codex').canResume).toBe(false);
    expect(Object.isFrozen(found.effective)).toBe(true);
  });

  it('keeps to the profile for a version before the measured one', async () => {
    const commands = fakeCommands();
    commands.write('codex', 'echo codex-cli 0.20.0');
    const { adapters } = agentsOn(commands);
    expect((await adapters.detect('codex')).effective).toBe(adapters.capabilities('codex'));
  });

  it('does not take another program of that name for the agent', async () => {
    const commands = fakeCommands();
    commands.write('codex', 'echo a media server 3.1');
    const found = await agentsOn(commands).adapters.detect('codex');
    expect(found).toMatchObject({ installed: false, problem: 'codex --version does not print a version of Codex CLI' });
  });

  it('asks once, until the file changes or somebody wants to know', async () => {
    const commands = fakeCommands();
    commands.write('pi', `echo x >> ${commands.folder}/asked; echo 0.87.1`);
    const { adapters } = agentsOn(commands);
    const asked = (): number => readFileSync(join(commands.folder, 'asked'), 'utf8').length / 2;
    await Promise.all([adapters.detect('pi'), adapters.detect('pi')]);
    await adapters.detect('pi');
    expect(asked()).toBe(1);
    await adapters.detect('pi', { fresh: true });
    expect(asked()).toBe(2);
    commands.write('pi', `echo x >> ${commands.folder}/asked; echo 0.99.0 `);
    expect((await adapters.detect('pi')).version).toBe('0.99.0');
    expect(asked()).toBe(3);
  });

  it('asks a program again that was ended before it had told its version', async () => {
    const commands = fakeCommands();
    commands.write('pi', `[ -e ${commands.folder}/slow ] && kill -9 $$; echo 0.87.1`);
    writeFileSync(join(commands.folder, 'slow'), '');
    const { adapters } = agentsOn(commands);
    expect(await adapters.detect('pi')).toMatchObject({
      installed: false,
      problem: 'pi --version was ended before it had told its version: it may take 60 s',
    });
    rmSync(join(commands.folder, 'slow'));
    expect(await adapters.detect('pi')).toMatchObject({ installed: true, version: '0.87.1' });
  });

  it('hands no credential to the command it asks', async () => {
    const commands = fakeCommands();
    commands.write('pi', `env > ${commands.folder}/env; echo 0.87.1`);
    await createCodingAgents({ env: { ...commands.env, SECRET_TOKEN: 'abc' } }).adapters.detect('pi');
    expect(readFileSync(join(commands.folder, 'env'), 'utf8')).not.toContain('abc');
  });
});

describe('what the run engine asks', () => {
  it('gates by the version that is on the PATH of the run, the first time as the second', () => {
    const [able, unable] = [fakeCommands(), fakeCommands()];
    able.write('codex', 'echo codex-cli 0.166.0');
    unable.write('codex', 'echo codex-cli 0.100.0');
    const { knowledge, adapters } = agentsOn(able);
    const codex = adapters.get('codex');
    const options = parseRunOptions({ agent: 'codex', prompt: 'hi', sessionId: 's' });
    const gate = (env: Readonly<Record<string, string | undefined>>) => () =>
      knowledge.check(codex, knowledge.effective(codex, options, env), options);
    for (const _time of ['first', 'second']) {
      expect(gate(able.env)).not.toThrow();
      expect(gate(unable.env)).toThrow("Agent 'codex' does not support sessionResume");
      expect(gate({ PATH: '' })).toThrow("Agent 'codex' does not support sessionResume");
    }
  });

  it('refuses nothing for a program that takes too long to tell its version; the run asks again before its start', async () => {
    const commands = fakeCommands();
    commands.write('codex', 'echo codex-cli 0.100.0');
    const { knowledge, adapters } = agentsOn(commands);
    const codex = adapters.get('codex');
    const runNow = (): never => {
      throw new Error('spawnSync ETIMEDOUT');
    };
    const detector = new Detector({ env: commands.env, platform: 'linux', run: runCommand, runNow });
    const options = parseRunOptions({ agent: 'codex', prompt: 'hi', sessionId: 's' });
    expect(() => knowledge.check(codex, detector.known(codex), options)).not.toThrow();
    const { effective } = await detector.detect(codex);
    expect(() => knowledge.check(codex, effective, options)).toThrow("Agent 'codex' does not support sessionResume");
  });

  it('asks a program for its version once for as long as its file stays the same, and not for a plain prompt', async () => {
    const commands = fakeCommands();
    commands.write('codex', `echo x >> ${commands.folder}/asked; echo codex-cli 0.166.0`);
    const { knowledge, adapters } = agentsOn(commands);
    const codex = adapters.get('codex');
    const asked = (): number =>
      existsSync(join(commands.folder, 'asked')) ? readFileSync(join(commands.folder, 'asked'), 'utf8').length / 2 : 0;
    knowledge.effective(codex, parseRunOptions({ agent: 'codex', prompt: 'hi' }), commands.env);
    expect(asked()).toBe(0);
    knowledge.effective(codex, parseRunOptions({ agent: 'codex', prompt: 'hi', stream: true }), commands.env);
    await Promise.all([knowledge.detect(codex, commands.env), knowledge.detect(codex, commands.env)]);
    expect(asked()).toBe(1);
  });

  it('knows the model and the native thinking of a run', () => {
    const { knowledge, adapters } = agentsOn(fakeCommands());
    const options = parseRunOptions({ agent: 'claude', prompt: 'hi', model: 'sonnet', thinkingEffort: 'high' });
    expect(knowledge.wanted(adapters.get('claude'), options)).toMatchObject({
      modelId: 'claude-sonnet-5-5',
      thinking: { budget_tokens: 32768 },
      notes: [],
    });
    const own = parseRunOptions({ agent: 'claude', prompt: 'hi', model: 'my-model', thinkingEffort: 'max' });
    expect(knowledge.wanted(adapters.get('claude'), own)).toMatchObject({ modelId: 'my-model', thinking: { budget_tokens: 32768 } });
  });
});

describe('installing', () => {
  it('lists the ways of the platform, the one of today last', () => {
    const { adapters } = agentsOn(fakeCommands());
    expect(adapters.installInstructions('opencode', 'linux').map(({ command, date }) => [command, date])).toEqual([
      ['npm install -g opencode', undefined],
      ['npm install -g opencode-ai', '2026-11-15'],
    ]);
    expect(adapters.installInstructions('opencode', 'darwin')).toHaveLength(3);
  });

  it('checks the prerequisite, runs the way of today and looks what is there', async () => {
    const commands = fakeCommands();
    const opencode = join(commands.folder, 'opencode');
    commands.write(
      'npm',
      `case "$1" in --version) echo 11;; *) echo "$@" > ${commands.folder}/args; printf '#!/bin/sh\\necho 1.18.33\\n' > ${opencode}; chmod +x ${opencode};; esac`,
    );
    const { way, detection } = await agentsOn(commands).adapters.install('opencode');
    expect(way.command).toBe('npm install -g opencode-ai');
    expect(readFileSync(join(commands.folder, 'args'), 'utf8')).toBe('install -g opencode-ai\n');
    expect(detection).toMatchObject({ installed: true, version: '1.18.33' });
  });

  it.each([
    ['1.5.2', 'true', 'install -g @earendil-works/pi-coding-agent\n'],
    [
      '0.87.1',
      '[ "$3" != @earendil-works/pi-coding-agent ]',
      'install -g @earendil-works/pi-coding-agent\ninstall -g @earendil-works/pi-coding-agent@0.87.1\n',
    ],
  ])('takes %s of pi where `%s` says what can be had: the newest, else the last one whose parts all can', async (version, had, tries) => {
    const commands = fakeCommands();
    const pi = join(commands.folder, 'pi');
    const install = `echo "$@" >> ${commands.folder}/args; ${had} || exit 1; printf '#!/bin/sh\\necho ${version}\\n' > ${pi}; chmod +x ${pi}`;
    commands.write('npm', `case "$1" in --version) echo 11;; *) ${install};; esac`);
    expect((await agentsOn(commands).adapters.install('pi')).detection).toMatchObject({ installed: true, version });
    expect(readFileSync(join(commands.folder, 'args'), 'utf8')).toBe(tries);
  });

  it('stops at a prerequisite that is missing, before anything is installed', async () => {
    const commands = fakeCommands();
    commands.write('npm', `[ "$1" = --version ] && exit 1; echo x > ${commands.folder}/args`);
    await expect(agentsOn(commands).adapters.install('pi')).rejects.toMatchObject({
      code: 'AGENT_NOT_INSTALLED',
      details: { prerequisite: 'npm --version' },
    });
    expect(() => readFileSync(join(commands.folder, 'args'))).toThrow();
  });

  it('shows what the installer said when it fails', async () => {
    const commands = fakeCommands();
    commands.write('npm', '[ "$1" = --version ] && exit 0; echo no network >&2; exit 7');
    await expect(agentsOn(commands).adapters.install('codex')).rejects.toMatchObject({
      code: 'AGENT_NOT_INSTALLED',
      details: { output: 'no network' },
    });
  });

  it('refuses a way that a machine cannot go alone, and one that does not exist', async () => {
    const { adapters } = agentsOn(fakeCommands());
    await expect(adapters.install('cursor', { method: 'manual' })).rejects.toThrow('is installed by hand');
    await expect(adapters.install('pi', { method: 'scoop' })).rejects.toThrow('known are: npm, npm');
  });
});

describe('plugins', () => {
  it('are handled by the agent’s own command', async () => {
    const commands = fakeCommands();
    commands.write('pi', `[ "$1" = --version ] && echo 0.87.1 && exit; echo "did $@"`);
    const { plugins } = agentsOn(commands);
    expect(await plugins.list('pi')).toEqual({ agent: 'pi', command: 'pi list', output: 'did list' });
    expect((await plugins.install('pi', 'npm:some thing; rm -rf x')).output).toBe('did install npm:some thing; rm -rf x');
    expect((await plugins.uninstall('pi', 'a')).command).toBe('pi remove a');
  });

  it('are refused where the agent has none, or no command for it', async () => {
    const commands = fakeCommands();
    commands.write('codex', 'echo codex-cli 0.20.0');
    commands.write('pi', 'echo 0.87.1');
    const { plugins } = agentsOn(commands);
    await expect(plugins.list('codex')).rejects.toMatchObject({
      code: 'CAPABILITY_ERROR',
      message: "Agent 'codex' does not support plugins",
    });
    await expect(plugins.search('pi', 'x')).rejects.toThrow("Agent 'pi' has no command that searches plugins");
    await expect(plugins.install('pi', '--global')).rejects.toMatchObject({ code: 'PLUGIN_ERROR' });
    await expect(plugins.list('omp')).rejects.toMatchObject({ code: 'AGENT_NOT_INSTALLED' });
  });

  it('show what the command said when it fails', async () => {
    const commands = fakeCommands();
    commands.write('pi', '[ "$1" = --version ] && echo 0.87.1 && exit; echo no such plugin >&2; exit 3');
    await expect(agentsOn(commands).plugins.install('pi', 'a')).rejects.toMatchObject({
      code: 'PLUGIN_ERROR',
      details: { output: 'no such plugin' },
    });
  });
});

describe('refreshing models', () => {
  it('asks the agent, on its input where it wants that', async () => {
    const commands = fakeCommands();
    const answer = '{"type":"control_response","response":{"response":{"models":[{"value":"opus","resolvedModel":"claude-opus-9"}]}}}';
    commands.write(
      'claude',
      `[ "$1" = --version ] && echo '2.1.325 (Claude Code)' && exit; read line; case "$line" in *initialize*) echo '${answer}';; esac`,
    );
    const { models } = agentsOn(commands);
    await models.refresh('claude');
    expect(models.validate('claude', 'claude-opus-9')).toMatchObject({ status: 'ok', model: { source: 'remote', modelAlias: 'opus' } });
  });

  it('takes no answer for a failure, and keeps what it had', async () => {
    const commands = fakeCommands();
    commands.write('pi', '[ "$1" = --version ] && echo 0.87.1 && exit; echo not logged in');
    const { models } = agentsOn(commands);
    const before = models.models('pi');
    await expect(models.refresh('pi')).rejects.toMatchObject({ code: 'PARSE_ERROR', message: 'Pi did not list its models: not logged in' });
    expect(models.models('pi')).toBe(before);
  });

  it('asks the engine for an agent that lists nothing itself', async () => {
    const server = createServer((request, response) => {
      const good = request.url === '/base/v1beta/models?pageSize=1000' && request.headers['x-goog-api-key'] === 'k';
      response.writeHead(good ? 200 : 403).end(JSON.stringify({ models: [{ name: 'models/gemini-9', inputTokenLimit: 7 }] }));
    }).listen(0, '127.0.0.1');
    onTestFinished(() => void server.close());
    await new Promise((resolve) => server.once('listening', resolve));
    // A server that listens on a port has an address of this kind.
    const { port } = server.address() as AddressInfo;
    const url = `http://127.0.0.1:${port}/base`;
    const { models } = agentsOn(fakeCommands(), { engine: () => ({ url, key: 'k' }) });
    await models.refresh('gemini');
    expect(models.model('gemini', 'gemini-9')).toMatchObject({ contextWindow: 7, source: 'remote', cliArgKey: '-m' });
    const wrong = agentsOn(fakeCommands(), { engine: () => ({ url, key: 'other' }) });
    await expect(wrong.models.refresh('gemini')).rejects.toThrow('the engine answered 403');
  });

  it('makes no model think for an agent that has no thinking mode', async () => {
    const server = createServer((request, response) => {
      response
        .writeHead(request.url === '/v1/models' ? 200 : 404)
        .end(JSON.stringify({ data: [{ id: 'x-ai/grok-9', context_length: 7 }] }));
    }).listen(0, '127.0.0.1');
    onTestFinished(() => void server.close());
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as AddressInfo; // as above
    const { models } = agentsOn(fakeCommands(), { engine: () => ({ url: `http://127.0.0.1:${port}`, key: 'k' }) });
    await models.refresh('hermes');
    expect(models.model('hermes', 'x-ai/grok-9')).toMatchObject({ contextWindow: 7, supportsThinking: false, source: 'remote' });
    expect(models.model('hermes', 'anthropic/claude-opus-4.6')).toMatchObject({ source: 'bundled' });
  });

  it('every agent has a list to ask for', () => {
    expect(adapters.filter(({ discover, listing }) => discover === undefined && listing === undefined).map(({ agent }) => agent)).toEqual(
      [],
    );
  });

  it('says which key is missing', async () => {
    await expect(agentsOn(fakeCommands()).models.refresh('gemini')).rejects.toMatchObject({
      code: 'AUTH_ERROR',
      message: expect.stringContaining('set GEMINI_API_KEY'),
    });
  });
});

describe('the login of an agent', () => {
  it('is told by names only', () => {
    const commands = fakeCommands();
    const state = createCodingAgents({ env: { ...commands.env, ANTHROPIC_API_KEY: 'sk-secret' } }).adapters.auth('claude');
    expect(state).toMatchObject({
      status: 'authenticated',
      variables: [{ name: 'ANTHROPIC_API_KEY', set: true }, { set: false }, { set: false }],
    });
    expect(JSON.stringify(state)).not.toContain('sk-secret');
  });

  it('is unknown where only a file is there, and missing without one', () => {
    const commands = fakeCommands();
    expect(agentsOn(commands).adapters.auth('hermes').status).toBe('unauthenticated');
    mkdirSync(join(commands.folder, '.hermes'));
    writeFileSync(join(commands.folder, '.hermes', '.env'), 'KEY=secret');
    expect(agentsOn(commands).adapters.auth('hermes')).toMatchObject({
      status: 'unknown',
      files: [
        { path: '~/.hermes/.env', present: true },
        { path: '~/.hermes/auth.json', present: false },
      ],
    });
  });
});

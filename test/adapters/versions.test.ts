import { describe, expect, it } from 'vitest';
import { findAdapter } from '../../src/adapters/index.ts';
import { INSTALLABLE } from '../agents/catalogue.ts';

describe('the version in what a CLI prints', () => {
  it.each([
    ['claude', '2.1.325 (Claude Code)\n', '2.1.325'],
    ['codex', 'WARNING: proceeding, even though we could not create PATH aliases\ncodex-cli 0.166.0\n', '0.166.0'],
    ['gemini', '0.61.0\n', '0.61.0'],
    ['gemini', '0.62.0-nightly.20261114\n', '0.62.0-nightly.20261114'],
    ['copilot', "GitHub Copilot CLI 1.0.102.\nRun 'copilot update' to check for updates.\n", '1.0.102'],
    ['cursor', '2025.10.02-bd871ac\n', '2025.10.02-bd871ac'],
    ['opencode', '1.18.33\n', '1.18.33'],
    ['pi', '1.5.2\n', '1.5.2'],
    ['omp', 'omp/18.2.3\n', '18.2.3'],
    ['openclaw', 'OpenClaw 2026.9.6 (abc1234)\n', '2026.9.6'],
    ['hermes', 'Hermes Agent v0.19.0 (2026.7.20)\nInstall method: pip\n', '0.19.0'],
  ])('%s: %j', (agent, output, version) => {
    expect(findAdapter(agent)?.detect.version(output)).toBe(version);
  });

  it.each(['claude', 'codex', 'copilot', 'omp', 'hermes'])('%s is not any program that has a version', (agent) => {
    expect(findAdapter(agent)?.detect.version('something 1.2.3\n')).toBeUndefined();
  });
});

describe('what a version differs in from the profile', () => {
  it.each([
    ['codex', '0.166.0', { canResume: true, canFork: true, supportsStructuredOutput: true }],
    ['codex', '1.0.0', { canResume: true }],
    ['gemini', '0.61.0', { canResume: true, supportsThinkingStreaming: false, pluginListCmd: 'gemini extensions list' }],
    ['copilot', '1.0.102', { canResume: true, supportsMCP: true, supportsThinking: true, approvalModes: ['yolo', 'prompt', 'deny'] }],
    ['cursor', '2025.10.02-bd871ac', { canResume: true, requiresPty: false }],

    ['pi', '1.5.2', { supportsMCP: true, supportsAgentsMd: true }],
    ['openclaw', '2026.9.6', { supportsTextStreaming: false }],
  ])('%s %s', (agent, version, differs) => {
    expect(findAdapter(agent)?.detect.effective(version)).toMatchObject(differs);
  });

  it('is nothing for a version before the measured one, or for no version at all', () => {
    expect(findAdapter('codex')?.detect.effective('0.165.9')).toEqual({});
    expect(findAdapter('codex')?.detect.effective('unknown')).toEqual({});
  });
});

describe('the versions that an adapter was tried with', () => {
  it.each(INSTALLABLE)('$agent: those that the real agents are tried in', ({ agent, packages: [first = ''] }) => {
    const version = /(?:@|==)(\d[\w.]*)$/.exec(first)?.[1] ?? '';
    const { detect } = findAdapter(agent) ?? {};
    expect(detect?.untested?.(version)).toBeUndefined();
    expect(detect?.untested?.('9999.1.1')).toBe(`version 9999.1.1 is newer than ${version}, the newest one that was tried`);
    expect(detect?.untested?.('0.0.1')).toMatch(/^version 0\.0\.1 is older than \d/);
  });

  it('leave a gap where an earlier version is known to crash', () => {
    expect(findAdapter('pi')?.detect.untested?.('0.74.2')).toBe('version 0.74.2 is older than 0.87.1, the oldest one that was tried');
  });

  it('are none for an agent that nobody could try', () => {
    expect(findAdapter('cursor')?.detect.untested?.('2025.10.02-bd871ac')).toBeUndefined();
  });
});

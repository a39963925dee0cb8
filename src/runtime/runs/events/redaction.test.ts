import { describe, expect, it } from 'vitest';
import { redactor } from '../../../base/redact.ts';
import { keepableOptions, keepableText, withoutSecrets, withoutSecretsInTurns, withoutWords } from './redaction.ts';

it('keeps names of variables and headers and none of their values', () => {
  const kept = keepableOptions({
    agent: 'claude',
    prompt: 'hi',
    env: { TOKEN: 'hush' },
    mcpServers: [
      { name: 'a', transport: 'stdio', command: 'x', env: { KEY: 'hush' } },
      { name: 'b', transport: 'sse', url: 'https://b.test/', headers: { authorization: 'hush' } },
    ],
  });
  expect(JSON.stringify(kept)).not.toContain('hush');
  expect(kept).toMatchObject({
    prompt: 'hi',
    env: { TOKEN: '•••' },
    mcpServers: [{ env: { KEY: '•••' } }, { headers: { authorization: '•••' } }],
  });
});

it('only recognises the prompt where words are not kept', () => {
  const kept = withoutWords({ agent: 'claude', prompt: 'hi', systemPrompt: 'be kind', model: 'm' });
  expect(kept).toEqual({ agent: 'claude', model: 'm', prompt: expect.stringMatching(/^sha256:[0-9a-f]{64}$/) });
});

it('removes secrets from every text of an event', () => {
  const hide = (text: string): string => text.replaceAll('hush', '-');
  expect(withoutSecrets({ a: 'hush', b: [{ c: 'x hush' }, 1, null], d: { e: true } }, hide)).toEqual({
    a: '-',
    b: [{ c: 'x -' }, 1, null],
    d: { e: true },
  });
});

describe('a long text', () => {
  const key = `sk-ant-${'a1'.repeat(20)}`;
  const clean = redactor();

  it.each([0, 64 * 1024 - 20, 64 * 1024, 200 * 1024, 300 * 1024 - 60])(
    'loses a key at %i, also across the pieces that are searched',
    async (at) => {
      const text = `${'x y '.repeat(75 * 1024).slice(0, at)} ${key} ${'z '.repeat(10)}`;
      const { line } = await withoutSecretsInTurns({ line: text }, clean.text);
      expect(line).not.toContain(key);
      expect(line).toBe(clean.text(text));
    },
  );

  it('stays as it is without one, and others are served while it is searched', async () => {
    const text = 'e'.repeat(4 * 1024 * 1024);
    let turns = 0;
    const ticking = (): void => {
      turns += 1;
      if (turns < 1000) setImmediate(ticking);
    };
    ticking();
    expect((await withoutSecretsInTurns({ a: [{ b: text }] }, clean.text)).a).toEqual([{ b: text }]);
    expect(turns).toBeGreaterThan(10);
  });

  it('is kept up to a measure, and says what is elsewhere', () => {
    const text = `${'word '.repeat(1024 * 1024)}${key}`;
    const kept = keepableText(text);
    expect(kept.length).toBeLessThan(4 * 1024 * 1024 + 100);
    expect(kept).toMatch(/word \n\(\d+ more characters are in the events of the run\)$/);
    expect(keepableText('short')).toBe('short');
  });
});

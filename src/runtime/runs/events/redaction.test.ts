import { expect, it } from 'vitest';
import { keepableOptions, withoutSecrets, withoutWords } from './redaction.ts';

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

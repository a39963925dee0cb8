import { describe, expect, it } from 'vitest';
import { scanBody } from '../../mapping/scan/scan.ts';
import { affinityOf } from './affinity.ts';

const NOBODY = { owner: { parent: null }, session: undefined };

function affinity(body: object, told: Partial<Parameters<typeof affinityOf>[0]> = {}, space = 0) {
  const text = Buffer.from(JSON.stringify(body, undefined, space));
  return affinityOf({ ...NOBODY, text, scan: scanBody(text), ...told });
}

const SYSTEM = 'You are a careful engineer. '.repeat(400);
const text = (words: string, marked = false) => ({
  type: 'text',
  text: words,
  ...(marked ? { cache_control: { type: 'ephemeral' } } : {}),
});

/** A conversation that begins with these words, so many exchanges later, in the words of each vendor. */
const DIALECTS: Readonly<Record<string, (words: string, exchanges: number) => object>> = {
  claude: (words, exchanges) => ({
    model: 'm',
    max_tokens: 10,
    system: SYSTEM,
    messages: [
      // The mark stands on the last message of the user, wherever that is.
      { role: 'user', content: [text(words, exchanges === 0)] },
      ...Array.from({ length: exchanges }, (_, at) => [
        { role: 'assistant', content: [text(`answer ${at}`)] },
        { role: 'user', content: [text(`and ${at}?`, at === exchanges - 1)] },
      ]).flat(),
    ],
  }),
  'openai-chat': (words, exchanges) => ({
    messages: [
      { role: 'system', content: SYSTEM },
      { role: 'user', content: words },
      ...Array.from({ length: exchanges }, () => ({ role: 'assistant', content: 'answer' })),
    ],
    model: 'm',
  }),
  'openai-chat with the role at the end': (words, exchanges) => ({
    model: 'm',
    messages: [
      { content: SYSTEM, role: 'developer' },
      { content: words, role: 'user' },
      ...Array.from({ length: exchanges }, () => ({ content: 'answer', role: 'assistant' })),
    ],
  }),
  'openai-responses': (words, exchanges) => ({
    model: 'm',
    instructions: SYSTEM,
    input: [
      { type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'permissions' }] },
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: words }] },
      ...Array.from({ length: exchanges }, () => ({ type: 'function_call', name: 'f', arguments: '{}', call_id: 'c' })),
    ],
  }),
  gemini: (words, exchanges) => ({
    contents: [
      { role: 'user', parts: [{ text: words }] },
      ...Array.from({ length: exchanges }, () => ({ role: 'model', parts: [{ text: 'answer' }] })),
    ],
    systemInstruction: { parts: [{ text: SYSTEM }] },
  }),
};

describe.each(Object.entries(DIALECTS))('the affinity of a conversation in %s', (_name, conversation) => {
  it('stays while the conversation grows', () => {
    const first = affinity(conversation('mend the parser', 0));
    expect(first).toBeDefined();
    for (const exchanges of [1, 2, 5, 40]) expect(affinity(conversation('mend the parser', exchanges))).toEqual(first);
    expect(affinity(conversation('mend the parser', 3), {}, 2)?.key).toBe(affinity(conversation('mend the parser', 5), {}, 2)?.key);
  });

  it('differs from that of another conversation with the same system prompt', () => {
    expect(affinity(conversation('mend the parser', 2))?.key).not.toBe(affinity(conversation('write a parser', 2))?.key);
  });

  it('is that of the session or of the run, where there is one', () => {
    const bySession = affinity(conversation('one', 0), { session: 's-1' });
    expect(affinity(conversation('another', 3), { session: 's-1' })).toEqual(bySession);
    const byRun = affinity(conversation('one', 0), { owner: { parent: 'run_1' as never } });
    expect(affinity(conversation('another', 3), { owner: { parent: 'run_1' as never } })).toEqual(byRun);
    expect(byRun?.key).not.toBe(bySession?.key);
  });
});

it('lasts five minutes, or an hour where a mark or the retention asks for that', () => {
  const claude = (ttl?: string) => ({
    messages: [{ role: 'user', content: 'hi' }],
    system: [{ type: 'text', text: 'long', cache_control: { type: 'ephemeral', ...(ttl === undefined ? {} : { ttl }) } }],
  });
  expect(affinity(claude())?.lifetimeMs).toBe(300_000);
  expect(affinity(claude('5m'))?.lifetimeMs).toBe(300_000);
  expect(affinity(claude('1h'))?.lifetimeMs).toBe(3_600_000);
  expect(affinity({ input: 'hi', prompt_cache_retention: '24h' })?.lifetimeMs).toBe(3_600_000);
});

it('is the caller’s own key for caches, where the body has one', () => {
  const one = affinity({ prompt_cache_key: 'thread-1', input: [{ role: 'user', content: 'a' }] });
  expect(affinity({ prompt_cache_key: 'thread-1', input: [{ role: 'user', content: 'b' }] })).toEqual(one);
  expect(affinity({ prompt_cache_key: 'thread-2', input: [{ role: 'user', content: 'a' }] })?.key).not.toBe(one?.key);
});

it('is none where the body holds no conversation', () => {
  expect(affinity({ model: 'm', file: 'x' })).toBeUndefined();
});

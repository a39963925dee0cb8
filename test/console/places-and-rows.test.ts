import { describe, expect, it } from 'vitest';
import { timeMarks } from '../../console/src/base/format.ts';
import { inOrder, lineAt } from '../../console/src/base/json-path.ts';
import { titleOf } from '../../console/src/base/title.ts';
import { replacement } from '../../console/src/components/diff/replacement.ts';
import { rowsOf } from '../../console/src/components/side-by-side/rows.ts';
import { eventsOf } from '../../console/src/pages/run/answer-events.ts';
import { placesIn } from '../../console/src/pages/run/places-in.ts';
import { chipsOf, parseFilter, shownSpan, withSince } from '../../console/src/pages/runs/filter.ts';

describe('the filter language', () => {
  it.each([
    ['engine:gemini status:failed', { engine: 'gemini', status: 'failed' }],
    ['tag:project:clerk "two words"', { tag: 'project:clerk', q: 'two words' }],
    ['cost>0.1 duration>5s', { min_cost_nano_usd: '100000000', min_ms: '5000' }],
    ['cost > $0.1 duration >= 5 s', { min_cost_nano_usd: '100000000', min_ms: '5000' }],
    ['cost>.25 more', { min_cost_nano_usd: '250000000', q: 'more' }],
    ['duration>2 model:x', { min_ms: '2', model: 'x' }],
    ['nothing:known cost>', { q: 'nothing:known cost>' }],
  ])('reads %s', (text, filter) => {
    expect(parseFilter(text)).toEqual(filter);
  });

  it('reads what its own chips say of costs and times', () => {
    const filter = { min_cost_nano_usd: '100000000', min_ms: '5000' };
    expect(
      parseFilter(
        chipsOf(filter)
          .map(([, words]) => words)
          .join(' '),
      ),
    ).toEqual(filter);
  });
});

describe('where a field went', () => {
  const sent = { generationConfig: { maxOutputTokens: 800 }, contents: [{ parts: [{ 'a/b': 'hi' }] }] };

  it('is the first place that an explanation names, with the value of what was sent', () => {
    const places = placesIn(
      [
        { path: 'max_tokens', fate: 'renamed', to: ['/generationConfig/maxOutputTokens', '/other'] },
        { path: 'messages[*].content', fate: 'exact', to: ['/contents/0/parts/0/a~1b'] },
        { path: 'model', fate: 'renamed', to: ['path'] },
        { path: 'metadata.user_id', fate: 'dropped' },
      ],
      sent,
      sent,
    );
    expect([...places]).toEqual([
      ['max_tokens', { at: 'generationConfig.maxOutputTokens', value: 800 }],
      ['messages[*].content', { at: 'contents[0].parts[0].a/b', value: 'hi' }],
      ['model', { at: 'path', value: undefined }],
    ]);
  });

  it('is not told where what would be sent now is not what was sent then', () => {
    const now = { generationConfig: { maxOutputTokens: 900 } };
    expect(placesIn([{ path: 'max_tokens', fate: 'renamed', to: ['/generationConfig/maxOutputTokens'] }], now, sent).size).toBe(0);
  });
});

describe('two texts side by side', () => {
  const shown = async (left: string, right: string): Promise<string[]> =>
    (await rowsOf(left, right)).map(({ equal, left: one, right: other }) => {
      const side = (line: typeof one): string =>
        line === null ? '∅' : `${line.number} ${line.pieces.map(({ text, marked }) => (marked ? `[${text}]` : text)).join('')}`;
      return `${equal ? '=' : '≠'} ${side(one)} | ${side(other)}`;
    });

  it('have equal lines beside each other and mark the words that were replaced', async () => {
    expect(await shown('a\nround 1 ends\nb', 'a\nround 2 ends\nb')).toEqual([
      '= 1 a | 1 a',
      '≠ 2 round [1] ends | 2 round [2] ends',
      '= 3 b | 3 b',
    ]);
  });

  it('leave a place where one side has nothing', async () => {
    expect(await shown('a\nb\n', 'a\n')).toEqual(['= 1 a | 1 a', '≠ 2 [b] | ∅']);
    expect(await shown('a\n', 'a\nb\nc\n')).toEqual(['= 1 a | 1 a', '≠ ∅ | 2 [b]', '≠ ∅ | 3 [c]']);
  });

  it('are told without words where they are long', async () => {
    const [row] = await rowsOf('x '.repeat(40_000), 'y '.repeat(40_000));
    expect(row?.left?.pieces).toHaveLength(1);
  });
});

describe('the events of an answer', () => {
  const stream = [['content-type', 'text/event-stream; charset=utf-8']] as [string, string][];
  const answer = (headers: [string, string][], ...bodies: (string | Uint8Array)[]): Parameters<typeof eventsOf>[0] => ({
    ...{ status: 200, headers, trailers: [], at_us: 1000, complete: true },
    chunks: bodies.map((body, index) => {
      const at_us = (index + 2) * 1000;
      return typeof body === 'string' ? { at_us, text: body } : { at_us, base64: Buffer.from(body).toString('base64') };
    }),
  });

  it('are told apart wherever the pieces were cut, also inside a character, each at the time at which it was whole', () => {
    const text = Buffer.from(
      'event: ping\ndata: {"type":"ping"}\n\n: kept alive\n\ndata: {"type":"text","text":"é"}\r\n\r\ndata: [DONE]\n\n',
    );
    for (let cut = 1; cut < text.length; cut += 1) {
      const events = eventsOf(answer(stream, text.subarray(0, cut), text.subarray(cut)));
      expect(events.map(({ name, data }) => [name, data])).toEqual([
        ['ping', '{"type":"ping"}'],
        ['text', '{"type":"text","text":"é"}'],
        ['data', '[DONE]'],
      ]);
      expect(events.at(-1)?.atMs).toBe(3);
    }
  });

  it('are one where it was not streamed, and none where nothing came', () => {
    expect(eventsOf(answer([['Content-Type', 'application/json']], '{"a":', '1}'))).toEqual([{ atMs: 3, name: 'body', data: '{"a":1}' }]);
    expect(eventsOf(answer(stream))).toEqual([]);
    expect(eventsOf(null)).toEqual([]);
  });
});

describe('lines of a diff', () => {
  it('have what both texts have once, so that only changes are marked', () => {
    expect(replacement('a\nb\nc', 'a\nx\nc')).toBe(' a\n-b\n+x\n c');
    expect(replacement('', 'a\nb')).toBe('+a\n+b');
    expect(replacement('a', '')).toBe('-a');
    expect(replacement('return row;', '  return row;\n}')).toBe('-return row;\n+  return row;\n+}');
  });

  it('of texts that are too long to compare are all that was, then all that is', () => {
    const [old, now] = ['x\n'.repeat(1200), 'x\n'.repeat(1200)];
    expect(replacement(old, now).startsWith('-x\n-x')).toBe(true);
  });
});

describe('the scale of a time line', () => {
  const words = (total: number): string[] => timeMarks(total).map((mark) => mark.words);

  it.each([
    [1.9, ['0', '0.5 ms', '1 ms', '1.5 ms']],
    [49, ['0', '10 ms', '20 ms', '30 ms', '40 ms']],
    [2410, ['0', '0.5 s', '1 s', '1.5 s', '2 s']],
    [14_840, ['0', '5 s', '10 s']],
    [252_000, ['0', '1:00', '2:00', '3:00', '4:00']],
    [90_000, ['0', '0:30', '1:00']],
    [0, ['0']],
  ])('of %d ms has round marks', (total, expected) => {
    expect(words(total)).toEqual(expected);
  });
});

describe('fields of a body', () => {
  const body = { model: 'm', messages: [{ role: 'user', content: 'hi' }], metadata: { user_id: 'u' }, tools: [] };

  it('stand in the order of the request, and those that are not in it come last', () => {
    const paths = ['(added)', 'metadata.user_id', 'messages[*].content', 'model', 'messages[0].role'];
    expect(inOrder(paths, (path) => path, body)).toEqual([
      ...['model', 'messages[0].role', 'messages[*].content', 'metadata.user_id', '(added)'],
    ]);
  });

  it.each(['model', 'messages[*].content', 'metadata.user_id', 'tools'])('have a line in its pretty form: %s', (path) => {
    const name = path.split('.').at(-1);
    expect(JSON.stringify(body, null, 2).split('\n')[lineAt(body, path) ?? -1]).toContain(`"${name}"`);
    expect(lineAt(body, 'top_k')).toBeUndefined();
  });
});

describe('the time that the histogram of Runs covers', () => {
  const now = Date.parse('2026-11-16T18:40:12.345Z');

  it.each([{ span: '86400000' }, { since: '2026-11-16T17:00:00.000Z' }, {}])('stays the same within a minute: %o', (state) => {
    const asked = withSince(state, now);
    const spans = [0, 7, 1000, 40_000].map((later) => shownSpan(asked, undefined, now + later));
    expect(new Set(spans).size).toBe(1);
  });

  it('is what was chosen', () => {
    expect(shownSpan(withSince({ span: '3600000' }, now), undefined, now)).toBe(3_600_000);
    expect(shownSpan({ since: '2026-11-16T16:00:00.000Z', until: '2026-11-16T18:00:00.000Z' }, undefined, now)).toBe(7_200_000);
  });
});

describe('the title of a tab', () => {
  it.each([
    ['/runs/run_01a1eefa972e70bc95cacd23ec43e79f', 0, 'Run 43e79f · Agent Backplane'],
    ['/runs/run_a00000000043e79f/vs/run_b00000000068228e', 0, 'Compare 43e79f with 68228e · Agent Backplane'],
    ['/agents/agent_1/sessions/session_2', 3, '(3) Agents · Agent Backplane'],
    ['/nowhere', 0, 'Agent Backplane'],
  ])('of %s with %i who wait is %s', (path, waits, title) => {
    expect(titleOf(path, waits)).toBe(title);
  });
});

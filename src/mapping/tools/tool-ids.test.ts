import fc from 'fast-check';
import { expect, test } from 'vitest';
import { idFilter, idFor, idsIn, mapIds } from './tool-ids.ts';

const CLAUDE = /^[a-zA-Z0-9_-]+$/;

test('an id that the target takes stays as it is', () => {
  expect(idFor('toolu_01', CLAUDE)).toBe('toolu_01');
  expect(idFor('functions.Bash:0', undefined)).toBe('functions.Bash:0');
});

test('an id of another engine is rewritten for the caller and restored when it comes back', () => {
  const shown = idFilter(CLAUDE, []).filter({
    type: 'part-start',
    index: 0,
    part: { kind: 'tool-call', id: 'functions.Bash:0', name: 'Bash' },
  })[0];
  const id = shown?.type === 'part-start' && shown.part.kind === 'tool-call' ? shown.part.id : '';
  expect(id).toMatch(CLAUDE);
  expect(idFor(id, undefined)).toBe('functions.Bash:0');
});

test('every id survives the way to the caller and back', () => {
  fc.assert(
    fc.property(fc.string({ minLength: 1, unit: 'grapheme' }), (id) => {
      const shown = idFor(id, CLAUDE);
      expect(shown).toMatch(CLAUDE);
      expect(idFor(shown, undefined)).toBe(idFor(id, undefined));
    }),
  );
});

test('an id of the caller that only begins like one of ours stays as it is', () => {
  expect(['abp_1', 'abp_2', 'abp_a.b'].map((id) => idFor(id, undefined))).toEqual(['abp_1', 'abp_2', 'abp_a.b']);
});

test('an engine that takes short ids gets a short one for a long id, the same for a call and its result', () => {
  const long = `functions.${'a_rather_long_tool_name_'.repeat(4)}:0`;
  const [message] = mapIds(
    [
      {
        role: 'user',
        parts: [
          { kind: 'tool-call', id: long, name: 'x', arguments: '{}' },
          { kind: 'tool-result', callId: long, isError: false, parts: [] },
        ],
      },
    ],
    /^.{1,40}$/su,
  );
  const [call, result] = message?.parts ?? [];
  expect(call).toMatchObject({ id: expect.stringMatching(/^abph_[0-9a-f]{32}$/) });
  expect(result).toMatchObject({ callId: (call as { id?: string }).id });
});

test('ids that repeat in a conversation are told apart where the wire takes each once, and a result follows its call', () => {
  const turn = [
    { kind: 'tool-call', id: 'functions.Bash:0', name: 'Bash', arguments: '{}' },
    { kind: 'tool-result', callId: 'functions.Bash:0', isError: false, parts: [] },
  ] as const;
  const [message] = mapIds([{ role: 'user', parts: [...turn, ...turn] }], CLAUDE);
  const ids = (message?.parts ?? []).map((part) => (part.kind === 'tool-call' ? part.id : part.kind === 'tool-result' ? part.callId : ''));
  expect(ids[0]).toBe(ids[1]);
  expect(ids[2]).toBe(ids[3]);
  expect(ids[0]).not.toBe(ids[2]);
  for (const id of ids) expect(idFor(id, undefined)).toBe('functions.Bash:0');
});

test('an answer repeats no id that the conversation has', () => {
  const history = [
    { role: 'assistant', parts: [{ kind: 'tool-call', id: 'abp_ZnVuY3Rpb25zLkJhc2g6MA', name: 'Bash', arguments: '{}' }] },
  ] as const;
  const [shown] = idFilter(CLAUDE, idsIn(history)).filter({
    type: 'part-start',
    index: 0,
    part: { kind: 'tool-call', id: 'functions.Bash:0', name: 'Bash' },
  });
  expect(shown).toMatchObject({ part: { id: 'abp1_ZnVuY3Rpb25zLkJhc2g6MA' } });
});

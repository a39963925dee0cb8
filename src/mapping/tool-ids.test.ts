import fc from 'fast-check';
import { expect, test } from 'vitest';
import { idFilter, idFor } from './tool-ids.ts';

const CLAUDE = /^[a-zA-Z0-9_-]+$/;

test('an id that the target takes stays as it is', () => {
  expect(idFor('toolu_01', CLAUDE)).toBe('toolu_01');
  expect(idFor('functions.Bash:0', undefined)).toBe('functions.Bash:0');
});

test('an id of another engine is rewritten for the caller and restored when it comes back', () => {
  const shown = idFilter(CLAUDE).filter({
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
      if (!id.startsWith('abp_')) expect(idFor(shown, undefined)).toBe(id);
    }),
  );
});

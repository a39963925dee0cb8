import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { IrRequest } from '../../ir/request.ts';
import { NO_USAGE } from '../../ir/usage.ts';
import { StopFilter, stopCut } from './stop-cut.ts';

const request = (stop: string[]): IrRequest => ({ model: 'm', stream: true, messages: [], tools: [], stop, sampling: {}, vendor: {} });

function play(stop: string[], deltas: string[]): { text: string; finish: string; stopSequence: string | undefined } {
  const filter = new StopFilter(stop);
  const events = [
    filter.filter({ type: 'message-start', model: 'm' }),
    filter.filter({ type: 'part-start', index: 0, part: { kind: 'text' } }),
    ...deltas.map((text) => filter.filter({ type: 'part-delta', index: 0, text })),
    filter.filter({ type: 'part-end', index: 0 }),
    filter.filter({ type: 'message-end', finish: 'stop', usage: NO_USAGE }),
  ].flat();
  const end = events.filter((event) => event.type === 'message-end');
  expect(end).toHaveLength(1);
  return {
    text: events.map((event) => (event.type === 'part-delta' ? event.text : '')).join(''),
    finish: end[0]?.finish ?? '',
    stopSequence: end[0]?.stopSequence,
  };
}

test('a request without stop sequences needs no cut', () => {
  expect(stopCut(request([]))).toBeUndefined();
});

test('the answer ends before a stop sequence that is split over deltas', () => {
  expect(play(['END'], ['one E', 'N', 'D two'])).toEqual({ text: 'one ', finish: 'stop-sequence', stopSequence: 'END' });
});

test('text that only begins like a stop sequence arrives whole', () => {
  expect(play(['END'], ['the E', 'N', 'D', '!'].slice(0, 2))).toEqual({ text: 'the EN', finish: 'stop', stopSequence: undefined });
});

test('the earliest match wins, whichever sequence it is', () => {
  expect(play(['zz', 'b'], ['a b zz'])).toEqual({ text: 'a ', finish: 'stop-sequence', stopSequence: 'b' });
});

test('however the text is cut into deltas, the caller sees the same answer', () => {
  const letters = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 30 });
  fc.assert(
    fc.property(
      letters,
      fc.array(fc.nat(30), { maxLength: 5 }),
      fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 1, maxLength: 3 }),
      (text, cuts, stop) => {
        const at = [0, ...cuts.map((cut) => Math.min(cut, text.length)).sort((a, b) => a - b), text.length];
        const deltas = at
          .slice(1)
          .map((end, index) => text.slice(at[index], end))
          .filter((delta) => delta !== '');
        const found = text.indexOf(stop);
        const { text: seen, finish } = play([stop], deltas);
        expect(seen).toBe(found === -1 ? text : text.slice(0, found));
        expect(finish).toBe(found === -1 ? 'stop' : 'stop-sequence');
      },
    ),
  );
});

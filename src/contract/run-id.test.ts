import { expect, it } from 'vitest';
import { newRunId, parseRunId, requestIdOf, runUuid } from './run-id.ts';

const hex = '0192f0c12a3b7c4d8e5f60718293a4b5';

it.each([`run_${hex}`, hex, '0192f0c1-2a3b-7c4d-8e5f-60718293a4b5', '0192F0C1-2A3B-7C4D-8E5F-60718293A4B5'])('reads %s', (text) => {
  expect(parseRunId(text)).toBe(`run_${hex}`);
});

it.each(['', 'run_', 'run_abc123', `req_${hex}`, `run_${hex}0`, `run_run_${hex}`])('does not read %j', (text) => {
  expect(parseRunId(text)).toBeUndefined();
});

it('writes the run as a UUID and as a request id', () => {
  const id = parseRunId(hex);
  if (id === undefined) throw new Error('not read');
  expect(runUuid(id)).toBe('0192f0c1-2a3b-7c4d-8e5f-60718293a4b5');
  expect(requestIdOf(id)).toBe(`req_${hex}`);
});

it('makes ids that only go up', () => {
  const ids = Array.from({ length: 1000 }, newRunId);
  expect(ids).toEqual([...new Set(ids)].sort());
  expect(ids[0]).toMatch(/^run_[0-9a-f]{12}7[0-9a-f]{19}$/);
});

import { expect, it } from 'vitest';
import { newRunId, parseNamedRunId, parseRunId, requestIdOf, runUuid } from './run-id.ts';

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

it('reads a ULID, in which the time comes first as well, bit for bit', () => {
  expect(parseRunId('01JCQ4Z8N6T3V5X7Y9ZABCDEFG')).toBe('run_01932e4fa2a6d0f65e9fc9fa96c6b9f0');
  expect(parseRunId('01jcq4z8n6t3v5x7y9zabcdefg')).toBe('run_01932e4fa2a6d0f65e9fc9fa96c6b9f0');
  expect(parseRunId('7ZZZZZZZZZZZZZZZZZZZZZZZZZ')).toBe(`run_${'f'.repeat(32)}`);
  expect(parseRunId('80000000000000000000000000')).toBeUndefined();
  expect(parseRunId('01JCQ4Z8N6T3V5X7Y9ZABCDEFU')).toBeUndefined();
});

it('takes for the name of a new run only what begins with its time', () => {
  expect(parseNamedRunId(`run_${hex}`)).toBe(`run_${hex}`);
  expect(parseNamedRunId('0192f0c1-2a3b-7c4d-8e5f-60718293a4b5')).toBe(`run_${hex}`);
  expect(parseNamedRunId('01JCQ4Z8N6T3V5X7Y9ZABCDEFG')).toBe('run_01932e4fa2a6d0f65e9fc9fa96c6b9f0');
  expect(parseNamedRunId('6f9619ff-8b86-4011-b42d-00c04fc964ff')).toBeUndefined();
});

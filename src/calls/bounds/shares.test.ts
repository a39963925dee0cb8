import { expect, it } from 'vitest';
import { AbpError } from '../../contract/errors.ts';
import { newRunId } from '../../contract/run-id.ts';
import type { Settlement } from '../admission.ts';
import type { Call, Way } from '../call.ts';
import { RunTerms } from '../scopes.ts';
import { shares } from './shares.ts';

const call = (keyId: string | null, way: Way = 'relay', engine = 'claude'): Call => ({
  ...{ runId: newRunId(), way, engine, model: 'm', dialect: 'claude', mode: 'passthrough' },
  owner: { keyId, parent: null, tags: [] },
});

const ENDED = { status: 'completed', usage: null, upstreamModel: null, nanoUsd: null } as const;

it('leaves calls to an engine for others, and counts each engine and the runs for themselves', () => {
  const { check } = shares({ calls: () => 8, runs: 4 });
  const taken: Settlement[] = [];
  for (let verdict = check(call('greedy')); typeof verdict === 'function'; verdict = check(call('greedy'))) taken.push(verdict);
  expect(taken).toHaveLength(6);
  expect(AbpError.is(check(call('greedy')))).toBe(true);
  expect(check(call('other'))).toBeTypeOf('function');
  expect(check(call('greedy', 'mapped', 'openai'))).toBeTypeOf('function');
  expect(check(call('greedy', 'run'))).toBeTypeOf('function');
  for (const settle of taken) settle(ENDED);
  expect(check(call('greedy'))).toBeTypeOf('function');
});

it('says that it can be tried again', () => {
  const { check } = shares({ calls: () => 1, runs: 1 });
  check(call(null));
  expect(check(call(null))).toMatchObject({ code: 'overloaded', row: { status: 503, retryable: true } });
});

it('counts the calls of a run for the key that asked for the run, however many runs it has', () => {
  const { check } = shares({ calls: () => 8, runs: 4 });
  const terms = RunTerms.parse({
    agent: 'claude',
    engine: 'claude',
    model: null,
    emulate: [],
    compatibility: 'best_effort',
    thinking: null,
    owner: 'greedy',
  });
  const ofRun = (at: number): Call => ({
    ...call(null),
    owner: { keyId: `key_of_run_${at}`, parent: newRunId(), tags: [], scopes: { run: terms } },
  });
  let taken = 0;
  while (typeof check(ofRun(taken)) === 'function') taken += 1;
  expect(taken).toBe(6);
  expect(AbpError.is(check(call('greedy')))).toBe(true);
  expect(check(call('other'))).toBeTypeOf('function');
});

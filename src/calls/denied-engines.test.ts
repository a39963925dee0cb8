import { expect, it } from 'vitest';
import { newRunId } from '../contract/run-id.ts';
import type { Call } from './call.ts';
import { deniedEngines } from './denied-engines.ts';

const call = (engine: string | null, model: string | null): Call => ({
  runId: newRunId(),
  way: 'relay',
  owner: { keyId: null, parent: null, tags: [] },
  engine,
  model,
  dialect: null,
  mode: null,
});

it.each([
  ['sim', 'm', undefined],
  ['openai', 'gpt-small', undefined],
  ['openai', 'gpt-large', 'deny_models: *-large'],
  ['openai', 'GPT-Large', 'deny_models: *-large'],
  ['claude', 'm', 'deny_engines: cla*'],
  ['claude:claude', 'm', 'deny_engines: cla*'],
  [null, null, undefined],
])('engine %s with model %s is denied by %s', (engine, model, rule) => {
  const verdict = deniedEngines({ engines: ['cla*'], models: ['*-large'] }).check(call(engine, model));
  expect(verdict === undefined ? undefined : verdict).toEqual(
    rule === undefined ? undefined : expect.objectContaining({ code: 'E005', details: { operation: 'call', policy_rule: rule } }),
  );
});

it('a rule with another name of an engine holds for it, and a pattern that only such a name fits does not', () => {
  const denied = (pattern: string, engine: string): boolean =>
    deniedEngines({ engines: [pattern], models: [] }).check(call(engine, 'm')) !== undefined;
  expect([denied('anthropic', 'claude'), denied('Codex', 'openai'), denied('google', 'gemini:gemini')]).toEqual([true, true, true]);
  expect([denied('anthropic', 'openai'), denied('cod*', 'openai'), denied('co*', 'copilot')]).toEqual([false, false, true]);
});

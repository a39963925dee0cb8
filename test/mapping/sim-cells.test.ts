import { describe, expect, test } from 'vitest';
import { dialects } from '../../src/dialects/index.ts';
import { findEngine, ownEngine } from '../../src/engines/index.ts';
import { modelFacts } from '../../src/mapping/model.ts';
import { mapTo, targetOf } from '../support/mapping.ts';

const SHOWN = ['json_mode', 'structured_output_json_schema', 'extended_thinking'] as const;
const sim = findEngine('sim');

describe.each(dialects)('sim:$id', ({ id }) => {
  test('has JSON and thinking as the engine of that vendor has them', () => {
    const real = ownEngine(id)?.manifest;
    const told = sim === undefined ? {} : modelFacts(sim, 'sim-1', id).manifest;
    for (const capability of SHOWN) expect([capability, told[capability]]).toEqual([capability, real?.[capability] ?? 'unsupported']);
  });
});

const thinking = {
  model: 'sim-1',
  max_tokens: 4000,
  thinking: { type: 'enabled', budget_tokens: 2000 },
  messages: [{ role: 'user', content: 'x' }],
};
const json = { model: 'sim-1', messages: [{ role: 'user', content: 'JSON' }], response_format: { type: 'json_object' } };

test('the refusals and emulations of the seeds can be seen without a key', () => {
  const gemini = targetOf('sim:gemini', 'sim-1');
  expect(mapTo(gemini, 'claude', thinking).error).toMatchObject({ code: 'E001' });
  expect(mapTo(gemini, 'claude', thinking, { emulate: ['extended_thinking'] }).error).toBeUndefined();
  const claude = mapTo(targetOf('sim:claude', 'sim-1'), 'openai-chat', json);
  expect(claude.upstream?.body.tool_choice).toMatchObject({ type: 'tool' });
  expect(claude.emulations).toMatchObject([{ capability: 'json_mode' }]);
  expect(mapTo(gemini, 'openai-chat', json).emulations).toEqual([]);
});

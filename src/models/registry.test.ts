import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ModelCapabilities } from '../contract/runs/coding-agent.ts';
import { bundledModel } from './bundled.ts';
import { anthropic } from './facts/anthropic.ts';
import { createModelRegistry } from './registry.ts';

const options = { agent: 'claude', asOf: '2026-11-15', cliArgKey: '--model' };
const models = [
  { fact: anthropic.opus55, alias: 'opus' },
  { fact: anthropic.haiku55, alias: 'small' },
  { fact: anthropic.sonnet55, alias: 'small' },
  { fact: anthropic.sonnet46 },
  { fact: anthropic.haiku45 },
  { fact: anthropic.opus48 },
  { fact: anthropic.opus4, alias: 'opus' },
  { fact: anthropic.sonnet4, alias: 'old' },
].map((row) => bundledModel(options, row));

function registry(found: readonly ModelCapabilities[] = [], now = new Date('2026-12-01T00:00:00Z')) {
  return createModelRegistry({
    sources: [
      { agent: 'claude', models, defaultModelId: 'claude-opus-5-5', modelsAsOf: '2026-11-15' },
      { agent: 'none', models: [], defaultModelId: null, modelsAsOf: '2026-11-15' },
    ],
    discover: async (agent) => {
      if (agent === 'none') throw new Error('lists nothing');
      return found;
    },
    now: () => now,
  });
}

describe('looking models up', () => {
  it('lists every model and marks the default one', () => {
    const { models: list, catalog } = registry();
    expect(list('claude')).toHaveLength(8);
    expect(
      catalog('claude')
        .filter(({ isDefault }) => isDefault)
        .map(({ modelId }) => modelId),
    ).toEqual(['claude-opus-5-5']);
  });

  it('finds a model by its id and by its alias, and says null otherwise', () => {
    const { model, defaultModel } = registry();
    expect(model('claude', 'claude-haiku-4-5')?.displayName).toBe('Claude Haiku 4.5');
    expect(model('claude', 'opus')?.modelId).toBe('claude-opus-5-5');
    expect(model('claude', 'nothing')).toBeNull();
    expect(defaultModel('claude')?.modelId).toBe('claude-opus-5-5');
    expect(defaultModel('none')).toBeNull();
  });

  it('throws for an agent that nobody registered', () => {
    expect(() => registry().models('nobody')).toThrow(expect.objectContaining({ code: 'AGENT_NOT_FOUND' }));
  });
});

describe('the five statuses', () => {
  const validate = (name: string) => registry().validate('claude', name);

  it('ok', () => {
    expect(validate('claude-opus-5-5')).toMatchObject({ valid: true, status: 'ok', message: "Model 'claude-opus-5-5' is valid" });
    expect(validate('claude-opus-5-5').model?.modelId).toBe('claude-opus-5-5');
  });

  it('alias, by the alias, the dated id of the vendor, or a beginning that only one model has', () => {
    expect(validate('opus')).toMatchObject({ valid: true, status: 'alias', resolvedModelId: 'claude-opus-5-5' });
    expect(validate('claude-haiku-4-5-20251001')).toMatchObject({ valid: true, status: 'alias', resolvedModelId: 'claude-haiku-4-5' });
    expect(validate('claude-haiku-4')).toMatchObject({ valid: true, status: 'alias', resolvedModelId: 'claude-haiku-4-5' });
  });

  it('deprecated, which is valid and names the successor', () => {
    expect(validate('claude-opus-4-20250514')).toMatchObject({
      valid: true,
      status: 'deprecated',
      successorModelId: 'claude-opus-4-8',
      message: "Model 'claude-opus-4-20250514' is deprecated since 2026-06-15; use 'claude-opus-4-8' instead",
    });
    expect(validate('claude-opus-4-20250514').resolvedModelId).toBeUndefined();
  });

  it('deprecated outranks alias, and says what the alias meant', () => {
    expect(validate('old')).toMatchObject({ valid: true, status: 'deprecated', resolvedModelId: 'claude-sonnet-4-20250514' });
  });

  it('an alias that two current models have is of neither, and moves to the model that the agent gives it to', async () => {
    expect(registry().model('claude', 'small')).toBeNull();
    const [first] = models;
    if (first === undefined) throw new Error('no models');
    const refreshed = createModelRegistry({
      sources: [
        { agent: 'claude', models: [{ ...first, modelId: 'old', modelAlias: 'opus' }], defaultModelId: null, modelsAsOf: '2026-01-01' },
      ],
      discover: async () => [{ ...first, modelId: 'new', modelAlias: 'opus' }],
    });
    await refreshed.refresh('claude');
    expect(refreshed.validate('claude', 'opus')).toMatchObject({ status: 'alias', resolvedModelId: 'new' });
    expect(refreshed.model('claude', 'old')?.modelAlias).toBeUndefined();
  });

  it('ambiguous, which is not valid and lists every candidate', () => {
    expect(validate('small')).toMatchObject({ valid: false, status: 'ambiguous', suggestions: ['claude-haiku-5-5', 'claude-sonnet-5-5'] });
    expect(validate('claude-').suggestions).toHaveLength(6);
    expect(validate('small').model).toBeUndefined();
  });

  it('unknown, with at most five near names', () => {
    expect(validate('claude-opus-55')).toMatchObject({ valid: false, status: 'unknown' });
    expect(validate('claude-opus-55').suggestions?.[0]).toBe('claude-opus-5-5');
    expect(validate('claude-opus-55').suggestions?.length).toBeLessThanOrEqual(5);
    expect(validate('zzzzzzzzzzzzzzzzzzzzzz')).toMatchObject({
      suggestions: [],
      message: "Agent 'claude' has no model 'zzzzzzzzzzzzzzzzzzzzzz'",
    });
  });

  it('is never in doubt: a result is valid exactly if it has a model', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 300 }), (name) => {
        const { valid, model, status, suggestions = [] } = validate(name);
        expect(valid).toBe(model !== undefined);
        expect(valid).toBe(status !== 'unknown' && status !== 'ambiguous');
        if (status === 'unknown') expect(suggestions.length).toBeLessThanOrEqual(5);
      }),
    );
  });
});

describe('cost', () => {
  it('is estimated by the formula, for an alias too', () => {
    expect(registry().estimateCost('claude', 'claude-opus-5-5', 1_000_000, 500_000)).toBe(4 + 10);
    expect(registry().estimateCost('claude', 'opus', 250_000, 0)).toBe(1);
  });

  it('is 0 by the estimate and undefined by the count where there is no price', () => {
    expect(registry().estimateCost('claude', 'nothing', 1000, 1000)).toBe(0);
    expect(registry().costOf('claude', 'nothing', { inputTokens: 1000, outputTokens: 1000 })).toBeUndefined();
  });

  it('counts the cache and web searches', () => {
    const usage = { inputTokens: 1_000_000, cachedTokens: 1_000_000, outputTokens: 0, webSearchRequests: 2 };
    expect(registry().costOf('claude', 'claude-opus-4-8', usage)).toBeCloseTo(0.5 + 0.02, 9);
  });
});

describe('refreshing', () => {
  const listed: ModelCapabilities = { ...models[0]!, modelId: 'claude-opus-6', displayName: 'Claude Opus 6' };
  const { inputPricePerMillion: _price, ...unpriced } = models[0]!;

  it('adds what the agent lists, keeps what it does not tell, and remembers when', async () => {
    const fresh = registry([listed, { ...unpriced, contextWindow: 2_000_000 }]);
    expect(fresh.lastUpdated('claude')).toEqual(new Date('2026-11-15'));
    await fresh.refresh('claude');
    expect(fresh.lastUpdated('claude')).toEqual(new Date('2026-12-01T00:00:00Z'));
    expect(fresh.model('claude', 'claude-opus-6')).toMatchObject({ source: 'remote', lastUpdated: '2026-12-01T00:00:00.000Z' });
    expect(fresh.model('claude', 'claude-opus-5-5')).toMatchObject({ contextWindow: 2_000_000, inputPricePerMillion: 4, source: 'remote' });
    expect(fresh.model('claude', 'claude-haiku-4-5')?.source).toBe('bundled');
  });

  it('refreshes all that can be and reports the others', async () => {
    const fresh = registry([listed]);
    await expect(fresh.refreshAll()).rejects.toThrow('1 of 2 agents did not list their models');
    expect(fresh.model('claude', 'claude-opus-6')).not.toBeNull();
  });
});

import { describe, expect, it } from 'vitest';
import { engines, findEngine } from '../../src/engines/index.ts';
import { createCodingAgents } from '../../src/runtime/coding-agents/coding-agents.ts';
import type { EngineOffer, EngineWish } from '../../src/runtime/gateway-port.ts';
import { chooseTraffic } from '../../src/runtime/runs/traffic.ts';
import { PaperGateway } from './paper.ts';

/** A gateway with a key for some engines. */
class Keyed extends PaperGateway {
  readonly #keys: readonly string[];

  constructor(...keys: string[]) {
    super();
    this.#keys = keys;
  }

  override async offer({ engine: name, dialect, dialects }: Partial<EngineWish> = {}): Promise<EngineOffer> {
    const own = engines.find((one) => one.dialects.includes(dialect ?? '') && one.endpoint !== undefined);
    const engine = name === undefined ? own : findEngine(name);
    if (engine === undefined) return { engine: name ?? '', missing: 'it has no address here' };
    const shared = [dialect ?? '', ...(dialects ?? [])].find((one) => engine.dialects.includes(one));
    return {
      engine: engine.id,
      credential: this.#keys.includes(engine.id) ? 'ours' : 'caller',
      speaksDialect: shared === dialect,
      needsModel: engine.id !== own?.id,
      ...(shared !== undefined && { shared }),
    };
  }
}

const { adapters, models, knowledge } = createCodingAgents({ env: {} });
const chosen = async (agent: string, keys: string[], options: { model?: string; engine?: string }) => {
  const adapter = adapters.get(agent);
  const wishes = { agent, prompt: 'hi', ...options };
  return await chooseTraffic(adapter, wishes, new Keyed(...keys), knowledge.wanted(adapter, wishes));
};

describe.each(['opencode', 'pi', 'omp', 'openclaw'])('%s', (agent) => {
  const listed = models.models(agent).filter(({ provider }) => findEngine(provider ?? '') !== undefined);

  it('lists models of several vendors', () => {
    expect(new Set(listed.map(({ provider }) => provider)).size).toBeGreaterThan(2);
  });

  it.each([
    ['one key', (engine: string) => ({ keys: [engine] })],
    ['several keys', () => ({ keys: ['claude', 'openai', 'gemini'] })],
    ['the engine named', (engine: string) => ({ keys: ['claude', 'openai', 'gemini'], engine })],
  ])('takes every listed model to its vendor by the vendor’s own name, with %s', async (_, setting) => {
    for (const { modelId, provider = '', providerModelId } of listed) {
      const engine = findEngine(provider)?.id ?? '';
      const { keys, ...more } = { engine: undefined, ...setting(engine) };
      const traffic = await chosen(agent, keys, { model: modelId, ...(more.engine !== undefined && { engine: more.engine }) });
      expect(traffic).toMatchObject({ kind: 'gateway', engine, credential: 'ours' });
      // Where the engine is the agent's usual one, the adapter itself writes the vendor's name.
      const { forcedModel } = traffic as { forcedModel: string | null };
      expect([null, providerModelId ?? modelId]).toContain(forcedModel);
      expect(forcedModel?.startsWith(`${provider}/`) ?? false).toBe(false);
    }
  });

  it.each([
    ['anthropic', 'claude', 'claude-sonnet-4-5'],
    ['openai', 'openai', 'gpt-5.2'],
    ['google', 'gemini', 'gemini-2.5-pro'],
  ])('knows a model of %s by its bare name, and one that is in no list by its prefix', async (vendor, engine, bare) => {
    for (const keys of [[engine], ['claude', 'openai', 'gemini']]) {
      const known = await chosen(agent, keys, { model: bare });
      expect(known).toMatchObject({ kind: 'gateway', engine, credential: 'ours' });
      // The vendor has a dated name for some; null where the adapter itself writes the vendor's name.
      expect((known as { forcedModel: string | null }).forcedModel ?? bare).toMatch(new RegExp(`^${bare}(-\\d+)?$`));
      for (const named of [{}, { engine }]) {
        const unlisted = await chosen(agent, keys, { model: `${vendor}/model-of-tomorrow`, ...named });
        expect(unlisted).toMatchObject({ engine, forcedModel: 'model-of-tomorrow' });
      }
    }
  });

  it('leaves the name alone on an engine that has names of its own', async () => {
    const traffic = await chosen(agent, ['openrouter'], { model: 'anthropic/claude-sonnet-4.5', engine: 'openrouter' });
    expect(traffic).toMatchObject({ engine: 'openrouter', forcedModel: 'anthropic/claude-sonnet-4.5' });
  });

  it('goes to the engine of its own dialect without a model', async () => {
    expect(await chosen(agent, ['openai'], {})).toMatchObject({ kind: 'gateway', engine: 'openai', forcedModel: null });
  });
});

import { expect, it } from 'vitest';
import { endpointModels } from '../../src/adapters/endpoint-models.ts';
import { findAdapter } from '../../src/adapters/index.ts';

function discovered(agent: string, output: string) {
  return findAdapter(agent)!.discover!.models(output);
}

it('Claude Code lists its models in the answer to initialize', () => {
  const models = [
    { value: 'default', resolvedModel: 'claude-opus-5-5', displayName: 'Default' },
    {
      value: 'opus',
      resolvedModel: 'claude-opus-6',
      description: 'Opus 6 · $3/$15 per Mtok',
      supportedEffortLevels: ['low', 'high', 'xhigh', 'max'],
    },
    { value: 'sonnet[1m]', resolvedModel: 'claude-sonnet-5-5[1m]' },
  ];
  const line = JSON.stringify({ type: 'control_response', response: { subtype: 'success', request_id: 'models', response: { models } } });
  const found = discovered('claude', `{"type":"system"}\nnot json\n${line}\n`);
  expect(found.map(({ modelId, modelAlias }) => [modelId, modelAlias])).toEqual([
    ['claude-opus-6', 'opus'],
    ['claude-sonnet-5-5', 'sonnet'],
  ]);
  expect(found[0]).toMatchObject({
    inputPricePerMillion: 3,
    outputPricePerMillion: 15,
    thinkingEffortLevels: ['low', 'high', 'max'],
    provider: 'anthropic',
  });
});

it('Codex prints its models as JSON, hidden ones among them', () => {
  const row = {
    slug: 'gpt-7',
    display_name: 'GPT-7',
    visibility: 'list',
    context_window: 400000,
    supported_reasoning_levels: [{ effort: 'low' }],
    input_modalities: ['text'],
  };
  const found = discovered('codex', JSON.stringify({ models: [row, { ...row, slug: 'secret', visibility: 'hide' }] }));
  expect(found).toHaveLength(1);
  expect(found[0]).toMatchObject({
    modelId: 'gpt-7',
    contextWindow: 400000,
    thinkingEffortLevels: ['low', 'max'],
    supportsImageInput: false,
    cliArgKey: '-m',
  });
  expect(() => discovered('codex', 'error: no such command')).toThrow();
});

it('OpenCode prints a name and an object for each model', () => {
  const entry = (id: string, toolcall: boolean) =>
    `acme/${id}\n${JSON.stringify({ id, providerID: 'acme', name: 'Big', cost: { input: 1, output: 2 }, limit: { context: 5000, output: 600 }, capabilities: { reasoning: false, toolcall, input: { image: false } } }, null, 2)}\n`;
  const found = discovered('opencode', entry('big', true) + entry('embedding', false));
  expect(found).toHaveLength(1);
  expect(found[0]).toMatchObject({
    modelId: 'acme/big',
    contextWindow: 5000,
    maxOutputTokens: 600,
    inputPricePerMillion: 1,
    supportsThinking: false,
  });
});

it('Pi prints a table', () => {
  const found = discovered(
    'pi',
    'provider   model    context  max-out  thinking  images\nanthropic  claude-x  1.1M       64K     yes       no\n\nNo other models.\n',
  );
  expect(found).toHaveLength(1);
  expect(found[0]).toMatchObject({
    modelId: 'anthropic/claude-x',
    contextWindow: 1_100_000,
    maxOutputTokens: 64_000,
    supportsThinking: true,
    supportsImageInput: false,
  });
});

it('omp prints its models as JSON', () => {
  const row = {
    provider: 'openai',
    selector: 'openai/gpt-7',
    name: 'GPT-7',
    contextWindow: 1000,
    maxTokens: 100,
    reasoning: true,
    thinking: ['low', 'xhigh'],
    input: ['text', 'image'],
  };
  expect(discovered('omp', JSON.stringify({ models: [row] }))[0]).toMatchObject({
    modelId: 'openai/gpt-7',
    thinkingEffortLevels: ['low'],
    supportsImageInput: true,
  });
});

it('OpenClaw prints its models as JSON', () => {
  const row = { key: 'openai/gpt-7', name: 'GPT-7', input: 'text', contextWindow: 9000, local: null };
  expect(discovered('openclaw', JSON.stringify({ count: 1, models: [row] }))[0]).toMatchObject({
    modelId: 'openai/gpt-7',
    contextWindow: 9000,
    supportsImageInput: false,
  });
});

it('Cursor prints a line for each model', () => {
  const found = discovered('cursor', 'Available models\n\nauto - Auto (current)\nopus-6-thinking - Opus 6 Thinking\n\nTip: use --model\n');
  expect(found.map(({ modelId, displayName, supportsThinking }) => [modelId, displayName, supportsThinking])).toEqual([
    ['auto', 'Auto', false],
    ['opus-6-thinking', 'Opus 6 Thinking', true],
  ]);
});

it('a list of an engine is read in each vendor’s shape', () => {
  expect(endpointModels({ data: [{ id: 'claude-x', display_name: 'X', max_input_tokens: 10, max_tokens: 5 }] })).toEqual([
    { modelId: 'claude-x', name: 'X', contextWindow: 10, maxOutputTokens: 5 },
  ]);
  const priced = { id: 'a/b', name: 'B', context_length: 9, top_provider: { max_completion_tokens: 3 } };
  expect(
    endpointModels({
      data: [
        { ...priced, pricing: { prompt: '0.0000015', completion: '0.000006' } },
        { id: 'auto', pricing: { prompt: '-1', completion: '-1' } },
      ],
    }),
  ).toEqual([{ modelId: 'a/b', name: 'B', contextWindow: 9, maxOutputTokens: 3, price: { input: 1.5, output: 6 } }, { modelId: 'auto' }]);
  const gemini = [
    {
      name: 'models/gemini-9',
      displayName: 'Nine',
      inputTokenLimit: 10,
      outputTokenLimit: 5,
      thinking: true,
      supportedGenerationMethods: ['generateContent'],
    },
    { name: 'models/embedding-1', supportedGenerationMethods: ['embedContent'] },
  ];
  expect(endpointModels({ models: gemini })).toEqual([
    { modelId: 'gemini-9', name: 'Nine', provider: 'google', contextWindow: 10, maxOutputTokens: 5, thinks: true },
  ]);
});

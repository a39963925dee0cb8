import { THINKING_EFFORT_LEVELS } from '../../contract/runs/coding-agent.ts';
import { type BundleOptions, bundledModel } from '../../models/bundled.ts';
import { anthropic } from '../../models/facts/anthropic.ts';
import { openai } from '../../models/facts/openai.ts';
import type { ModelFact } from '../../models/model-fact.ts';
import type { Catalogue } from '../define.ts';
import { type ListedModel, listedModels } from '../listing.ts';

/** The plan counts requests, not tokens. */
const options: BundleOptions = { agent: 'cursor', asOf: '2026-11-15', cliArgKey: '--model', deployment: 'hosted', unpriced: true };

/** Chosen by the service, call by call. */
const auto: ModelFact = {
  id: 'auto',
  name: 'Auto',
  provider: 'other',
  protocol: 'custom',
  contextWindow: 200_000,
  maxOutputTokens: 32_000,
  images: true,
  files: true,
  jsonMode: true,
  structuredOutput: false,
};

const { thinking: _thinks, ...plainSonnet } = anthropic.sonnet45;

const models = [
  { fact: auto },
  { fact: plainSonnet, modelId: 'sonnet-4.5' },
  { fact: anthropic.sonnet45, modelId: 'sonnet-4.5-thinking', overrides: { thinkingEffortLevels: THINKING_EFFORT_LEVELS } },
  { fact: openai.gpt5 },
].map((row) => bundledModel(options, row));

/** Lines `id - Name`, some with a remark in brackets. */
function listed(output: string): ListedModel[] {
  return output.split('\n').flatMap((line) => {
    const [, modelId, words = ''] = /^([\w./-]+) - (.+)$/.exec(line.trim()) ?? [];
    return modelId === undefined ? [] : [{ modelId, name: withoutRemark(words), thinks: modelId.includes('thinking') || undefined }];
  });
}

function withoutRemark(words: string): string {
  const opening = words.endsWith(')') ? words.lastIndexOf(' (') : -1;
  return opening > 0 ? words.slice(0, opening).trimEnd() : words;
}

export const catalogue: Catalogue = {
  models,
  defaultModelId: 'auto',
  modelsAsOf: options.asOf,
  modelsSource: 'Cursor’s documentation of its CLI; not measured',
  discover: { args: ['--list-models'], models: (output) => listedModels(options, models, listed(output)) },
};

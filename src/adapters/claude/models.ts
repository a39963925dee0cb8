import { z } from 'zod';
import { parseShallow } from '../../base/json-limits.ts';
import { type BundleOptions, bundledModel } from '../../models/bundled.ts';
import { anthropic } from '../../models/facts/anthropic.ts';
import type { Catalogue } from '../define.ts';
import { type ListedModel, listedModels } from '../listing.ts';

const options: BundleOptions = { agent: 'claude', asOf: '2026-11-20', cliArgKey: '--model', deployment: 'hosted' };

const models = [
  { fact: anthropic.opus55, alias: 'opus' },
  { fact: anthropic.fable52, alias: 'fable' },
  { fact: anthropic.sonnet55, alias: 'sonnet' },
  { fact: anthropic.haiku55, alias: 'haiku' },
  { fact: anthropic.fable51 },
  { fact: anthropic.opus5 },
  { fact: anthropic.sonnet5 },
  { fact: anthropic.opus48 },
  { fact: anthropic.opus47 },
  { fact: anthropic.opus46 },
  { fact: anthropic.sonnet46 },
  { fact: anthropic.opus45 },
  { fact: anthropic.sonnet45 },
  { fact: anthropic.haiku45 },
  { fact: anthropic.opus4 },
  { fact: anthropic.sonnet4 },
].map((row) => bundledModel(options, row));

/** The answer to `initialize` on its control channel. Prices stand only in a sentence for people. */
const Initialized = z.looseObject({
  type: z.literal('control_response'),
  response: z.looseObject({
    response: z.looseObject({
      models: z.array(
        z.looseObject({
          value: z.string(),
          resolvedModel: z.string(),
          displayName: z.string().nullish(),
          description: z.string().nullish(),
          supportedEffortLevels: z.array(z.string()).nullish(),
        }),
      ),
    }),
  }),
});

function listed(output: string): ListedModel[] {
  return output.split('\n').flatMap((line) => {
    const parsed = parseShallow(line);
    const answer = Initialized.safeParse(parsed.ok ? parsed.value : undefined);
    if (!answer.success) return [];
    return answer.data.response.response.models
      .filter(({ value }) => value !== 'default')
      .map(({ value, resolvedModel, description, supportedEffortLevels }) => {
        const [, input, out] = /\$([\d.]+)\/\$([\d.]+) per Mtok/.exec(description ?? '') ?? [];
        return {
          modelId: resolvedModel.replace('[1m]', ''),
          alias: value.includes('[') ? undefined : value,
          provider: 'anthropic',
          levels: supportedEffortLevels ?? undefined,
          price: input === undefined || out === undefined ? undefined : { input: Number(input), output: Number(out) },
        };
      });
  });
}

export const catalogue: Catalogue = {
  models,
  defaultModelId: 'claude-opus-5-5',
  modelsAsOf: options.asOf,
  modelsSource: 'the list that Claude Code 2.1.328 carries, the vendor’s model pages, the price data of this package',
  discover: {
    args: ['-p', '--input-format', 'stream-json', '--output-format', 'stream-json', '--verbose'],
    input: '{"type":"control_request","request_id":"models","request":{"subtype":"initialize"}}\n',
    models: (output) => listedModels(options, models, listed(output)),
  },
};

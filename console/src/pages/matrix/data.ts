import { queryOptions } from '@tanstack/react-query';
import type { z } from 'zod';
import type { ModelCatalogue } from '../../../../src/gateway/api/model-catalogue.ts';
import type { NegotiateResponse } from '../../../../src/gateway/api/negotiate.ts';
import { get, send, withQuery } from '../../api/client.ts';
import type { Usage } from '../../api/types.ts';

type Negotiated = z.infer<typeof NegotiateResponse>;
export type Unmet = Negotiated['unmet'];
export type Catalogue = z.infer<typeof ModelCatalogue>;
export type CatalogueModel = Catalogue['items'][number];

/** `logprobs=native pdf_input=emulated`; a name alone wants it native. */
function requirementsIn(text: string): readonly { readonly capability: string; readonly min_support: string }[] {
  return text
    .trim()
    .split(/[\s,]+/)
    .filter(Boolean)
    .map((word) => {
      const [capability = '', level = 'native'] = word.split('=');
      return { capability, min_support: level };
    });
}

/** What each backend lacks of what somebody asks for. */
export const askQuery = (text: string, backends: readonly string[]) =>
  queryOptions({
    queryKey: ['ask', text, backends],
    queryFn: async () => {
      const requirements = { required: requirementsIn(text) };
      const answers = await Promise.all(
        backends.map(
          async (backend) => [backend, (await send<Negotiated>('POST', '/v1/negotiate', { backend, requirements })).unmet] as const,
        ),
      );
      return new Map<string, Unmet>(answers);
    },
    enabled: text.trim() !== '' && backends.length > 0,
    retry: false,
    staleTime: 60_000,
  });

const WEEK_MS = 7 * 24 * 3600 * 1000;

/** How many calls each engine had in the last week. */
export const weekQuery = queryOptions({
  queryKey: ['usage', 'week by engine'],
  queryFn: () =>
    get<Usage>(
      withQuery('/v1/usage', { metric: 'runs', group_by: 'engine', bucket: 'none', since: new Date(Date.now() - WEEK_MS).toISOString() }),
    ),
  staleTime: 60_000,
  retry: false,
});

export interface Calculation {
  readonly input: number;
  readonly output: number;
  readonly cached: number;
}

export const modelsQuery = ({ input, output, cached }: Calculation) =>
  queryOptions({
    queryKey: ['model-catalogue', input, output, cached],
    queryFn: ({ signal }) =>
      get<Catalogue>(
        withQuery('/v1/matrix/models', { input_tokens: input, output_tokens: output, cached_tokens: Math.min(cached, input) }),
        signal,
      ),
    staleTime: 600_000,
    placeholderData: (before) => before,
  });

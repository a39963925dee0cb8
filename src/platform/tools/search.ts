import { isJsonObject, type Json, parseJsonObject } from '../../base/json.ts';
import { AbpError } from '../../contract/errors.ts';
import { Outbound, type OutboundRequest } from '../../upstream/outbound.ts';

interface SearchHit {
  readonly title: string;
  readonly url: string;
  readonly snippet: string;
}

/** A search service that an operator configured. */
export interface SearchProvider {
  search(query: string, limit: number, signal: AbortSignal): Promise<readonly SearchHit[]>;
}

export interface SearchOptions {
  readonly provider: SearchProviderId;
  /** Default: the service's own address; SearXNG has none. */
  readonly url?: string | undefined;
  readonly key?: string | undefined;
}

interface Question {
  readonly url: string;
  readonly key: string;
  readonly query: string;
  readonly limit: number;
}

/** How one service is asked and where its answer holds the hits. */
interface ProviderRow {
  readonly url: string | undefined;
  readonly needsKey: boolean;
  request(question: Question): OutboundRequest;
  readonly results: readonly string[];
  readonly snippet: string;
}

const MAX_BYTES = 1024 * 1024;
const TIMEOUT_MS = 15_000;

const PROVIDERS = {
  brave: {
    url: 'https://api.search.brave.com/res/v1/web/search',
    needsKey: true,
    request: ({ url, key, query, limit }) => ({
      url: withQuery(url, { q: query, count: String(limit) }),
      headers: { accept: 'application/json', 'x-subscription-token': key },
    }),
    results: ['web', 'results'],
    snippet: 'description',
  },
  tavily: {
    url: 'https://api.tavily.com/search',
    needsKey: true,
    request: ({ url, key, query, limit }) => ({
      url,
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: JSON.stringify({ query, max_results: limit }),
    }),
    results: ['results'],
    snippet: 'content',
  },
  searxng: {
    url: undefined,
    needsKey: false,
    request: ({ url, query }) => ({ url: withQuery(`${url.replace(/\/$/, '')}/search`, { q: query, format: 'json' }) }),
    results: ['results'],
    snippet: 'content',
  },
} as const satisfies Record<string, ProviderRow>;

export type SearchProviderId = keyof typeof PROVIDERS;
// The keys of a literal object; Object.keys widens them to string.
export const SEARCH_PROVIDERS = Object.keys(PROVIDERS) as [SearchProviderId, ...SearchProviderId[]];

/** The configured service. Its address is the operator's word and may be private; no tool reaches that address by this. */
export function createSearch(options: SearchOptions): SearchProvider {
  const row: ProviderRow = PROVIDERS[options.provider];
  const url = options.url ?? row.url;
  if (url === undefined) throw new AbpError('invalid_request', `tools.search_url is needed for ${options.provider}.`);
  if (row.needsKey && options.key === undefined) {
    throw new AbpError('invalid_request', `${options.provider} needs a key: set ABP_SEARCH_KEY or tools.search_key.`);
  }
  const outbound = new Outbound({ allow: [new URL(url).host] });
  return {
    async search(query, limit, signal) {
      const request = row.request({ url, key: options.key ?? '', query, limit });
      const answer = await outbound.read({ ...request, signal, timeoutMs: TIMEOUT_MS }, MAX_BYTES);
      const body = parseJsonObject(answer.body.toString('utf8'));
      if (answer.status !== 200 || body === undefined) {
        throw new AbpError('engine_failed', `The search service ${options.provider} answered ${answer.status}.`);
      }
      return hitsOf(at(body, row.results), row.snippet).slice(0, limit);
    },
  };
}

function withQuery(url: string, query: Readonly<Record<string, string>>): string {
  const target = new URL(url);
  for (const [name, value] of Object.entries(query)) target.searchParams.set(name, value);
  return target.href;
}

function at(value: Json, path: readonly string[]): Json {
  return path.reduce<Json>((inner, step) => (isJsonObject(inner) ? (inner[step] ?? null) : null), value);
}

function hitsOf(results: Json, snippet: string): SearchHit[] {
  if (!Array.isArray(results)) return [];
  return results.flatMap((result: Json) => {
    if (!isJsonObject(result) || typeof result.url !== 'string') return [];
    return [{ title: textOf(result.title), url: result.url, snippet: textOf(result[snippet]) }];
  });
}

/** Services mark the words that were found with tags. */
function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value.replaceAll(/<[^<>]{0,200}>/g, '').slice(0, 1000) : '';
}

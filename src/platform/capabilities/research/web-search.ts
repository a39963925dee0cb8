import { z } from 'zod';
import { defineTool } from '../../tools/define-tool.ts';
import type { SearchProvider } from '../../tools/search.ts';
import { type Tool, ToolFailure } from '../../tools/tool.ts';

const NOT_CONFIGURED =
  'Web search is not configured on this server. An operator sets tools.search in abp.toml (brave, tavily or searxng), with ABP_SEARCH_KEY or tools.search_url.';

/** Without a provider the tool is there and says what is missing: an agent must not seem to have searched. */
export function webSearch(provider: SearchProvider | undefined): Tool {
  return defineTool({
    name: 'web_search',
    description: 'Search the web. Returns titles, addresses and snippets.',
    parameters: z.strictObject({
      query: z.string().min(1).max(500).describe('What to search for.'),
      limit: z.int().min(1).max(20).default(5).describe('How many results, 1 to 20. Default 5.'),
    }),
    timeoutMs: 20_000,
    run: async ({ query, limit }, { signal }) => {
      if (provider === undefined) throw new ToolFailure(NOT_CONFIGURED);
      const hits = await provider.search(query, limit, signal);
      return { query, results: hits.map((hit) => ({ ...hit })) };
    },
  });
}

import type { AgentCapability } from '../../agents/capability.ts';

export const research: AgentCapability = {
  id: 'research',
  name: 'Research',
  description: 'Deep research capability with organized scratchpad.',
  status: 'available',
  icon: 'search',
  category: 'AI',
  version: '1.0.0',
  systemPrompt: 'You have access to a research scratchpad. Use it to organize your thoughts and findings.',
  tools: async (_config, { search, outbound }) => {
    const [{ readScratchpad, writeScratchpad }, { webSearch }, { webFetch }] = await Promise.all([
      import('./scratchpad.ts'),
      import('./web-search.ts'),
      import('./web-fetch.ts'),
    ]);
    return [readScratchpad, writeScratchpad, webSearch(search), webFetch(outbound)];
  },
};

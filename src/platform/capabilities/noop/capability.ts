import type { AgentCapability } from '../../agents/capability.ts';

export const noop: AgentCapability = {
  id: 'noop',
  name: 'Noop',
  description: 'Testing and demonstration.',
  status: 'available',
  version: '1.0.0',
  tools: () => [],
};

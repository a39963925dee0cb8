import type { AgentCapability } from '../../agents/capability.ts';

export const testMath: AgentCapability = {
  id: 'test_math',
  name: 'Test Math',
  description: 'Testing tool calling with calculator operations.',
  status: 'available',
  icon: 'calculator',
  category: 'Testing',
  version: '1.0.0',
  systemPrompt: 'You have access to math tools. Use them for calculations: add, subtract, multiply, divide.',
  tools: async () => (await import('./operations.ts')).operations,
};

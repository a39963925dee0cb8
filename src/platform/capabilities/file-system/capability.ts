import type { AgentCapability } from '../../agents/capability.ts';

export const fileSystem: AgentCapability = {
  id: 'file_system',
  name: 'File System',
  description: 'File system access tools.',
  status: 'available',
  icon: 'folder',
  category: 'File Operations',
  version: '1.0.0',
  systemPrompt: 'You have access to file system tools. You can read, write, and search files.',
  tools: async () => (await import('./tools.ts')).tools,
};

import type { AgentCapability } from '../../agents/capability.ts';

export const sandbox: AgentCapability = {
  id: 'sandbox',
  name: 'Sandbox',
  description: 'Sandboxed code execution environment.',
  status: 'available',
  icon: 'box',
  category: 'Execution',
  version: '1.0.0',
  systemPrompt: 'You can execute code in a sandboxed environment. Use the execute_code tool to run code safely.',
  configSchema: {
    type: 'object',
    additionalProperties: false,
    properties: {
      timeout_ms: { type: 'integer', minimum: 100, maximum: 60_000, default: 5000, description: 'How long one program may run.' },
      memory_mb: {
        type: 'integer',
        minimum: 16,
        maximum: 512,
        default: 64,
        description: 'Memory of one program, beside what its interpreter takes.',
      },
    },
  },
  tools: async (config, { sandbox: javascript, python }) => {
    const { executeCode } = await import('./execute-code.ts');
    return [await executeCode({ javascript, python, config })];
  },
};

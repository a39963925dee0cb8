import { defineCommand } from '../command.ts';
import { withConfig } from '../config.ts';
import { count } from '../parameter.ts';

export const command = defineCommand({
  arguments: {},
  options: { turns: count('--turns <number>', 'turns at the same time (sessions.turns, else 64)') },
  examples: ['abp worker --home ./worker-1', 'abp worker --turns 200 --home ./worker-2'],
  async run({ output, configPath, homePath }, { turns }) {
    const { work } = await import('../../gateway/agent-plane/work.ts');
    return withConfig(() =>
      work({
        json: output.json,
        ...(configPath !== undefined && { configPath }),
        ...(homePath !== undefined && { homePath }),
        ...(turns !== undefined && { turns }),
      }),
    );
  },
});

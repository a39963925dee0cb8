import { holdYoungGeneration } from '../../base/young-generation.ts';
import { defineCommand } from '../command.ts';
import { withConfig } from '../config.ts';
import { count, flag, optional, port } from '../parameter.ts';

export const command = defineCommand({
  arguments: {},
  options: {
    host: optional('--host <address>', 'address to listen on (ABP_HOST, else 127.0.0.1)'),
    port: port('--port <number>', 'port to listen on, 0 for any free one (ABP_PORT, else 8088)'),
    processes: count('--processes <number>', 'processes that share the port, each using a core; needs PostgreSQL'),
    watch: flag('--watch', 'read the configuration again whenever its file changes'),
  },
  examples: [
    'abp serve',
    'abp serve --watch',
    'abp serve --port 9000',
    'abp serve --processes 4',
    'abp serve --config ./abp.toml --home ./state',
  ],
  async run({ output, configPath, homePath }, { host, port, processes, watch }) {
    holdYoungGeneration();
    const { serve } = await import('../../gateway/serve.ts');
    return withConfig(() =>
      serve({
        json: output.json,
        watch,
        ...(processes !== undefined && { processes }),
        ...(configPath !== undefined && { configPath }),
        ...(homePath !== undefined && { homePath }),
        ...(host !== undefined && { host }),
        ...(port !== undefined && { port }),
      }),
    );
  },
});

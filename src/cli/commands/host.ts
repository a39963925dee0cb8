import { defineCommand } from '../command.ts';
import { EXITS } from '../exit-codes.ts';
import { required } from '../parameter.ts';

export const command = defineCommand({
  arguments: { id: required('<id>', 'claude, copilot, gemini, kimi or codex') },
  options: {},
  examples: ['abp host codex', 'abp host claude'],
  async run({ io }, { id }) {
    const { serveHost } = await import('../../gateway/hosts/host-sidecar.ts');
    await serveHost(id, io.env);
    return EXITS.ok.code;
  },
});

import { openCodingAgents } from '../../coding-agents/open.ts';
import { defineCommand } from '../../command.ts';
import { EXITS } from '../../exit-codes.ts';
import { table } from '../../table.ts';

export const command = defineCommand({
  arguments: {},
  options: {},
  examples: ['abp adapters list', 'abp adapters list --json'],
  async run(context) {
    const { output } = context;
    const { adapters } = await openCodingAgents(context);
    const items = adapters.list().map(({ agent, displayName, cliCommand, summary, capabilities }) => {
      return { agent, displayName, cliCommand, summary, capabilities };
    });
    output.print({ items }, (data) => {
      const head = ['Agent', 'Name', 'Session', 'Stream', 'Fork', 'Thinking', 'MCP', 'Skills', 'Plugins', 'ACP'].map(output.paint.strong);
      const rows = data.items.map(({ agent, displayName, summary: s }) => {
        return [agent, displayName, s.session, s.stream, s.fork, s.thinking, s.mcp, s.skills, s.plugins, s.acp];
      });
      return table([head, ...rows]);
    });
    return EXITS.ok.code;
  },
});

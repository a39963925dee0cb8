import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { z } from 'zod';

/** An MCP server with a tool that answers, one that fails, one whose name models do not take, and one that destroys. */
export function exampleMcpServer(): McpServer {
  const server = new McpServer({ name: 'example', version: '1.0.0' });
  server.registerTool(
    'shout',
    { description: 'Says it louder.', inputSchema: { text: z.string() }, annotations: { readOnlyHint: true } },
    ({ text }) => ({ content: [{ type: 'text', text: text.toUpperCase() }] }),
  );
  server.registerTool('fail', { description: 'Fails.' }, () => ({ isError: true, content: [{ type: 'text', text: 'it broke' }] }));
  server.registerTool('odd.name', { description: 'Odd.' }, (extra) => ({
    content: [{ type: 'text', text: String(extra._meta?.['agent-backplane/call-id']) }],
  }));
  server.registerTool('erase', { description: 'Erases it.', annotations: { destructiveHint: true } }, () => ({
    content: [{ type: 'text', text: 'gone' }],
  }));
  return server;
}

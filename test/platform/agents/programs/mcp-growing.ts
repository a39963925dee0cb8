import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';

/** A server that has one more tool once its first one was called, and says so. */
const server = new McpServer({ name: 'growing', version: '1.0.0' });
server.registerTool('grow', { description: 'Adds a tool.' }, () => {
  server.registerTool('grown_tool', { description: 'Was not there before.' }, () => ({ content: [{ type: 'text', text: 'here' }] }));
  return { content: [{ type: 'text', text: 'grown' }] };
});
await server.connect(new StdioServerTransport());

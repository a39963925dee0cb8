import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { exampleMcpServer } from '../../../support/mcp-tools.ts';

await exampleMcpServer().connect(new StdioServerTransport());

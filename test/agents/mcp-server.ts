import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { exampleMcpServer } from '../support/mcp-tools.ts';

/** The example server as a program, for agents that start their servers themselves. */
await exampleMcpServer().connect(new StdioServerTransport());

import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';

/** A server that misbehaves as its argument says. */
const [, , manner] = process.argv;
const key = process.env.KEY ?? '';
const tool = (name: string, description = 'A tool.') => ({ name, description, inputSchema: { type: 'object' as const } });

/** Prints the same without end, as fast as it is read. */
function print(text: string): void {
  while (process.stdout.write(text));
  process.stdout.once('drain', () => print(text));
}
const PRINTED: Readonly<Record<string, string>> = {
  lines: '\n'.repeat(100_000),
  words: 'hello\n'.repeat(10_000),
  line: 'x'.repeat(100_000),
  notes: '{"jsonrpc":"2.0","method":"notifications/message"}\n'.repeat(2000),
  values: `{"jsonrpc":"2.0","id":0,"result":{"x":[${'0,'.repeat(200_000)}0]}}\n`,
};
const printed = PRINTED[manner ?? ''];
if (printed !== undefined) print(printed);

const server = new Server({ name: 'unruly', version: '1.0.0' }, { capabilities: { tools: {} } });
server.setRequestHandler(ListToolsRequestSchema, () => {
  if (manner === 'endless') return { tools: [], nextCursor: 'again' };
  if (manner === 'many') return { tools: Array.from({ length: 501 }, (_, at) => tool(`tool_${at}`)) };
  if (manner === 'wordy') return { tools: [tool('wordy', 'x'.repeat(70_000)), tool('brief')] };
  return { tools: [tool('tell', `Knows ${key}.`), tool('shape'), tool('fail'), tool('flood')] };
});
server.setRequestHandler(CallToolRequestSchema, ({ params }) => {
  const said = (text: string) => ({ content: [{ type: 'text' as const, text }] });
  if (params.name === 'shape') return { ...said(key), structuredContent: { keys: [key] } };
  if (params.name === 'fail') return { ...said(`no ${key}`), isError: true };
  return said(params.name === 'flood' ? 'x'.repeat(100_000) : key);
});
await server.connect(new StdioServerTransport());

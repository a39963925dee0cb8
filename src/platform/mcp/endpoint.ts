/** An MCP server and how it is reached, with every secret filled in. Kept in memory only. */
export type McpEndpoint =
  | { readonly transport: 'http'; readonly url: string; readonly headers: Readonly<Record<string, string>> }
  | {
      readonly transport: 'stdio';
      readonly command: string;
      readonly args: readonly string[];
      readonly env: Readonly<Record<string, string>>;
      readonly cwd?: string;
    };

import type { McpName } from './effects.ts';

/** `mcp__server__tool`, as most agents join the two. */
export const doubleUnderscore: McpName = (name) => {
  const [, server, toolName] = /^mcp__(.+?)__(.+)$/.exec(name) ?? [];
  return server === undefined || toolName === undefined ? undefined : { server, toolName };
};

import type { Voice } from '../families/jsonl/account.ts';
import { doubleUnderscore } from '../families/tools/mcp-names.ts';

/** The tools of Claude Code that leave a trace, and how it names those of MCP servers. */
export const VOICE: Voice = {
  tools: {
    effects: {
      Read: { does: 'read', path: ['file_path'] },
      Write: { does: 'write', path: ['file_path'], content: ['content'] },
      Edit: { does: 'patch', path: ['file_path'] },
      MultiEdit: { does: 'patch', path: ['file_path'] },
      NotebookEdit: { does: 'patch', path: ['notebook_path'] },
      Bash: { does: 'shell', command: ['command'] },
      PowerShell: { does: 'shell', command: ['command'] },
      Task: { does: 'subagent', prompt: ['prompt'] },
      Agent: { does: 'subagent', prompt: ['prompt'] },
    },
    mcp: doubleUnderscore,
  },
  guidance: 'Run `claude` and log in, or set ANTHROPIC_API_KEY.',
};

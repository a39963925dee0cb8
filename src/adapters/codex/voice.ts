import type { Voice } from '../families/jsonl/account.ts';
import { doubleUnderscore } from '../families/tools/mcp-names.ts';

/** The names that the agent's items get as tools. Changes of files are told by the item itself, one event for each file. */
export const VOICE: Voice = {
  tools: {
    effects: {
      shell: { does: 'shell', command: ['command'] },
      view_image: { does: 'read', path: ['path'] },
      spawn_agent: { does: 'subagent', prompt: ['prompt'] },
    },
    mcp: doubleUnderscore,
  },
  guidance: 'Run `codex login`, or set OPENAI_API_KEY.',
};

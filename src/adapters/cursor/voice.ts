import type { Voice } from '../families/jsonl/account.ts';
import { doubleUnderscore } from '../families/tools/mcp-names.ts';

const PATH = ['path', 'filePath', 'file_path', 'targetFile'];

/** The tools of Cursor that leave a trace. Its lines tell the server and the tool of an MCP call apart; they are joined as others do. */
export const VOICE: Voice = {
  tools: {
    effects: {
      read: { does: 'read', path: PATH },
      write: { does: 'write', path: PATH, content: ['fileText', 'contents', 'content'] },
      edit: { does: 'patch', path: PATH },
      delete: { does: 'delete', path: PATH },
      shell: { does: 'shell', command: ['command'] },
      task: { does: 'subagent', prompt: ['prompt'] },
    },
    mcp: doubleUnderscore,
  },
  guidance: 'Set CURSOR_API_KEY, or run `cursor-agent login`.',
};

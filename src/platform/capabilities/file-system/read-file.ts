import { z } from 'zod';
import { defineTool } from '../../tools/define-tool.ts';
import { readText } from './text-file.ts';

const MAX_LINES = 2000;
const MAX_CHARACTERS = 60_000;

export const readFile = defineTool({
  name: 'read_file',
  description: 'Read a text file of the workspace.',
  parameters: z.strictObject({
    path: z.string().min(1).describe('Path relative to the workspace.'),
    offset: z.int().min(0).default(0).describe('Lines to skip.'),
    limit: z.int().min(1).max(MAX_LINES).default(MAX_LINES).describe(`Lines to return, at most ${MAX_LINES}.`),
  }),
  run: async ({ path, offset, limit }, { workspace }) => {
    const { text, bytes, lossy } = await readText(workspace, path);
    const lines = text.split('\n');
    const chosen = fitting(lines.slice(offset, offset + limit));
    const next = offset + chosen.length;
    const content = chosen.join('\n');
    return {
      path,
      content: content.slice(0, MAX_CHARACTERS).toWellFormed(),
      size_bytes: bytes,
      total_lines: lines.length,
      ...(next < lines.length ? { truncated: true, next_offset: next } : {}),
      // The rest of a line that is longer than an answer cannot be read by lines.
      ...(content.length > MAX_CHARACTERS ? { truncated: true, line_characters: content.length } : {}),
      ...(lossy ? { not_utf8: true } : {}),
    };
  },
});

/** As many lines as an answer holds, at least one. */
function fitting(lines: readonly string[]): readonly string[] {
  let characters = 0;
  const end = lines.findIndex((line) => {
    characters += line.length + 1;
    return characters > MAX_CHARACTERS;
  });
  return end === -1 ? lines : lines.slice(0, Math.max(end, 1));
}

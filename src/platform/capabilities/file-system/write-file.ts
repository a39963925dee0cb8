import { z } from 'zod';
import { defineTool } from '../../tools/define-tool.ts';
import { writeText } from './text-file.ts';

export const writeFile = defineTool({
  name: 'write_file',
  description: 'Write a text file of the workspace. It is created, with its folders, or replaced.',
  parameters: z.strictObject({
    path: z.string().min(1).describe('Path relative to the workspace.'),
    content: z.string().describe('The whole text of the file.'),
  }),
  run: async ({ path, content }, { workspace }) => {
    const created = await writeText(workspace, path, content);
    return { path, size_bytes: Buffer.byteLength(content, 'utf8'), created };
  },
});

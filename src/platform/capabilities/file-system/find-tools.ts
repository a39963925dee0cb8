import { z } from 'zod';
import { defineTool } from '../../tools/define-tool.ts';
import { find } from './find.ts';

const path = z.string().default('.').describe('Folder to search, relative to the workspace. Default: the workspace itself.');

export const grep = defineTool({
  name: 'grep',
  description: 'Search the lines of text files in the workspace with a regular expression.',
  parameters: z.strictObject({
    pattern: z.string().min(1).max(1000).describe('A JavaScript regular expression.'),
    path,
    glob: z.string().max(1000).optional().describe('Only files whose path matches, such as "**/*.ts".'),
    ignore_case: z.boolean().default(false),
  }),
  run: async ({ pattern, path: folder, glob: only, ignore_case: ignoreCase }, { workspace, signal }) =>
    await find({ kind: 'grep', workspace, folder, pattern, ignoreCase, ...(only === undefined ? {} : { glob: only }) }, signal),
});

export const glob = defineTool({
  name: 'glob',
  description: 'Find files of the workspace by a pattern of their path.',
  parameters: z.strictObject({ pattern: z.string().min(1).max(1000).describe('Such as "src/**/*.ts".'), path }),
  run: async ({ pattern, path: folder }, { workspace, signal }) => await find({ kind: 'glob', workspace, folder, glob: pattern }, signal),
});

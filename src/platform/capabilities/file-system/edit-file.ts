import { z } from 'zod';
import { defineTool } from '../../tools/define-tool.ts';
import { ToolFailure } from '../../tools/tool.ts';
import { readText, writeText } from './text-file.ts';

/** An edit that is made twice does not find its text the second time, or finds it where it should not. */
export const editFile = defineTool({
  name: 'edit_file',
  description: 'Replace a piece of text in a file of the workspace.',
  effect: 'at_most_once',
  parameters: z.strictObject({
    path: z.string().min(1).describe('Path relative to the workspace.'),
    old_text: z.string().min(1).describe('The text to replace, exactly as it stands in the file.'),
    new_text: z.string().describe('The text that takes its place.'),
    replace_all: z.boolean().default(false).describe('Replace every occurrence. Default: there must be exactly one.'),
  }),
  run: async ({ path, old_text: before, new_text: after, replace_all: all }, { workspace }) => {
    const { text, lossy } = await readText(workspace, path);
    if (lossy) throw new ToolFailure(`"${path}" is not UTF-8; an edit would change bytes that it does not name.`);
    const pieces = text.split(before);
    const found = pieces.length - 1;
    if (found === 0) throw new ToolFailure(`"${path}" does not hold that text.`);
    if (found > 1 && !all) throw new ToolFailure(`"${path}" holds that text ${found} times; name more of it, or set replace_all.`);
    await writeText(workspace, path, pieces.join(after));
    return { path, replaced: found };
  },
});

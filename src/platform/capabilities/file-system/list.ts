import type { Dirent } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import { z } from 'zod';
import type { JsonObject } from '../../../base/json.ts';
import { defineTool } from '../../tools/define-tool.ts';
import { type Folder, inFolder, segmentsOf } from './workspace.ts';

const MAX_ENTRIES = 1000;

export const list = defineTool({
  name: 'list',
  description: 'List a folder of the workspace.',
  parameters: z.strictObject({ path: z.string().default('.').describe('Path relative to the workspace. Default: the workspace itself.') }),
  run: async ({ path }, { workspace }) =>
    await inFolder(workspace, segmentsOf(path), { create: false }, async (folder) => {
      const found = await readdir(folder.place, { withFileTypes: true });
      const shown = found.toSorted((a, b) => (a.name < b.name ? -1 : 1)).slice(0, MAX_ENTRIES);
      const entries = await Promise.all(shown.map((entry) => describe(folder, entry)));
      return { path, entries, ...(found.length > MAX_ENTRIES ? { truncated: true, total: found.length } : {}) };
    }),
});

async function describe(folder: Folder, entry: Dirent): Promise<JsonObject> {
  if (entry.isDirectory()) return { name: entry.name, type: 'folder' };
  if (!entry.isFile()) return { name: entry.name, type: entry.isSymbolicLink() ? 'link' : 'other' };
  const { size } = await lstat(folder.child(entry.name));
  return { name: entry.name, type: 'file', size_bytes: size };
}

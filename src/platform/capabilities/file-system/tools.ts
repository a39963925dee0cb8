import type { Dirent } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import { z } from 'zod';
import type { JsonObject } from '../../../base/json.ts';
import { defineTool } from '../../tools/define-tool.ts';
import { type Tool, ToolFailure } from '../../tools/tool.ts';
import { find } from './find.ts';
import { readText, writeText } from './text-file.ts';
import { type Folder, inFolder, segmentsOf } from './workspace.ts';

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

const searched = z.string().default('.').describe('Folder to search, relative to the workspace. Default: the workspace itself.');

export const grep = defineTool({
  name: 'grep',
  description: 'Search the lines of text files in the workspace with a regular expression.',
  parameters: z.strictObject({
    pattern: z.string().min(1).max(1000).describe('A JavaScript regular expression.'),
    path: searched,
    glob: z.string().max(1000).optional().describe('Only files whose path matches, such as "**/*.ts".'),
    ignore_case: z.boolean().default(false),
  }),
  run: async ({ pattern, path: folder, glob: only, ignore_case: ignoreCase }, { workspace, signal }) =>
    await find({ kind: 'grep', workspace, folder, pattern, ignoreCase, ...(only === undefined ? {} : { glob: only }) }, signal),
});

export const glob = defineTool({
  name: 'glob',
  description: 'Find files of the workspace by a pattern of their path.',
  parameters: z.strictObject({ pattern: z.string().min(1).max(1000).describe('Such as "src/**/*.ts".'), path: searched }),
  run: async ({ pattern, path: folder }, { workspace, signal }) => await find({ kind: 'glob', workspace, folder, glob: pattern }, signal),
});

const MAX_ENTRIES = 1000;

export const list = defineTool({
  name: 'list',
  description: 'List a folder of the workspace.',
  parameters: z.strictObject({ path: z.string().default('.').describe('Path relative to the workspace. Default: the workspace itself.') }),
  run: async ({ path }, { workspace }) =>
    await inFolder(workspace, segmentsOf(path), { create: false }, async (folder) => {
      const found = await readdir(folder.place, { withFileTypes: true });
      const shown = found.toSorted((a, b) => (a.name < b.name ? -1 : 1)).slice(0, MAX_ENTRIES);
      const entries = await Promise.all(shown.map((entry) => described(folder, entry)));
      return { path, entries, ...(found.length > MAX_ENTRIES ? { truncated: true, total: found.length } : {}) };
    }),
});

async function described(folder: Folder, entry: Dirent): Promise<JsonObject> {
  if (entry.isDirectory()) return { name: entry.name, type: 'folder' };
  if (!entry.isFile()) return { name: entry.name, type: entry.isSymbolicLink() ? 'link' : 'other' };
  const { size } = await lstat(folder.child(entry.name));
  return { name: entry.name, type: 'file', size_bytes: size };
}

export const tools: readonly Tool[] = [readFile, writeFile, editFile, grep, glob, list];

import type { Dirent } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { matchesGlob } from 'node:path';
import type { JsonObject } from '../../../base/json.ts';
import { ToolFailure } from '../../tools/tool.ts';
import { type Folder, inFolder, segmentsOf } from './workspace.ts';

const MAX_VISITED = 20_000;
const MAX_FOUND = 200;
const MAX_SEARCHED_BYTES = 2 * 1024 * 1024;
const MAX_LINE = 500;
const SNIFFED_BYTES = 8192;
/** Histories are large and not what anybody looks for. */
const SKIPPED = new Set(['.git']);

export type Search =
  | { readonly kind: 'glob'; readonly workspace: string; readonly folder: string; readonly glob: string }
  | {
      readonly kind: 'grep';
      readonly workspace: string;
      readonly folder: string;
      readonly pattern: string;
      readonly ignoreCase: boolean;
      readonly glob?: string;
    };

export type Finding = { readonly result: JsonObject } | { readonly failure: string };

/** False ends the walk. */
type Visitor = (folder: Folder, entry: Dirent, path: string) => Promise<boolean>;

export async function search(wanted: Search): Promise<JsonObject> {
  return wanted.kind === 'glob' ? await globFiles(wanted) : await grepFiles(wanted);
}

async function globFiles({ workspace, folder, glob }: Extract<Search, { kind: 'glob' }>): Promise<JsonObject> {
  const paths: string[] = [];
  const whole = await walk(workspace, folder, async (_, __, path) => {
    if (matchesGlob(path, glob)) paths.push(path);
    return paths.length < MAX_FOUND;
  });
  return { pattern: glob, paths, ...(whole ? {} : { truncated: true }) };
}

async function grepFiles(wanted: Extract<Search, { kind: 'grep' }>): Promise<JsonObject> {
  const pattern = compiled(wanted.pattern, wanted.ignoreCase);
  const matches: JsonObject[] = [];
  const whole = await walk(wanted.workspace, wanted.folder, async (folder, entry, path) => {
    if (wanted.glob !== undefined && !matchesGlob(path, wanted.glob)) return true;
    for (const [index, line] of (await linesOf(folder, entry.name)).entries()) {
      if (!pattern.test(line)) continue;
      matches.push({ path, line_number: index + 1, line: line.slice(0, MAX_LINE) });
      if (matches.length >= MAX_FOUND) return false;
    }
    return true;
  });
  return { pattern: wanted.pattern, matches, ...(whole ? {} : { truncated: true }) };
}

function compiled(pattern: string, ignoreCase: boolean): RegExp {
  try {
    return new RegExp(pattern, ignoreCase ? 'iu' : 'u');
  } catch (error) {
    throw new ToolFailure(error instanceof Error ? error.message : String(error));
  }
}

/** The lines of a text file; none of one that is large, not text, or gone since the folder was read. */
async function linesOf(folder: Folder, name: string): Promise<string[]> {
  const file = await folder.openFile(name).catch(() => undefined);
  if (file === undefined) return [];
  try {
    if ((await file.stat()).size > MAX_SEARCHED_BYTES) return [];
    const bytes = await file.readFile();
    return bytes.subarray(0, SNIFFED_BYTES).includes(0) ? [] : bytes.toString('utf8').split(/\r?\n/);
  } finally {
    await file.close();
  }
}

/** Every file below a folder, by name. False when the walk ended early. */
async function walk(workspace: string, path: string, visit: Visitor): Promise<boolean> {
  const segments = segmentsOf(path);
  let visited = 0;
  const into = async (folder: Folder, prefix: string): Promise<boolean> => {
    const entries = await readdir(folder.place, { withFileTypes: true });
    for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
      visited += 1;
      if (visited > MAX_VISITED) return false;
      const full = `${prefix}${entry.name}`;
      if (entry.isFile() && !(await visit(folder, entry, full))) return false;
      if (entry.isDirectory() && !SKIPPED.has(entry.name) && !(await descend(folder, entry.name, (inner) => into(inner, `${full}/`))))
        return false;
    }
    return true;
  };
  return await inFolder(workspace, segments, { create: false }, (folder) => into(folder, segments.map((part) => `${part}/`).join('')));
}

async function descend(folder: Folder, name: string, work: (inner: Folder) => Promise<boolean>): Promise<boolean> {
  const inner = await folder.enter(name);
  try {
    return await work(inner);
  } finally {
    await inner.close();
  }
}

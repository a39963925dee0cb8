import { isUtf8 } from 'node:buffer';
import { randomUUID } from 'node:crypto';
import { open, rename, rm } from 'node:fs/promises';
import { ToolFailure } from '../../tools/tool.ts';
import { codeOf, explained, type Folder, inFolder, splitFile } from './workspace.ts';

const MAX_FILE_BYTES = 5 * 1024 * 1024;
const SNIFFED_BYTES = 8192;

/** The text of a file of the workspace. */
export interface FileText {
  readonly text: string;
  readonly bytes: number;
  /** Some bytes are not UTF-8; the text has marks in their place and cannot be written back. */
  readonly lossy: boolean;
}

export async function readText(workspace: string, path: string): Promise<FileText> {
  const { folders, name } = splitFile(path);
  return await inFolder(workspace, folders, { create: false }, async (folder) => {
    const file = await folder.openFile(name).catch((error: unknown) => {
      throw explained(error, path);
    });
    try {
      const { size } = await file.stat();
      if (size > MAX_FILE_BYTES) throw new ToolFailure(`"${path}" is larger than ${MAX_FILE_BYTES} bytes.`);
      return textOf(await file.readFile(), path);
    } finally {
      await file.close();
    }
  });
}

/** Writes the whole file or nothing, and makes the folders on the way. True when there was no such file. */
export async function writeText(workspace: string, path: string, text: string): Promise<boolean> {
  const { folders, name } = splitFile(path);
  const bytes = Buffer.from(text, 'utf8');
  if (bytes.length > MAX_FILE_BYTES) throw new ToolFailure(`A file holds at most ${MAX_FILE_BYTES} bytes.`);
  return await inFolder(workspace, folders, { create: true }, async (folder) => {
    const mode = await modeOf(folder, name).catch((error: unknown) => {
      throw explained(error, path);
    });
    const draft = folder.child(`.abp-${randomUUID()}`);
    try {
      const file = await open(draft, 'wx', mode ?? 0o600);
      await file.writeFile(bytes).finally(() => file.close());
      // Renaming replaces whatever has the name, also a link, and never what a link points to.
      await rename(draft, folder.child(name));
    } catch (error) {
      await rm(draft, { force: true });
      throw explained(error, path);
    }
    return mode === undefined;
  });
}

/** Undefined when there is no such file; a script keeps its right to be run. */
async function modeOf(folder: Folder, name: string): Promise<number | undefined> {
  try {
    const file = await folder.openFile(name);
    return await file
      .stat()
      .then(({ mode }) => mode & 0o777)
      .finally(() => file.close());
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

function textOf(bytes: Buffer, path: string): FileText {
  if (bytes.subarray(0, SNIFFED_BYTES).includes(0)) throw new ToolFailure(`"${path}" is not text.`);
  return { text: bytes.toString('utf8'), bytes: bytes.length, lossy: !isUtf8(bytes) };
}

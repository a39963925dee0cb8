import { constants } from 'node:fs';
import { type FileHandle, mkdir, open } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { ToolFailure } from '../../tools/tool.ts';

const MAX_DEPTH = 50;
const MAX_PATH = 1000;
/** Windows has neither flag; there a link needs a privilege to be made. */
const NO_FOLLOW = constants.O_NOFOLLOW ?? 0;
const FOLDER = constants.O_RDONLY | (constants.O_DIRECTORY ?? 0);
/** A pipe would block its reader. */
const FILE = constants.O_RDONLY | NO_FOLLOW | (constants.O_NONBLOCK ?? 0);

/** The parts of a path inside a workspace, or a refusal that says how paths are written. */
export function segmentsOf(path: string): string[] {
  if (path.length > MAX_PATH || path.includes('\0')) throw new ToolFailure('The path is not valid.');
  if (isAbsolute(path) || /^[a-z]:/i.test(path)) throw new ToolFailure(`"${path}" is absolute; paths are relative to the workspace.`);
  const segments = path.split(process.platform === 'win32' ? /[/\\]/ : '/').filter((part) => part !== '' && part !== '.');
  if (segments.includes('..')) throw new ToolFailure(`"${path}" leaves the workspace.`);
  if (segments.length > MAX_DEPTH) throw new ToolFailure('The path is too deep.');
  return segments;
}

/** A folder that is held open. On Linux its children are named through it, so that nobody can put another folder in its place. */
export class Folder {
  readonly #handle: FileHandle;
  readonly #path: string;

  private constructor(handle: FileHandle, path: string) {
    this.#handle = handle;
    this.#path = path;
  }

  static async openRoot(root: string): Promise<Folder> {
    return new Folder(await open(root, FOLDER), root);
  }

  /** Where the folder itself is read. */
  get place(): string {
    return process.platform === 'linux' ? `/proc/self/fd/${this.#handle.fd}` : this.#path;
  }

  child(name: string): string {
    return join(this.place, name);
  }

  /** A folder inside this one; a link is none. */
  async enter(name: string): Promise<Folder> {
    return new Folder(await open(this.child(name), FOLDER | NO_FOLLOW), join(this.#path, name));
  }

  async openFile(name: string): Promise<FileHandle> {
    const file = await open(this.child(name), FILE);
    const { nlink } = await file.stat().then((found) => (found.isFile() ? found : { nlink: 0 }));
    // A second name of a file may have been planted: the first may be a file of the server, outside of the workspace.
    if (nlink === 1) return file;
    await file.close();
    throw new ToolFailure(nlink === 0 ? `"${name}" is not a file.` : `"${name}" is one of several names of a file, which are not opened.`);
  }

  async close(): Promise<void> {
    await this.#handle.close();
  }
}

/** Walks down from the workspace, one folder at a time, and lends the last one to `work`. Links are refused at every step. */
export async function inFolder<T>(
  root: string,
  segments: readonly string[],
  options: { readonly create: boolean },
  work: (folder: Folder) => Promise<T>,
): Promise<T> {
  let folder = await Folder.openRoot(root);
  try {
    for (const segment of segments) {
      const next = await step(folder, segment, options.create);
      await folder.close();
      folder = next;
    }
    return await work(folder);
  } catch (error) {
    throw explained(error, segments.join('/'));
  } finally {
    await folder.close();
  }
}

async function step(folder: Folder, name: string, create: boolean): Promise<Folder> {
  try {
    return await folder.enter(name);
  } catch (error) {
    if (!create || codeOf(error) !== 'ENOENT') throw error;
    await mkdir(folder.child(name), { mode: 0o700 }).catch((failure: unknown) => {
      // Another call of the same turn may have made it meanwhile.
      if (codeOf(failure) !== 'EEXIST') throw failure;
    });
    return await folder.enter(name);
  }
}

/** The folder that holds the file of a path, and the file's name in it. */
export function splitFile(path: string): { readonly folders: string[]; readonly name: string } {
  const segments = segmentsOf(path);
  const name = segments.pop();
  if (name === undefined) throw new ToolFailure('The path names no file.');
  return { folders: segments, name };
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist',
  ENOTDIR: 'is not a folder, or is a link, which is not followed',
  ELOOP: 'is a link, which is not followed',
  EISDIR: 'is a folder',
  EEXIST: 'exists already',
  EACCES: 'cannot be opened',
  EPERM: 'cannot be opened',
  ENAMETOOLONG: 'is too long a name',
  ENOSPC: 'cannot be written: the disk is full',
  ENXIO: 'is not a file',
};

export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

/** A failure of the file system in the words of the model, which knows the path it asked for and no other. */
export function explained(error: unknown, path: string): unknown {
  const reason = REASONS[codeOf(error)];
  return reason === undefined ? error : new ToolFailure(`"${path}" ${reason}.`);
}

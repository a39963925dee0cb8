import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';

/** Variables by which commands are found. */
type Environment = Readonly<Record<string, string | undefined>>;

/** A command on the PATH, with what tells whether its file has changed. */
export interface FoundCommand {
  readonly path: string;
  readonly fingerprint: string;
}

/** The file that a command name starts; undefined when there is none on the PATH. */
export function findCommand(command: string, env: Environment, platform: NodeJS.Platform): FoundCommand | undefined {
  const endings = platform === 'win32' ? (env.PATHEXT ?? '.EXE;.CMD;.BAT').split(';') : [''];
  // A relative entry would mean another file in every folder.
  const folders = (env.PATH ?? env.Path ?? '').split(delimiter).filter(isAbsolute);
  for (const folder of folders) {
    for (const ending of endings) {
      const found = executable(join(folder, command + ending));
      if (found !== undefined) return found;
    }
  }
  return undefined;
}

function executable(path: string): FoundCommand | undefined {
  try {
    accessSync(path, constants.X_OK);
    const file = statSync(path);
    return file.isFile() ? { path, fingerprint: `${path}:${file.ino}:${file.size}:${file.mtimeMs}` } : undefined;
  } catch {
    return undefined; // Not there, or not ours to run: the next entry may be.
  }
}

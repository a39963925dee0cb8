import { isAbsolute, resolve } from 'node:path';
import { lookAt } from '../../base/paths/look-at.ts';

/** A command whose files have their whole names: a sidecar is started in its workspace, where `x.mjs` would be another file. */
export function wholeCommand(command: readonly string[], base: string): readonly string[] {
  return command.map((word, at) => {
    // A bare word in the first place is a program on the PATH.
    if (isAbsolute(word) || word.startsWith('-') || (at === 0 && !/[/\\]/.test(word))) return word;
    const file = resolve(base, word);
    return lookAt(file).stats?.isFile() === true ? file : word;
  });
}

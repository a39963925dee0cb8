import { mkdirSync, rmSync, symlinkSync } from 'node:fs';

/** Puts a folder and a link to another one in the same place, by turns, until it is ended. */
const [place = '', target = ''] = process.argv.slice(2);

/** The tools under test make, fill and remove the folder meanwhile; whatever fails is tried again in the next round. */
function attempt(work: () => void): void {
  try {
    work();
  } catch {
    // The next round begins with what is there.
  }
}

for (;;) {
  attempt(() => mkdirSync(place));
  attempt(() => rmSync(place, { recursive: true, force: true }));
  attempt(() => symlinkSync(target, place));
  attempt(() => rmSync(place, { force: true }));
}
